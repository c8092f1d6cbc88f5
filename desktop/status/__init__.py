"""What the engine does and how much of the history it covers."""
