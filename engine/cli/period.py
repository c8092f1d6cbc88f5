"""`backscroll period`: what was worked on in a time."""

from __future__ import annotations

import re
from typing import Annotated, Final

import typer

from engine.cli import options
from engine.cli.access import ask
from engine.cli.exits import NOTHING_FOUND
from engine.cli.output import Output
from engine.cli.session_rows import list_footer, session_story

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def period(
    ctx: typer.Context,
    when: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WHEN]", help="today (the default), yesterday, last week, 7d, a weekday, 2026-03-01."),
    ] = None,
    *,
    project: options.Project = None,
    date_from: options.DateFrom = None,
    date_to: options.DateTo = None,
    limit: options.Limit = None,
    offset: options.Offset = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what was worked on in a time: each session's beginning and highlights."""
    output = Output(as_json=as_json)
    words = " ".join(when or ())
    if _DAY.fullmatch(words) and date_from is None and date_to is None:
        words, date_from, date_to = "", words, words
    dated = date_from is not None or date_to is not None
    arguments = options.given(
        when=words or (None if dated else "today"),
        project=project,
        date_from=date_from,
        date_to=date_to,
        limit=limit,
        offset=offset,
    )
    reply = ask(ctx, output, "get_period", arguments)
    if not as_json:
        output.show(*(line for row in reply["sessions"] for line in session_story(row, output)))
        for line in list_footer(reply):
            output.say(line, "faint")
    if not reply["sessions"]:
        raise typer.Exit(NOTHING_FOUND)
