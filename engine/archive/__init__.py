"""The lossless compressed copy of every transcript: frames, files, the thread that writes them, and reading back.

Written by `archiver`, read by `reader`. The archive is the only copy of what Claude Code deletes: nothing here removes
bytes that were stored, except `file.join` (the same bytes in larger frames) and what prune and forget ask for.
"""
