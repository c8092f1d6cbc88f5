"""`backscroll knowledge lookup`: the record with exactly this id, title or alias."""

from __future__ import annotations

from typing import Annotated

import typer

from engine.cli import options, words
from engine.cli.access import access_of
from engine.cli.exits import NOTHING_FOUND
from engine.cli.knowledge import choices, dates
from engine.cli.knowledge.asking import ask, findings
from engine.cli.knowledge.rows import hit_lines
from engine.cli.output import Output
from engine.cli.safe import one_line


def lookup(
    ctx: typer.Context,
    name: Annotated[list[str], typer.Argument(metavar="NAME", help="An id, a whole title or an alias.")],
    *,
    kind: choices.KindOption = None,
    of_type: choices.TypeOption = None,
    tag: choices.TagOption = None,
    lifecycle: choices.LifecycleOption = None,
    full: choices.FullOption = False,
    limit: choices.LimitOption = None,
    offset: options.Offset = None,
    as_json: options.AsJson = False,
) -> None:
    """Find a record by its exact name."""
    output = Output(as_json=as_json)
    asked = " ".join(name)
    arguments = options.given(
        query=asked,
        kind=kind and str(kind),
        type=of_type,
        tag=tag,
        lifecycle=lifecycle and str(lifecycle),
        limit=limit,
        offset=offset,
        view="full" if full else None,
    )
    reply = ask(ctx, output, "knowledge_lookup", arguments)
    if not as_json:
        zone = dates.zone_of(access_of(ctx).paths)
        for number, row in enumerate(reply["rows"], (offset or 0) + 1):
            output.show(*hit_lines(row, number, "", zone, full=full))
        if reply["status"] == "ambiguous":
            output.say(f"{words.count(reply['total'], 'record')} of this name; ask again with an id", "note")
        elif reply["status"] == "missing":
            output.say(f"No record is called exactly {asked!r}. `backscroll knowledge grep` searches words.", "note")
        if reply.get("mergedInto"):
            output.say(f"It was merged into {one_line(reply['mergedInto'])}", "note")
        if reply.get("nextOffset") is not None:
            output.say(f"More: --offset {reply['nextOffset']}", "faint")
        for sentence, style in findings(reply):
            output.say(sentence, style)
    if not reply["rows"]:
        raise typer.Exit(NOTHING_FOUND)
