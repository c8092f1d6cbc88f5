"""`backscroll knowledge init`: creates the store."""

from __future__ import annotations

import typer  # noqa: TC002 - typer reads the annotation at run time

from engine.cli import options, words
from engine.cli.access import access_of
from engine.cli.knowledge.asking import ask
from engine.cli.output import Output


def init(ctx: typer.Context, *, as_json: options.AsJson = False) -> None:
    """Create the store; one that exists is left as it is."""
    output = Output(as_json=as_json)
    reply = ask(ctx, output, "knowledge_init", {})
    if as_json:
        return
    vault = words.place(str(access_of(ctx).paths.knowledge / "vault"), output.home)
    if not reply["created"]:
        output.show(f"There is a Knowledge store already: {vault}")
        return
    output.show(f"Created the Knowledge store: {vault}")
    output.say("Claude Code records decisions there; you can open the folder in Obsidian and write by hand.", "faint")
