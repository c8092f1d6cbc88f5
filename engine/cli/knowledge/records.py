"""`backscroll knowledge records`: every record file, whatever its state."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

from engine.cli import options
from engine.cli.exits import NOTHING_FOUND
from engine.cli.knowledge import choices  # noqa: TC001 - typer reads the annotations at run time
from engine.cli.knowledge.asking import ask, footer
from engine.cli.knowledge.rows import state_of
from engine.cli.output import Output
from engine.cli.safe import one_line
from engine.cli.tables import Column, fitted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table

COLUMNS: Final = (Column("Id"), Column("Type"), Column("State"), Column("Title", gives_way=True))


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
    lifecycle: Annotated[
        Standing | None, typer.Option("--lifecycle", metavar="L", help="Only active, superseded, withdrawn or merged.")
    ] = None,
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
    return fitted(COLUMNS, [_cells(row) for row in rows], output.width)


def _cells(row: dict[str, Any]) -> list[Text]:
    state = ", ".join(row["flags"]) if row.get("flags") else state_of(row) or "active"
    style = "bad" if row.get("flags") else "" if state == "active" else "note"
    title = (
        Text(one_line(row["title"]), style="bold") if row.get("title") else Text(one_line(row["path"]), style="place")
    )
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
