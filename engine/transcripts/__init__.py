"""Claude Code's transcript format: bytes in, values out. Pure: no files, no SQL, no clock."""
