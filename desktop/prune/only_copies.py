"""The warning about sessions that exist nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QVBoxLayout

from desktop import words
from desktop.widgets import label, set_kind

if TYPE_CHECKING:
    from desktop.services import Services


class OnlyCopiesCard(QFrame):
    """A card that says which sessions exist nowhere else; not there when none does."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.text = label(kind="warning", wrap=True)
        self.text.setFont(services.theme.font(1.0, bold=True))
        self.titles = label(kind="muted", wrap=True)
        self.titles.setAccessibleName(words.prune.TITLES)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 12, 16, 12)
        box.addWidget(self.text)
        box.addWidget(self.titles)

    def tell(self, text: str, named: str, *, is_bad: bool = False) -> None:
        """Show a warning, or none."""
        self.text.setText(text)
        set_kind(self.text, "bad" if is_bad else "warning")
        self.titles.setText(named)
        self.setVisible(bool(text))
