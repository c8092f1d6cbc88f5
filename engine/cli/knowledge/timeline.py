"""`backscroll knowledge timeline`: records by one of their dates."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli import options
from engine.cli.access import access_of
from engine.cli.exits import NOTHING_FOUND
from engine.cli.knowledge import choices, dates
from engine.cli.knowledge.asking import ask_page, footer
from engine.cli.knowledge.rows import day_lines
from engine.cli.output import Output

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

ExactType = Annotated[
    str | None, typer.Option("--type", "-t", metavar="T", help="Only of exactly this type: decision, meeting…")
]


def timeline(
    ctx: typer.Context,
    *,
    entity: Annotated[
        str | None, typer.Option("--entity", "-e", metavar="NAME", help="Only what is linked to this id or exact name.")
    ] = None,
    of_type: ExactType = None,
    field: choices.FieldOption = None,
    when: options.When = None,
    date_from: options.DateFrom = None,
    date_to: options.DateTo = None,
    oldest_first: Annotated[bool, typer.Option("--oldest-first", help="The other way round.")] = False,
    inactive: Annotated[bool, typer.Option("--inactive", help="Also superseded and expired records.")] = False,
    by_source: Annotated[
        bool, typer.Option("--by-source", help="With --entity: each meeting or document once, with what was noted.")
    ] = False,
    full: choices.FullOption = False,
    limit: choices.LimitOption = None,
    offset: options.Offset = None,
    snapshot: choices.SnapshotOption = None,
    as_json: options.AsJson = False,
) -> None:
    """List records by date, newest first."""
    output = Output(as_json=as_json)
    zone = dates.zone_of(access_of(ctx).paths)
    arguments = options.given(
        entity=entity,
        kind=of_type,
        timeField=field and field.key,
        **dates.bounds(when, date_from, date_to, zone, time.time()),
        order="asc" if oldest_first else None,
        eligibility="include_inactive" if inactive else None,
        group="source" if by_source else None,
        includeSources=not by_source,
        limit=limit,
        offset=offset,
        snapshot=snapshot,
        view="full" if full else None,
    )
    show_days(ask_page(ctx, output, "knowledge_timeline", arguments), output, zone)


def show_days(reply: dict[str, Any], output: Output, zone: ZoneInfo) -> None:
    """Write dated rows under their days, with what must be said about them.

    Raises:
        Exit: There were none.
    """
    if not output.as_json:
        titles = {each["id"]: each["title"] for each in (*reply.get("sources", ()), *reply["rows"])}
        output.show(*day_lines(reply["rows"], zone, titles))
        for sentence, style in footer(reply):
            output.say(sentence, style)
    if not reply["rows"]:
        raise typer.Exit(NOTHING_FOUND)
