"""One finding as a row: a mark, what was found, what it means, and a button where it can be mended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop import format as shown
from desktop import words
from desktop.doctor.outside import can_be_fixed, window_for
from desktop.theme import colour
from desktop.widgets import button, heading, label

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QColor
    from PySide6.QtWidgets import QPushButton

    from desktop.theme import Theme
    from engine.core.models.keeping import Finding

MARK: Final = 20
LIMIT: Final = 1200
"""Characters of one text: a finding that lists everything would push the others out of sight."""


class Mark(QWidget):
    """A coloured disc with a sign: told apart by shape as well as by colour."""

    def __init__(self, theme: Theme, kind: str) -> None:
        super().__init__()
        self._theme = theme
        self._kind = kind
        self.setFixedSize(QSize(MARK, MARK))
        self.setAccessibleName(words.doctor.MARK_NAMES[kind])
        self.setToolTip(words.doctor.MARK_NAMES[kind])

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour(0.16))
        box = QRectF(self.rect())
        painter.drawEllipse(box)
        painter.setFont(self._theme.font(0.9, bold=True))
        painter.setPen(self._colour(1))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words.shared.MARKS[self._kind])
        painter.end()

    def _colour(self, alpha: float) -> QColor:
        colours = self._theme.colours
        table = {"info": colours.accent, "warning": colours.warning, "error": colours.bad}
        return colour(table.get(self._kind, colours.good), alpha)


_COMMAND: Final = re.compile(r"\s*`backscroll [^`]*`\.?")


def means_of(finding: Finding) -> str:
    """Return what a finding means, without the command for what a button here does."""
    text = shown.plain(finding.means)[:LIMIT]
    return (_COMMAND.sub("", text) if window_for(finding) is not None else text).replace("`", "")


class FindingRow(QWidget):
    """Shows a finding.

    Args:
        finding: What was found.
        theme: Colours and fonts.
        fix: Called when it should be mended.
        open_window: Opens the window of a name.
    """

    def __init__(
        self, finding: Finding, theme: Theme, fix: Callable[[], None], open_window: Callable[[str], None]
    ) -> None:
        super().__init__()
        self.finding = finding
        kind = "fixed" if finding.fixed else finding.severity
        found = shown.plain(finding.found)[:LIMIT]
        self.setAccessibleName(words.doctor.finding_name(words.doctor.MARK_NAMES[kind], finding.title, found))
        text = QVBoxLayout()
        text.setSpacing(2)
        title = heading(finding.title, theme.font(1.0, bold=True))
        text.addWidget(title)
        if finding.found:
            text.addWidget(label(found, wrap=True))
        if finding.means and finding.severity != "ok":
            text.addWidget(label(means_of(finding), "muted", wrap=True))
        if finding.fixed is not None:
            said = words.doctor.FIXED if finding.fixed else words.doctor.NOT_FIXED
            text.addWidget(label(said, "good" if finding.fixed else "bad"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 8, 0, 8)
        row.setSpacing(12)
        row.addWidget(Mark(theme, kind), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(text, 1)
        self.fix = None
        if can_be_fixed(finding):
            self.fix = button(words.doctor.FIX, fix)
            self.fix.setAccessibleName(words.doctor.fix_of(finding.title))
            self.fix.setToolTip(shown.for_tooltip(finding.fix or ""))
            row.addWidget(self.fix, 0, Qt.AlignmentFlag.AlignTop)
        self.go: QPushButton | None = None
        if (window := window_for(finding)) is not None:
            self.go = button(words.doctor.GO[window], lambda: open_window(window))
            row.addWidget(self.go, 0, Qt.AlignmentFlag.AlignTop)
