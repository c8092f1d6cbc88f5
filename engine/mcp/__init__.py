"""Claude Code's door: MCP sessions over the engine's socket, with replies that fit a token budget.

`catalogue` says what there is, `server` answers, `render` makes replies fit, `errors` words refusals, `session` carries
bytes; the operations themselves are the front door's (`engine.api`). The SDK is imported here only.
"""
