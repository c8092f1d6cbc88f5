"""Room of the command line: one file per verb, each a rendering of what the front door answers."""
