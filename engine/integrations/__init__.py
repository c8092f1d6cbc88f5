"""Room of the programs around us: Claude Code's configuration, and how Backscroll itself is started."""
