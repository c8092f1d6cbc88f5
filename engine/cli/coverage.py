"""`backscroll coverage`: how much of the history is indexed, searchable by meaning, archived, unreadable."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from engine.cli import options, words
from engine.cli.access import ask
from engine.cli.output import Output
from engine.cli.safe import one_line
from engine.cli.tables import Column, fitted
from engine.core.sizes import size

if TYPE_CHECKING:
    from collections.abc import Iterator

BAR = 12
"""Characters of a full bar."""


class Grouping(StrEnum):
    """What coverage can be split by."""

    PROJECT = "project"
    DAY = "day"


def coverage(
    ctx: typer.Context,
    *,
    by: Annotated[Grouping | None, typer.Option("--by", metavar="G", help="Split by project or day.")] = None,
    limit: options.Limit = None,
    offset: options.Offset = None,
    as_json: options.AsJson = False,
) -> None:
    """Show how much of the history is indexed."""
    output = Output(as_json=as_json)
    reply = ask(ctx, output, "coverage", options.given(by=by and str(by), limit=limit, offset=offset))
    if as_json:
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="faint", no_wrap=True)
    table.add_column()
    for name, value in _rows(reply):
        table.add_row(name, value)
    output.show(table)
    if reply.get("by"):
        output.show(Text(), _split(reply["by"], output))
    for problem in reply["problems"]:
        where = one_line(problem["file"]) + (f", line {problem['line']}" if problem.get("line") else "")
        output.show(Text.assemble((where, "place"), ": ", one_line(problem["what"])))
    for name in ("note", "next_offset"):
        if reply.get(name) is not None:
            output.say(f"More: --offset {reply[name]}" if name == "next_offset" else reply[name], "faint")


def bar(percent: float) -> str:
    """Return a share as a bar; full only at the whole of it."""
    full = BAR if percent >= 100 else min(int(percent / 100 * BAR), BAR - 1)
    return "█" * full + "░" * (BAR - full)


def _rows(reply: dict[str, Any]) -> Iterator[tuple[str, str]]:
    files, lines = reply["files"], reply["lines"]
    said = f"{files['indexed']:,} of {files['seen']:,} indexed"
    for name, sentence in (("gone", "deleted by Claude Code"), ("unreadable", "unreadable")):
        if files[name]:
            said += f", {files[name]:,} {sentence}"
    yield "Files", said
    yield "Sessions", f"{reply['sessions']:,}"
    parts = ((reply["prompts"], "prompt"), (reply["answers"], "answer"), (reply["tool_calls"], "tool call"))
    yield "Messages", f"{reply['messages']:,} ({', '.join(words.count(many, one) for many, one in parts)})"
    yield "By words", f"{reply['chunks']:,} chunks"
    yield "By meaning", f"{bar(reply['percent'])} {reply['percent']:g} % ({reply['embedded']:,} of {reply['chunks']:,})"
    yield "Archive", size(reply["archived_bytes"])
    if lines["damaged"] or lines["salvaged"]:
        yield "Damaged lines", f"{lines['damaged']:,}, {lines['salvaged']:,} of them read in part"
    if lines["unknown_types"]:
        kinds = ", ".join(f"{one_line(name)} ({many:,})" for name, many in lines["unknown_types"].items())
        yield "Unknown lines", kinds


def _split(rows: list[dict[str, Any]], output: Output) -> Table:
    by_day = "day" in rows[0]
    # A session that went on over midnight belongs to no one day.
    counted = [name for name in ("sessions", "messages", "chunks") if not (by_day and name == "sessions")]
    columns = (
        Column("Day" if by_day else "Project", gives_way=True, is_path=True),
        *(Column(name.capitalize(), right=True) for name in counted),
        Column("By meaning"),
    )
    cells: list[list[Text]] = []
    for row in rows:
        name = row["day"] if by_day else words.place(row.get("project"), output.home)
        counts = [Text(f"{row[each]:,}") for each in counted]
        share = Text(f"{bar(row['percent'])} {row['percent']:g} %")
        cells.append([Text(one_line(name), style="place"), *counts, share])
    return fitted(columns, cells, output.width)
