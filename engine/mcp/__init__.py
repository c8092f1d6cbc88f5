"""Claude Code's door: MCP sessions over the engine's socket, with replies that fit a token budget.

`session` and `wire` carry bytes, `server` answers, `catalogue` says what there is to show (its texts are in
`descriptions` and `prompts`), `recorder` and `shim_catalogue` record that for the shim. `render` makes a reply of an
answer: `budget` fits it, `exchange` and `measure` choose and cut, `outline` writes the text beside it; `errors` words
refusals. The operations themselves are the front door's (`engine.api`). The MCP toolkit is imported in this room only,
and `late` loads it when the first client comes.
"""
