"""`backscroll resume`: lets indexing go on."""

from __future__ import annotations

import typer  # noqa: TC002 - typer reads the annotation at run time

from engine.cli import options  # noqa: TC001 - as above
from engine.cli.access import access_of
from engine.cli.output import Output


def resume(ctx: typer.Context, *, as_json: options.AsJson = False) -> None:
    """Go on indexing after a pause."""
    output = Output(as_json=as_json)
    with access_of(ctx).running() as front:
        reply = front.call("resume", {})
    if as_json:
        output.json(reply)
    else:
        output.show(reply.get("note") or "Indexing goes on.")
