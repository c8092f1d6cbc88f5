"""Tables that fit the terminal: every column as wide as it must be, but one or two that give way.

rich takes width from all columns alike when there is too little, until no number can be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

GAP: Final = 2
"""Between two columns."""
LEAST: Final = 8
"""Columns that a cell keeps which gives way; on a terminal too narrow for that the lines run over."""


@dataclass(frozen=True, slots=True)
class Column:
    """How one column behaves."""

    name: str
    right: bool = False
    """Numbers stand at the right."""
    gives_way: bool = False
    """Its texts are cut when there is too little room."""
    is_path: bool = False
    """When cut, the end stays and not the beginning."""
    at_most: int | None = None
    """Wider than this it never gets while another column would have to be cut for it."""


def fitted(columns: Sequence[Column], rows: Sequence[Sequence[Text]], width: int) -> Table:
    """Return a table whose lines are at most so wide.

    Args:
        columns: From left to right.
        rows: As many cells as columns each.
        width: Of the terminal.
    """
    widths = room_for(columns, rows, width)
    table = Table(box=None, pad_edge=False, header_style="faint")
    for column, cells in zip(columns, widths, strict=True):
        table.add_column(
            column.name,
            justify="right" if column.right else "left",
            no_wrap=True,
            overflow="ellipsis",
            min_width=cells,
            max_width=cells,
        )
    for row in rows:
        table.add_row(
            *(
                _tail(cell, cells) if column.is_path else cell
                for column, cell, cells in zip(columns, row, widths, strict=True)
            )
        )
    return table


def room_for(columns: Sequence[Column], rows: Sequence[Sequence[Text]], width: int) -> list[int]:
    """Return the width of each column: what its cells need, less what must be given up."""
    wanted = [
        max(cell_len(column.name), *(row[at].cell_len for row in rows)) if rows else cell_len(column.name)
        for at, column in enumerate(columns)
    ]
    over = sum(wanted) + GAP * (len(columns) - 1) - width
    # What is capped gives way first, then the widest.
    for at in sorted(range(len(columns)), key=lambda at: (columns[at].at_most is None, -wanted[at])):
        if over <= 0:
            break
        if columns[at].gives_way:
            least = max(LEAST, columns[at].at_most or 0)
            given = min(over, max(0, wanted[at] - least))
            wanted[at] -= given
            over -= given
    for at, column in enumerate(columns):
        if over > 0 and column.gives_way:
            given = min(over, max(0, wanted[at] - LEAST))
            wanted[at] -= given
            over -= given
    return wanted


def tail(text: str, width: int) -> str:
    """Return the end of a text that is too wide, with a mark in front; another text as it is."""
    if cell_len(text) <= width:
        return text
    kept = text
    while kept and cell_len(kept) > width - 1:
        kept = kept[1:]
    return "…" + kept


def _tail(cell: Text, width: int) -> Text:
    return cell if cell.cell_len <= width else Text(tail(cell.plain, width), style=cell.style)
