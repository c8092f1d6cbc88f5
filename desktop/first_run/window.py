"""The first-run card: what was found, what happens with it, the hotkey, Claude Code, starting at login."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtWidgets import QCheckBox, QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from desktop import words
from desktop.claude_panel import ClaudePanel
from desktop.errors import log_bug, trouble_of
from desktop.resources import drawn
from desktop.transcript_files import counted_roots
from desktop.widgets import PlainWindow, button, card, heading, label

if TYPE_CHECKING:
    from PySide6.QtGui import QCloseEvent

    from desktop.history import History
    from desktop.pulse import Pulse
    from desktop.services import Services
    from engine.core.models.status import Coverage


class FirstRunWindow(PlainWindow):
    """Shown once."""

    def __init__(self, services: Services) -> None:
        super().__init__(words.first_run.TITLE, QSize(560, 590))
        self._services = services
        self._history: History | None = None
        self._lane = services.tasks.lane()
        theme = services.theme
        picture = QLabel()
        picture.setPixmap(drawn("app", 56, None, self.devicePixelRatioF()))
        title = heading(words.first_run.HEAD, theme.font(1.3, bold=True))
        title.setWordWrap(True)
        self.found = heading(words.first_run.LOOKING, theme.font(1.15, bold=True))
        self.found.setWordWrap(True)
        self.progress = label(kind="muted", wrap=True)
        self.what = label(words.first_run.WHAT, "muted", wrap=True)
        self.sample = button(words.shared.TRY_SAMPLE, lambda: services.open("sample"))
        self.sample.hide()
        self.keys = label(services.hotkey.shown, "key")
        self.keys.setFont(theme.font(1.05, bold=True))
        self.hotkey_problem = label(kind="warning", wrap=True)
        self.autostart = QCheckBox(words.first_run.AUTOSTART)
        self.autostart.setChecked(services.autostart.is_enabled())
        self.autostart.clicked.connect(self._autostart)
        self.go = button(words.first_run.GO, self._go, "primary")
        head = QHBoxLayout()
        head.setSpacing(14)
        head.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(title, 1)
        keys = QHBoxLayout()
        keys.addWidget(label(words.first_run.HOTKEY))
        keys.addWidget(self.keys)
        keys.addStretch(1)
        keys.addWidget(button(words.first_run.CHANGE, lambda: services.open("settings"), "link"))
        box = QVBoxLayout(self)
        box.setContentsMargins(28, 24, 28, 22)
        box.setSpacing(12)
        box.addLayout(head)
        box.addWidget(_step(words.first_run.STEP_FOUND, self.found, self.progress, self.what, self.sample))
        box.addWidget(_step(words.first_run.STEP_SEARCH, keys, self.hotkey_problem, self.autostart))
        box.addWidget(_step(words.first_run.STEP_CLAUDE, ClaudePanel(services, short=True)))
        box.addStretch(1)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.go)
        box.addLayout(row)
        services.hotkey.changed.connect(self._show_hotkey)
        services.pulse.changed.connect(self._show_pulse)
        self._show_hotkey()
        self._show_pulse(services.pulse.pulse)
        self.go.setFocus()

    def attach(self, history: History | None) -> None:
        """Ask this engine from now on."""
        self._history = history
        self._count()

    def event(self, event: QEvent) -> bool:
        """Grow with what is said: texts that wrap have no smallest height of their own."""
        if event.type() == QEvent.Type.LayoutRequest:
            QTimer.singleShot(0, self, self._fit)
        return super().event(event)

    def _fit(self) -> None:
        layout = self.layout()
        wanted = 0 if layout is None else layout.totalHeightForWidth(self.width())
        if wanted > self.height():
            self.resize(self.width(), wanted)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Once is enough, however it was closed."""
        self._services.open("greeted")
        super().closeEvent(event)

    def _go(self) -> None:
        self.close()
        self._services.open("show_search")

    def _show_hotkey(self) -> None:
        hotkey = self._services.hotkey
        self.keys.setText(hotkey.shown)
        self.keys.setVisible(bool(hotkey.shown))
        problem = hotkey.problem
        text = "" if problem is None else f"{problem.title}. {problem.message} {problem.hint}".strip()
        self.hotkey_problem.setText(text)
        self.hotkey_problem.setVisible(bool(text))

    def _show_pulse(self, pulse: Pulse) -> None:
        self.progress.setText(pulse.sentence[:1].upper() + pulse.sentence[1:])
        self._count()

    def _count(self) -> None:
        history = self._history
        if history is not None:
            settings = self._services.host.settings

            def count(_cancelled: object) -> tuple[Coverage, int]:
                roots = counted_roots(settings, os.environ, Path.home())
                return history.coverage(by="day", limit=500), sum(root.transcripts > 0 for root in roots)

            self._lane.run(count, self._counted, log_bug)

    def _counted(self, counted: tuple[Coverage, int]) -> None:
        coverage, roots = counted
        days = [date.fromisoformat(row.day) for row in coverage.by or () if row.day]
        span = (max(days) - min(days)).days + 1 if days else 0
        nothing = not coverage.files.seen
        self.found.setText(words.first_run.NONE if nothing else words.first_run.found(coverage.sessions, span, roots))
        for each in (self.what, self.progress):
            each.setVisible(not nothing)
        self.sample.setVisible(nothing)

    def _autostart(self, wanted: bool) -> None:  # noqa: FBT001 - a slot
        autostart = self._services.autostart
        try:
            (autostart.enable if wanted else autostart.disable)()
        except OSError as error:
            self.hotkey_problem.setText(trouble_of(error).message if not error.strerror else error.strerror)
            self.hotkey_problem.show()
        self.autostart.setChecked(autostart.is_enabled())


def _step(title: str, *parts: QWidget | QHBoxLayout) -> QFrame:
    made = card()
    box = QVBoxLayout(made)
    box.setContentsMargins(16, 12, 16, 14)
    box.setSpacing(7)
    box.addWidget(label(title, "faint"))
    for part in parts:
        if isinstance(part, QHBoxLayout):
            box.addLayout(part)
        elif isinstance(part, (QLabel, QCheckBox, ClaudePanel)):
            box.addWidget(part)
        else:
            box.addWidget(part, 0, Qt.AlignmentFlag.AlignLeft)
    return made
