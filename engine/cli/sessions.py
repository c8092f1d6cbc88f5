"""`backscroll sessions`: sessions, newest first."""

from __future__ import annotations

import typer

from engine.cli import options
from engine.cli.access import ask
from engine.cli.exits import NOTHING_FOUND
from engine.cli.output import Output
from engine.cli.session_rows import list_footer, session_table


def sessions(
    ctx: typer.Context,
    *,
    project: options.Project = None,
    when: options.When = None,
    date_from: options.DateFrom = None,
    date_to: options.DateTo = None,
    limit: options.Limit = None,
    offset: options.Offset = None,
    as_json: options.AsJson = False,
) -> None:
    """List sessions, newest first."""
    output = Output(as_json=as_json)
    arguments = options.given(
        project=project, when=when, date_from=date_from, date_to=date_to, limit=limit, offset=offset
    )
    reply = ask(ctx, output, "list_sessions", arguments)
    if not as_json:
        output.show(*session_table(reply["sessions"], output))
        for line in list_footer(reply):
            output.say(line, "faint")
    if not reply["sessions"]:
        raise typer.Exit(NOTHING_FOUND)
