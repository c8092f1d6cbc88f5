"""A card of numbers side by side, each above what it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QFrame, QGridLayout

from desktop import words
from desktop.widgets import heading, label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.theme import Theme

NOTHING: Final = "–"  # noqa: RUF001 - a dash where a number will stand


class Figures(QFrame):
    """Numbers with their names.

    Args:
        names: What they count, from the first to the last.
        theme: Fonts.
    """

    def __init__(self, names: Sequence[str], theme: Theme) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._names = tuple(names)
        self.numbers = tuple(heading("", theme.font(1.2, bold=True)) for _ in names)
        grid = QGridLayout(self)
        grid.setContentsMargins(16, 12, 16, 12)
        for column, (name, number) in enumerate(zip(names, self.numbers, strict=True)):
            grid.addWidget(number, 0, column)
            grid.addWidget(label(name, "faint"), 1, column)
        self.clear()

    def tell(self, texts: Sequence[str]) -> None:
        """Show numbers, in the order of the names."""
        for name, number, text in zip(self._names, self.numbers, texts, strict=True):
            number.setText(text)
            number.setAccessibleName(words.shared.named(name, text))

    def clear(self) -> None:
        """Show that the numbers are not known."""
        self.tell([NOTHING] * len(self._names))
