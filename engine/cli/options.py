"""The options that verbs share, so that one name means one thing everywhere."""

from __future__ import annotations

from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="The same object as the MCP tool answers.")]
Project = Annotated[
    str | None,
    typer.Option("--project", "-p", metavar="P", help='Part of the working directory\'s path; "." is this repository.'),
]
When = Annotated[
    str | None,
    typer.Option("--when", metavar="T", help="today, yesterday, this week, last week, 7d, 24h or a weekday."),
]
DateFrom = Annotated[str | None, typer.Option("--from", metavar="D", help="From this day or time, YYYY-MM-DD or ISO.")]
DateTo = Annotated[str | None, typer.Option("--to", metavar="D", help="To this day or time, inclusive.")]
Limit = Annotated[
    int | None, typer.Option("--limit", "-n", metavar="N", help="At most so many (default 10, up to 500).")
]
Offset = Annotated[
    int | None, typer.Option("--offset", metavar="N", help="Go on there: the number at the end of a list.")
]


def given(**arguments: Any) -> dict[str, Any]:
    """Return the arguments of a call that were given: none is left out, and so is a switch that is off."""
    return {name: value for name, value in arguments.items() if value is not None and value is not False}
