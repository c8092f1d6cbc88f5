"""`backscroll usage`: tokens and cost by day, week, month, model, project, session or five-hour block."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from engine.cli import options, words
from engine.cli.access import ask
from engine.cli.exits import NOTHING_FOUND
from engine.cli.output import Output
from engine.cli.safe import one_line
from engine.cli.tables import Column, fitted, room_for
from engine.cli.wording import as_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table


class Grouping(StrEnum):
    """What a row is."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    MODEL = "model"
    SESSION = "session"
    PROJECT = "project"
    BLOCK = "block"


_Counted = tuple[tuple[str, tuple[str, ...]], ...]
"""Names of columns with the fields that are summed in them."""

ENOUGH_FOR_A_NAME = 28
"""Columns that a session's title or a project's path should have before numbers are shown to the last digit."""

_SEPARATE = (
    ("Input", ("input_tokens",)),
    ("Output", ("output_tokens",)),
    ("Cache 5 min", ("cache_write_5m_tokens",)),
    ("Cache 1 h", ("cache_write_1h_tokens",)),
    ("Cache read", ("cache_read_tokens",)),
)
_TOGETHER = (
    *_SEPARATE[:2],
    ("Cache write", ("cache_write_5m_tokens", "cache_write_1h_tokens")),
    _SEPARATE[-1],
)


def usage(
    ctx: typer.Context,
    *,
    by: Annotated[
        Grouping, typer.Option("--by", metavar="G", help="day, week, month, model, session, project or block.")
    ] = Grouping.DAY,
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
            output.show(table_of(reply, by, output))
        else:
            output.say("No usage in that time" if when or date_from or date_to else "No usage", "faint")
        for line in (*_own_totals(reply), reply.get("note"), _more(reply)):
            if line:
                output.say(as_commands(line), "faint")
    if not reply["rows"]:
        raise typer.Exit(NOTHING_FOUND)


def money(cost: float | str) -> str:
    """Return a cost in US dollars; the word for one that is not known."""
    return cost if isinstance(cost, str) else f"${cost:,.2f}" if cost >= 0.995 or cost == 0 else f"${cost:.4f}"


def _own_totals(reply: dict[str, Any]) -> Iterator[str]:
    """Yield what Claude Code itself says sessions cost, where it does."""
    for row in reply["rows"]:
        if own := row.get("cost_state"):
            difference = own.get("difference_usd")
            beside = "" if difference is None else f" ({'+' if difference >= 0 else '-'}{money(abs(difference))})"
            yield f"{row['session_id'][:8]}: {money(own['cost_usd'])}{beside}. {own['why']}"


def _more(reply: dict[str, Any]) -> str | None:
    following = reply.get("next_offset")
    return None if following is None else f"{len(reply['rows'])} of {reply['total']} rows. More: --offset {following}"


def table_of(reply: dict[str, Any], by: Grouping, output: Output) -> Table:
    """Return rows and totals as a table; with rounded numbers, then fewer, where they would crowd out the names."""
    labels = [Text(_label(row, by, output), style="place") for row in reply["rows"]]
    enough = min(max(label.cell_len for label in labels), ENOUGH_FOR_A_NAME)
    for counted, exact in ((_SEPARATE, True), (_SEPARATE, False), (_TOGETHER, False)):
        columns = (
            Column(by.value.capitalize(), gives_way=True, is_path=by is Grouping.PROJECT),
            *(Column(name, right=True) for name, _ in counted),
            Column("Cost", right=True),
            *([Column("")] if reply["totals"]["incomplete"] else []),
        )
        rows = [[label, *_numbers(row, counted, exact)] for label, row in zip(labels, reply["rows"], strict=True)]
        rows.append([Text("Total"), *_numbers(reply["totals"], counted, exact)])
        if reply["totals"]["incomplete"]:
            for cells, row in zip(rows, (*reply["rows"], reply["totals"]), strict=True):
                cells.append(Text("incomplete" if row["incomplete"] else ""))
        for cell in rows[-1]:
            cell.stylize("bold")
        if room_for(columns, rows, output.width)[0] >= enough:
            break
    return fitted(columns, rows, output.width)


def round_number(count: int) -> str:
    """Return a number with three digits and a letter for its size."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size * 0.9995:
            return f"{count / size:.0f}{letter}" if count >= size * 99.95 else f"{count / size:.1f}{letter}"
    return str(count)


def _numbers(row: dict[str, Any], counted: _Counted, exact: bool) -> list[Text]:  # noqa: FBT001 - of this file only
    cost = money(row["cost_usd"])
    if row["unpriced_calls"] and not isinstance(row["cost_usd"], str):
        cost += " +?"
    counts = [sum(row[key] for key in keys) for _, keys in counted]
    return [Text(f"{count:,}" if exact else round_number(count)) for count in counts] + [Text(cost)]


def _label(row: dict[str, Any], by: Grouping, output: Output) -> str:
    if by is Grouping.SESSION:
        return f"{row['session_id'][:8]} {one_line(row.get('title') or '')}".strip()
    if by is Grouping.PROJECT:
        return words.place(row["project"], output.home)
    if by is Grouping.BLOCK:
        state = " (now)" if row.get("active") else " (idle)" if row.get("gap") else ""
        return words.moment(row["block"]) + state
    return one_line(str(row[by.value]))
