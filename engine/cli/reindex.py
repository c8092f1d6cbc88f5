"""`backscroll reindex`: reads transcripts again."""

from __future__ import annotations

from typing import Annotated

import typer

from engine.cli import options, words
from engine.cli.access import access_of
from engine.cli.output import Output
from engine.cli.progress import ProgressView
from engine.cli.wording import as_commands


def reindex(
    ctx: typer.Context,
    *,
    full: Annotated[bool, typer.Option("--full", help="Rebuild the index instead of looking for changes.")] = False,
    project: options.Project = None,
    as_json: options.AsJson = False,
) -> None:
    """Read transcripts again."""
    output = Output(as_json=as_json)
    with access_of(ctx).front(writes=True) as front, ProgressView(output, "Indexing") as view:
        reply = front.call("reindex", options.given(full=full, project=project))
        front.finish(view.reading)
    if as_json:
        output.json(reply)
        return
    output.show(f"{words.count(reply['queued_files'], 'file')} queued (job {reply['job']}).")
    output.say(as_commands(reply.get("note") or "`backscroll status` shows how far it is."), "faint")
