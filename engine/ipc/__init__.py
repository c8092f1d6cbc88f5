"""The local socket between the engine and everybody else: shims of Claude Code, the command line, a second start.

`server.py` is the engine's side, `client.py` the command line's, `relay.py` Claude Code's. What `relay.py` imports
stays with light modules of the standard library: no `multiprocessing` outside Windows, no `logging`, no `asyncio`.
"""
