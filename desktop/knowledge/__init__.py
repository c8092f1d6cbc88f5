"""Reading what was kept on purpose."""
