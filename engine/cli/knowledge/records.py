"""`backscroll knowledge records`: every record file, whatever its state."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.table import Table
from rich.text import Text

from engine.cli import options
from engine.cli.exits import NOTHING_FOUND
from engine.cli.knowledge import choices  # noqa: TC001 - typer reads the annotations at run time
from engine.cli.knowledge.asking import ask, footer
from engine.cli.knowledge.rows import state_of
from engine.cli.output import Output
from engine.cli.safe import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

COLUMNS: Final = ("Id", "Type", "State", "Title")
LEAST_TITLE: Final = 12
"""Columns a title always has; on a terminal too narrow for that the lines wrap."""


class Standing(StrEnum):
    """The lifecycles a record can have."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"
    MERGED = "merged"


def records(
    ctx: typer.Context,
    *,
    kind: choices.KindOption = None,
    of_type: choices.TypeOption = None,
    tag: choices.TagOption = None,
    lifecycle: Annotated[Standing | None, typer.Option("--lifecycle", help="Only these (default all).")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", metavar="N", help="At most so many (50, up to 100).")
    ] = None,
    offset: options.Offset = None,
    snapshot: choices.SnapshotOption = None,
    as_json: options.AsJson = False,
) -> None:
    """List every record file, broken and withdrawn ones too."""
    output = Output(as_json=as_json)
    arguments = options.given(
        kind=kind and str(kind),
        type=of_type,
        tag=tag,
        lifecycle=lifecycle and str(lifecycle),
        limit=limit,
        offset=offset,
        snapshot=snapshot,
    )
    reply = ask(ctx, output, "knowledge_records", arguments)
    if not as_json:
        if reply["rows"]:
            output.show(table_of(reply["rows"], output))
        output.show(*_problems(reply["rows"]))
        for sentence, style in footer(reply, "record file"):
            output.say(sentence, style)
    if not reply["rows"]:
        raise typer.Exit(NOTHING_FOUND)


def table_of(rows: list[dict[str, Any]], output: Output) -> Table:
    """Return rows of `knowledge_records` as a table; what there is no room for is cut from the titles."""
    cells = [_cells(row) for row in rows]
    widths = [max(len(name), *(row[at].cell_len for row in cells)) for at, name in enumerate(COLUMNS)]
    table = Table(box=None, pad_edge=False, header_style="faint")
    for name, width in zip(COLUMNS, widths, strict=True):
        # rich would take from every column alike where there is no room, and leave no id to copy.
        room = width if name != "Title" else max(output.width - sum(widths[:-1]) - 2 * len(widths), LEAST_TITLE)
        table.add_column(
            name, no_wrap=True, overflow="ellipsis", max_width=min(width, room), min_width=min(width, room)
        )
    for row in cells:
        table.add_row(*row)
    return table


def _cells(row: dict[str, Any]) -> list[Text]:
    state = ", ".join(row["flags"]) if row.get("flags") else state_of(row) or "active"
    style = "bad" if row.get("flags") else "" if state == "active" else "note"
    title = Text(one_line(row["title"]), style="bold") if row.get("title") else Text(one_line(row["path"]), "place")
    return [
        Text(one_line(row.get("id") or "-"), style="id"),
        Text(one_line(row.get("type") or "-"), style="tool"),
        Text(state, style=style),
        title,
    ]


def _problems(rows: list[dict[str, Any]]) -> Iterator[RenderableType]:
    """Yield why records are not in use, each with its file."""
    wrong = [row for row in rows if row.get("problem")]
    if wrong:
        yield Text()
    for row in wrong:
        yield Text.assemble((one_line(row["path"]), "place"), ": ", one_line(row["problem"]))
