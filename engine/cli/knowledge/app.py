"""The verbs below `backscroll knowledge`."""

from __future__ import annotations

from typing import Final

import typer

from engine.cli.knowledge import check, day, grep, init, last_seen, lookup, records, show, since, timeline
from engine.cli.output import Output

VERBS: Final = (
    init.init,
    grep.grep,
    lookup.lookup,
    show.show,
    timeline.timeline,
    day.day,
    since.since,
    last_seen.last_seen,
    records.records,
    check.check,
)
"""In the order of `--help`."""

app = typer.Typer(
    name="knowledge",
    help="Search and read the records of what was decided.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _verb in VERBS:
    app.command()(_verb)


@app.callback(invoke_without_command=True)
def without_verb(ctx: typer.Context) -> None:
    """Search and read the records of what was decided."""
    if ctx.invoked_subcommand is None:
        Output().text(ctx.get_help() + "\n")
