"""`backscroll knowledge day`: what occurred on a day, or in its week."""

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


def day(
    ctx: typer.Context,
    date: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DATE]", help="2026-03-01, today (the default), yesterday, a weekday, last week."),
    ] = None,
    *,
    week: Annotated[bool, typer.Option("--week", help="Monday to Sunday around it.")] = False,
    zone: Annotated[
        str | None, typer.Option("--zone", metavar="Z", help="Days of this zone, such as Europe/Berlin (yours).")
    ] = None,
    of_type: ExactType = None,
    full: choices.FullOption = False,
    limit: choices.LimitOption = None,
    offset: options.Offset = None,
    snapshot: choices.SnapshotOption = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what occurred on a day or in a week."""
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - 3 ms that `--help` need not pay

    output = Output(as_json=as_json)
    own = dates.zone_of(access_of(ctx).paths)
    asked, is_week = dates.day_or_week(" ".join(date) if date else "today", own, time.time())
    arguments = options.given(
        date=asked,
        week=week or is_week,
        timeZone=zone or own.key,
        kind=of_type,
        limit=limit,
        offset=offset,
        snapshot=snapshot,
        view="full" if full else None,
    )
    reply = ask_page(ctx, output, "knowledge_chronicle_day", arguments)
    if not output.as_json and reply["firstDay"] != reply["lastDay"]:
        output.say(f"{reply['firstDay']} to {reply['lastDay']}, {reply['timeZone']}\n", "faint")
    show_days(reply, output, ZoneInfo(zone) if zone else own)
