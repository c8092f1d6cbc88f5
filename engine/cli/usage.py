"""`backscroll usage`: tokens and cost by day, week, month, model, project, session or five-hour block."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from engine.cli import options, words
from engine.cli.access import ask
from engine.cli.exits import NOTHING_FOUND
from engine.cli.output import Output
from engine.cli.safe import one_line


class Grouping(StrEnum):
    """What a row is."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    MODEL = "model"
    SESSION = "session"
    PROJECT = "project"
    BLOCK = "block"


_COLUMNS = (
    ("Input", "input_tokens"),
    ("Output", "output_tokens"),
    ("Cache 5 min", "cache_write_5m_tokens"),
    ("Cache 1 h", "cache_write_1h_tokens"),
    ("Cache read", "cache_read_tokens"),
)


def usage(
    ctx: typer.Context,
    *,
    by: Annotated[Grouping, typer.Option("--by", help="What a row is.")] = Grouping.DAY,
    when: options.When = None,
    date_from: options.DateFrom = None,
    date_to: options.DateTo = None,
    project: options.Project = None,
    limit: options.Limit = None,
    offset: options.Offset = None,
    as_json: options.AsJson = False,
) -> None:
    """Show tokens and what they cost."""
    output = Output(as_json=as_json)
    arguments = options.given(
        by=str(by), when=when, date_from=date_from, date_to=date_to, project=project, limit=limit, offset=offset
    )
    reply = ask(ctx, output, "get_usage", arguments)
    if not as_json:
        if reply["rows"]:
            output.show(_table(reply, by, output))
        for line in (reply.get("note"), _more(reply)):
            if line:
                output.say(line, "faint")
    if not reply["rows"]:
        raise typer.Exit(NOTHING_FOUND)


def money(cost: float | str) -> str:
    """Return a cost in US dollars; the word for one that is not known."""
    return cost if isinstance(cost, str) else f"${cost:,.2f}" if cost >= 0.995 or cost == 0 else f"${cost:.4f}"


def _more(reply: dict[str, Any]) -> str | None:
    following = reply.get("next_offset")
    return None if following is None else f"{len(reply['rows'])} of {reply['total']} rows. More: --offset {following}"


def _table(reply: dict[str, Any], by: Grouping, output: Output) -> Table:
    table = Table(box=None, pad_edge=False, header_style="faint")
    table.add_column(by.value.capitalize(), no_wrap=True, overflow="ellipsis", min_width=10)
    for name, _ in _COLUMNS:
        table.add_column(name, justify="right")
    table.add_column("Cost", justify="right")
    for row in reply["rows"]:
        table.add_row(Text(_label(row, by, output), style="place"), *_numbers(row))
    table.add_section()
    table.add_row(Text("Total"), *_numbers(reply["totals"]))
    return table


def _numbers(row: dict[str, Any]) -> list[str]:
    cost = money(row["cost_usd"])
    if row["unpriced_calls"] and not isinstance(row["cost_usd"], str):
        cost += " +?"
    return [*(f"{row[key]:,}" for _, key in _COLUMNS), cost]


def _label(row: dict[str, Any], by: Grouping, output: Output) -> str:
    if by is Grouping.SESSION:
        return f"{row['session_id'][:8]} {one_line(row.get('title') or '')}".strip()
    if by is Grouping.PROJECT:
        return words.place(row["project"], output.home)
    if by is Grouping.BLOCK:
        state = " (now)" if row.get("active") else " (idle)" if row.get("gap") else ""
        return words.moment(row["block"]) + state
    return one_line(str(row[by.value]))
