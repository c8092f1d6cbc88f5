"""Connecting Claude Code with one click: a panel for the first-run card, the settings and a window of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from desktop import format as shown
from desktop import words
from desktop.claude import LONG_DAYS
from desktop.errors import log_bug, trouble_of
from desktop.widgets import PlainWindow, button, heading, label, set_kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QShowEvent

    from desktop.claude_trial import Trial
    from desktop.services import Services
    from engine.integrations.claude_code import Outcome
    from engine.integrations.registration import Connection


class ClaudePanel(QWidget):
    """Shows whether Claude Code is connected, and changes it."""

    def __init__(self, services: Services, *, short: bool = False) -> None:
        super().__init__()
        self._services = services
        self._short = short
        self.state = label(words.claude.UNKNOWN, wrap=True)
        self.detail = label(kind="faint", wrap=True)
        self.said = label(kind="muted", wrap=True)
        self.connect_button = button(words.claude.CONNECT, lambda: self._do(services.claude.connect), "primary")
        self.disconnect_button = button(words.claude.DISCONNECT, lambda: self._do(services.claude.disconnect))
        self.test_button = button(words.claude.TEST, self._test)
        self.allow = button(words.claude.ALLOW_READS, lambda: self._do(services.claude.allow_reading))
        self.keep = button(words.claude.KEEP_LONG, lambda: self._do(services.claude.keep_transcripts))
        row = QHBoxLayout()
        row.addWidget(self.connect_button)
        row.addWidget(self.disconnect_button)
        row.addWidget(self.test_button)
        row.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        if not short:
            box.addWidget(label(words.claude.WHAT, "muted", wrap=True))
        for each in (self.state, self.detail):
            box.addWidget(each)
        box.addLayout(row)
        for offer in (self.allow, self.keep):
            line = QHBoxLayout()
            line.addWidget(offer)
            line.addStretch(1)
            box.addLayout(line)
        box.addWidget(self.said)
        for each in (*self._buttons, self.detail, self.said):
            each.hide()

    @property
    def _buttons(self) -> tuple[QPushButton, ...]:
        return (self.connect_button, self.disconnect_button, self.test_button, self.allow, self.keep)

    def look(self) -> None:
        """Read what is registered."""
        claude = self._services.claude
        self._services.tasks.run(lambda _: claude.connection(), self._show, self._failed)

    def showEvent(self, event: QShowEvent) -> None:
        """Look when it is seen: another program may have changed it."""
        super().showEvent(event)
        self.look()

    def _show(self, connection: Connection) -> None:
        state = connection.state
        self.state.setText(words.claude.STATES[state])
        set_kind(self.state, "good" if state == "connected" else "bad" if state == "unreadable" else "")
        lines = [each.problem or "" for each in connection.registrations]
        if not self._short or state == "other_path":
            commands = dict.fromkeys(
                shown.one_line(each.command, 200) for each in connection.registrations if each.command
            )
            lines += [words.claude.starts(each) for each in commands]
        days = min((each.retention_days for each in connection.registrations), default=30)
        if not self._short and state != "unreadable":
            lines.append(words.claude.kept_days(days))
            if any(each.allowed for each in connection.registrations):
                lines.append(words.claude.ALLOWED)
        text = "\n".join(line for line in lines if line)
        self.detail.setText(text)
        self.detail.setVisible(bool(text))
        self.connect_button.setText(words.claude.RECONNECT if state == "other_path" else words.claude.CONNECT)
        self.connect_button.setVisible(state in {"not_connected", "other_path"})
        self.disconnect_button.setVisible(state == "connected" and not self._short)
        self.test_button.setVisible(state == "connected" and not self._short)
        is_connected = state == "connected"
        self.allow.setVisible(is_connected and not any(each.allowed for each in connection.registrations))
        self.keep.setVisible(is_connected and days < LONG_DAYS)
        self._services.pulse.connection_known(state)

    def _do(self, change: Callable[[], Outcome]) -> None:
        self._disable()
        self._services.tasks.run(lambda _: change(), self._done, self._failed)

    def _test(self) -> None:
        self._disable()
        self._say(words.claude.TESTING, "muted")
        claude = self._services.claude
        self._services.tasks.run(lambda _: claude.test(), self._tested, self._failed)

    def _tested(self, trial: Trial) -> None:
        self._enable()
        self._say(words.claude.trial(trial.tools, trial.took_s), "good")

    def _done(self, outcome: Outcome) -> None:
        self._enable()
        lines = [f"{change.what}: {change.file}" for change in outcome.changes] + list(outcome.notes)
        self._say("\n".join(shown.plain(line) for line in lines), "muted")
        self.look()

    def _failed(self, error: Exception) -> None:
        log_bug(error)
        self._enable()
        trouble = trouble_of(error)
        self._say(f"{trouble.title}. {trouble.text}", "bad")

    def _disable(self) -> None:
        for each in self._buttons:
            each.setEnabled(False)

    def _enable(self) -> None:
        for each in self._buttons:
            each.setEnabled(True)

    def _say(self, text: str, kind: str) -> None:
        self.said.setText(text)
        self.said.setVisible(bool(text))
        set_kind(self.said, kind)


class ConnectWindow(PlainWindow):
    """The panel as a window."""

    def __init__(self, services: Services) -> None:
        super().__init__(words.claude.TITLE, QSize(520, 290))
        self.panel = ClaudePanel(services)
        box = QVBoxLayout(self)
        box.setContentsMargins(24, 20, 24, 20)
        box.setSpacing(10)
        box.addWidget(heading(words.claude.TITLE, services.theme.font(1.25, bold=True)))
        box.addWidget(self.panel)
        box.addStretch(1)
