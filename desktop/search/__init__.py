"""The search window: what is typed, what is found, what is read."""
