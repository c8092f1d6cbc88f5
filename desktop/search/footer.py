"""The line below the list: how it searches, what it says about the answer, and the two keys worth knowing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from desktop import format as shown
from desktop import words
from desktop.search.actions import native
from desktop.text_size import grown
from desktop.widgets import ElidedLabel, set_kind

if TYPE_CHECKING:
    from desktop.search.report import Mode, Report
    from desktop.theme import Theme

MODES: Final[tuple[tuple[Mode, str, str], ...]] = (
    ("hybrid", words.search.MODE_HYBRID, "Alt+1"),
    ("keyword", words.search.MODE_KEYWORD, "Alt+2"),
    ("semantic", words.search.MODE_MEANING, "Alt+3"),
)


class Footer(QFrame):
    """Modes and state."""

    mode_chosen = Signal(str)
    everything_chosen = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("footer")
        self.setFixedHeight(grown(40))
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 18, 0)
        row.setSpacing(2)
        small = theme.font(0.9)
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QPushButton] = {}
        for mode, label, key in MODES:
            made = self._button(label, words.search.with_key(words.search.MODE_HELP[mode], native(key)))
            made.setFont(small)
            made.clicked.connect(lambda _checked=False, mode=mode: self.mode_chosen.emit(mode))
            self._group.addButton(made)
            self.buttons[mode] = made
            row.addWidget(made)
        self.everything = self._button(
            words.search.MODE_EVERYTHING, words.search.with_key(words.search.EVERYTHING_HELP, native("Alt+4"))
        )
        self.everything.setFont(small)
        self.everything.clicked.connect(lambda checked=False: self.everything_chosen.emit(checked))
        row.addWidget(self.everything)
        row.addSpacing(8)
        self.state = ElidedLabel()
        self.state.setFont(small)
        self.state.setProperty("kind", "faint")
        self.state.setAccessibleName(words.search.STATE)
        row.addWidget(self.state, 1)
        row.addSpacing(8)
        hint = QLabel(words.search.footer_hint(native("Return"), native("Ctrl+K"), native("F1")))
        hint.setFont(small)
        hint.setProperty("kind", "faint")
        row.addWidget(hint)
        self.hint = hint

    def set_mode(self, mode: str, *, everything: bool) -> None:
        """Show which way is searched."""
        self.buttons[mode].setChecked(True)
        self.everything.setChecked(everything)

    def say(self, report: Report) -> None:
        """Show what is known about the answer."""
        kind, counts = "faint", False
        if report.problem is not None:
            text = ""  # it stands large in place of the rows
        elif report.is_slow:
            text = words.search.SEARCHING
        elif report.note:
            text, kind = report.note, "warning"
        elif report.corrected:
            text = words.search.corrected(shown.one_line(report.corrected, 60))
        elif report.total:
            text, counts = words.search.total(report.total, report.total_is), True
        elif report.records:
            text = words.search.records(report.records)
        else:
            text = ""
        self.state.set_text(text, words.search.TOTAL_IS.get(report.total_is or "", "") if counts else "")
        set_kind(self.state, kind)

    def _button(self, label: str, help_: str) -> QPushButton:
        made = QPushButton(label)
        made.setProperty("kind", "mode")
        made.setCheckable(True)
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        made.setToolTip(help_)
        made.setAccessibleName(label)
        made.setAccessibleDescription(help_)
        return made
