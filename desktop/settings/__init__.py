"""The settings window, built from the engine's table of settings."""
