"""Sets a block of text in from the left, without filling lines up to the right as rich's own padding does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult


class Indented:
    """A renderable, some columns to the right; wrapped to what is left of the width."""

    def __init__(self, inner: RenderableType, columns: int) -> None:
        self._inner = inner
        self._columns = columns

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, each after its space."""
        narrower = options.update(width=max(options.max_width - self._columns, 10))
        for line in console.render_lines(self._inner, narrower, pad=False):
            yield Segment(" " * self._columns)
            yield from line
            yield Segment.line()
