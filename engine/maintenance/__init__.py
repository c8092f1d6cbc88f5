"""Keeps the history sound: doctor's checks, prune and forget, backups, what may enter the index.

Knows the database through `engine.store` and everything else through Protocols; `engine.safekeeping` puts it together.
"""
