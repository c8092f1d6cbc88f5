"""`backscroll knowledge since`: what occurred since a date, oldest first."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from engine.cli import options
from engine.cli.access import access_of
from engine.cli.knowledge import choices, dates
from engine.cli.knowledge.asking import ask_page
from engine.cli.knowledge.timeline import ExactType, show_days
from engine.cli.output import Output


def since(
    ctx: typer.Context,
    date: Annotated[
        list[str], typer.Argument(metavar="DATE", help="2026-03-01, an ISO time, yesterday, last week, 30d.")
    ],
    *,
    date_to: options.DateTo = None,
    of_type: ExactType = None,
    full: choices.FullOption = False,
    limit: choices.LimitOption = None,
    offset: options.Offset = None,
    snapshot: choices.SnapshotOption = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what occurred since a date, oldest first."""
    output = Output(as_json=as_json)
    zone = dates.zone_of(access_of(ctx).paths)
    arguments = options.given(
        since=dates.start(" ".join(date), zone, time.time()),
        until=date_to and dates.with_zone(date_to, zone),
        kind=of_type,
        limit=limit,
        offset=offset,
        snapshot=snapshot,
        view="full" if full else None,
    )
    show_days(ask_page(ctx, output, "knowledge_chronicle_since", arguments), output, zone)
