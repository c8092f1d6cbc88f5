"""Renders lists of sessions: a table where there is room, two lines each where there is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from engine.cli import words
from engine.cli.indented import Indented
from engine.cli.safe import one_line
from engine.cli.tables import Column, fitted
from engine.cli.wording import as_commands

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rich.console import RenderableType

    from engine.cli.output import Output

ROOM_FOR_TABLE = 90
COLUMNS = (
    Column("Last"),
    Column("Session"),
    Column("Project", gives_way=True, is_path=True, at_most=32),
    Column("Messages", right=True),
    Column("Title", gives_way=True),
)


def session_table(rows: list[dict[str, Any]], output: Output) -> Iterator[RenderableType]:
    """Yield sessions as a table, or as two lines each on a narrow terminal."""
    if output.width < ROOM_FOR_TABLE:
        for row in rows:
            yield Text.assemble(
                _last(row), "  ", _id(row), "  ", _place(row, output.home), no_wrap=True, overflow="ellipsis"
            )
            yield Text.assemble("  ", _title(row), no_wrap=True, overflow="ellipsis")
        return
    cells = [
        (_last(row), _id(row), _place(row, output.home), Text(f"{row['messages']:,}"), _title(row)) for row in rows
    ]
    if cells:
        yield fitted(COLUMNS, cells, output.width)


def session_story(row: dict[str, Any], output: Output) -> Iterator[RenderableType]:
    """Yield one session with how it began and what stood out, ended by an empty line."""
    head = Text.assemble(_last(row), "  ", _id(row), "  ", _place(row, output.home))
    head.append(f"  {words.count(row['messages'], 'message')}", "faint")
    yield head
    yield Indented(_title(row), 2)
    if row.get("opening") and row.get("opening") != row.get("title"):
        yield Indented(Text("» " + one_line(row["opening"]), style="faint"), 2)
    for highlight in row.get("highlights", ()):
        yield Indented(Text("● " + one_line(highlight), style="faint"), 2)
    yield Text()


def list_footer(reply: dict[str, Any]) -> Iterator[str]:
    """Yield what must be said about a list."""
    shown, total = len(reply["sessions"]), reply["total"]
    yield f"{shown:,} of {words.count(total, 'session')}" if total else "No session"
    if reply.get("projects"):
        yield "Projects that do match: " + ", ".join(one_line(each) for each in reply["projects"])
    if reply.get("note"):
        yield as_commands(reply["note"])
    if reply.get("limit_applied"):
        yield f"At most {reply['limit_applied']} at a time"
    if reply.get("next_offset") is not None:
        yield f"More: --offset {reply['next_offset']}"


def _last(row: dict[str, Any]) -> Text:
    return Text(words.moment(row.get("last_at")), style="time")


def _id(row: dict[str, Any]) -> Text:
    return Text(row["session_id"][:8], style="id")


def _place(row: dict[str, Any], home: Path) -> Text:
    return Text(one_line(words.place(row.get("project"), home)), style="place")


def _title(row: dict[str, Any]) -> Text:
    title = Text(one_line(row.get("title") or row.get("opening") or "(no title)"))
    if not row.get("on_disk", True):
        title.append("  archive only" if row.get("archived") else "  index only", "faint")
    return title
