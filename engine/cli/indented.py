"""Sets a block of text in from the left, without filling lines up to the right as rich's own padding does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.text import Text


class Indented:
    """A renderable, some columns to the right; wrapped to what is left of the width.

    Args:
        inner: What is set in.
        columns: How far.
        lead: Stands in the free columns of the first line, and must fit into them.
    """

    def __init__(self, inner: RenderableType, columns: int, lead: Text | None = None) -> None:
        self._inner = inner
        self._columns = columns
        self._lead = lead

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, each after its space."""
        narrower = options.update(width=max(options.max_width - self._columns, 10))
        lead = self._lead
        for line in console.render_lines(self._inner, narrower, pad=False):
            if lead is not None:
                yield from lead.render(console)
                yield Segment(" " * (self._columns - lead.cell_len))
                lead = None
            else:
                yield Segment(" " * self._columns)
            yield from line
            yield Segment.line()
