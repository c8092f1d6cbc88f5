"""The verbs below `backscroll knowledge`."""

from __future__ import annotations

from typing import Final

import typer

from engine.cli.knowledge import check, day, grep, init, last_seen, lookup, records, show, since, timeline

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
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _verb in VERBS:
    app.command()(_verb)
