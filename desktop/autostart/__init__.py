"""Starting with the session: one file for each system's way."""
