"""From an id to what was really said: raw lines re-read, whole exchanges and sessions, lists and periods."""
