"""The history page beside its settings: the folders that are read, the archive, how long Claude Code keeps its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from desktop import format as shown
from desktop import words
from desktop.claude import LONG_DAYS
from desktop.errors import log_bug, trouble_of
from desktop.transcript_files import counted_roots
from desktop.widgets import ElidedLabel, button, label, set_kind

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from desktop.history import History
    from desktop.services import Services
    from desktop.transcript_files import CountedRoot
    from engine.core.models.status import Status
    from engine.integrations.claude_code import Outcome
    from engine.integrations.registration import Connection


class RootsList(QWidget):
    """The folders of transcripts that exist, with how many lie in each."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._lane = services.tasks.lane()
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(0, 1)
        self.state = label(words.settings.COUNTING, "faint", wrap=True)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(6)
        box.addWidget(label(words.settings.ROOTS))
        box.addLayout(self._grid)
        box.addWidget(self.state)

    def showEvent(self, event: QShowEvent) -> None:
        """Count when somebody looks."""
        super().showEvent(event)
        settings = self._services.host.settings
        self._lane.run(lambda _: counted_roots(settings, os.environ, Path.home()), self._show, self._failed)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """What is shown: folder and count."""
        texts: list[str] = []
        for number in range(self._grid.count()):
            item = self._grid.itemAt(number)
            widget = None if item is None else item.widget()
            if isinstance(widget, ElidedLabel):
                texts.append(widget.text())
            elif widget is not None:
                texts.append(widget.property("text"))
        return list(zip(texts[::2], texts[1::2], strict=True))

    def _show(self, roots: tuple[CountedRoot, ...]) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for row, root in enumerate(roots):
            place = ElidedLabel()
            place.set_text(shown.one_line(str(root.path)))
            self._grid.addWidget(place, row, 0)
            self._grid.addWidget(label(words.settings.transcripts(root.transcripts), "muted"), row, 1)
        self.state.setText(words.settings.NO_ROOTS)
        self.state.setVisible(not roots)

    def _failed(self, error: Exception) -> None:
        log_bug(error)
        self.state.setText(trouble_of(error).title)
        self.state.show()


class Keeping(QWidget):
    """How much the archive holds, and how long Claude Code keeps its transcripts, with one click to raise that."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._history: History | None = None
        self._lane, self._sizes = services.tasks.lane(), services.tasks.lane()
        self.archive = label("", "muted", wrap=True)
        self.retention = label("", "muted", wrap=True)
        self.raise_it = button(words.claude.KEEP_LONG, self._raise)
        self.raise_it.hide()
        self.said = label(kind="muted", wrap=True)
        self.said.hide()
        row = QHBoxLayout()
        row.addWidget(self.raise_it)
        row.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        box.addWidget(self.archive)
        box.addWidget(self.retention)
        box.addLayout(row)
        box.addWidget(self.said)

    def attach(self, history: History | None) -> None:
        """Ask this engine from now on."""
        self._history = history
        self.archive.setVisible(history is not None)
        if self.isVisible():
            self.look()

    def showEvent(self, event: QShowEvent) -> None:
        """Look when it is seen: another program may have changed it."""
        super().showEvent(event)
        self.look()

    def look(self) -> None:
        """Read the archive's size and Claude Code's setting."""
        history, claude = self._history, self._services.claude
        if history is not None:
            self._sizes.run(lambda _: history.status(), self._show_size, log_bug)
        self._lane.run(lambda _: claude.connection(), self._show_retention, self._failed)

    def _show_size(self, status: Status) -> None:
        self.archive.setText(words.settings.archive_holds(shown.size(status.archive_bytes)))

    def _show_retention(self, connection: Connection) -> None:
        days = min((each.retention_days for each in connection.registrations), default=30)
        self.retention.setText(words.claude.kept_days(days))
        self.raise_it.setVisible(connection.state != "unreadable" and days < LONG_DAYS)

    def _raise(self) -> None:
        claude = self._services.claude
        self.raise_it.setEnabled(False)
        self._services.tasks.run(lambda _: claude.keep_transcripts(), self._raised, self._failed)

    def _raised(self, outcome: Outcome) -> None:
        self.raise_it.setEnabled(True)
        lines = [words.shared.named(str(change.file), change.what) for change in outcome.changes]
        self._say("\n".join(shown.plain(each) for each in (*lines, *outcome.notes)), "muted")
        self.look()

    def _failed(self, error: Exception) -> None:
        log_bug(error)
        self.raise_it.setEnabled(True)
        trouble = trouble_of(error)
        self._say(f"{trouble.title}. {trouble.text}".strip(), "bad")

    def _say(self, text: str, kind: str) -> None:
        self.said.setText(text)
        self.said.setVisible(bool(text))
        set_kind(self.said, kind)
