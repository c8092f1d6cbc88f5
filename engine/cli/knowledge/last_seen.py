"""`backscroll knowledge last-seen`: the most recent dated record of a person, a project or anything else."""

from __future__ import annotations

from typing import Annotated

import typer

from engine.cli import options
from engine.cli.access import access_of
from engine.cli.exits import NOTHING_FOUND
from engine.cli.knowledge import choices, dates
from engine.cli.knowledge.asking import ask, findings
from engine.cli.knowledge.rows import day_lines
from engine.cli.output import Output


def last_seen(
    ctx: typer.Context,
    entity: Annotated[list[str], typer.Argument(metavar="NAME", help="An id, a whole title or an alias.")],
    *,
    date_to: Annotated[
        str | None, typer.Option("--to", metavar="D", help="Not later than this day or time (default now).")
    ] = None,
    full: choices.FullOption = False,
    as_json: options.AsJson = False,
) -> None:
    """Show the most recent dated record of somebody or something."""
    output = Output(as_json=as_json)
    zone = dates.zone_of(access_of(ctx).paths)
    arguments = options.given(
        entity=" ".join(entity),
        occurredOnOrBefore=date_to and dates.with_zone(date_to, zone),
        view="full" if full else None,
    )
    reply = ask(ctx, output, "knowledge_chronicle_last_seen", arguments)
    if not as_json:
        if reply["found"]:
            titles = {each["id"]: each["title"] for each in reply["sources"]}
            output.show(*day_lines([reply["record"]], zone, titles))
        else:
            output.say("No dated record of it up to then", "note")
        output.say(reply["note"], "faint")
        for sentence, style in findings(reply):
            output.say(sentence, style)
    if not reply["found"]:
        raise typer.Exit(NOTHING_FOUND)
