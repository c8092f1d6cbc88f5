"""The doctor's window: looks at once, shows each finding, and mends after asking once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QSystemTrayIcon, QVBoxLayout, QWidget

from desktop import format as shown
from desktop import words
from desktop.doctor.outside import can_be_fixed, needs_attention, outside_findings, worst_first
from desktop.doctor.rows import FindingRow
from desktop.errors import log_bug, trouble_of
from desktop.widgets import PlainWindow, button, card, heading, label, line, scrolled, set_kind
from engine.core.models.keeping import Finding

if TYPE_CHECKING:
    from PySide6.QtGui import QCloseEvent

    from desktop.history import History
    from desktop.services import Services


class DoctorWindow(PlainWindow):
    """Shows what the doctor found."""

    def __init__(self, services: Services) -> None:
        super().__init__(words.doctor.TITLE, QSize(620, 640))
        self._services = services
        self._history: History | None = None
        self._stop: threading.Event | None = None
        self._is_mending = False
        self.findings: tuple[Finding, ...] = ()
        self._asked_about: tuple[Finding, ...] = ()
        """What the question is about: one finding, or everything that can be mended."""
        self.rows: list[FindingRow] = []
        self.verdict = heading("", services.theme.font(1.25, bold=True))
        self.verdict.setWordWrap(True)
        self.detail = label(kind="muted", wrap=True)
        self.bar = QProgressBar()
        self.bar.setAccessibleName(words.doctor.PROGRESS)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(6)
        self.cancel = button(words.shared.CANCEL, self._cancel)
        self.again = button(words.doctor.AGAIN, self.look)
        self.fix_all = button(words.doctor.FIX_ALL, self._ask_all, "primary")
        self.question = self._question()
        self._inside = QWidget()
        self._inside.setAccessibleName(words.doctor.FINDINGS)
        self._list = QVBoxLayout(self._inside)
        self._list.setContentsMargins(0, 0, 1, 0)
        self._list.setSpacing(0)
        self._list.addStretch(1)
        self._area = scrolled(self._inside)
        buttons = QHBoxLayout()
        buttons.addWidget(self.cancel)
        buttons.addStretch(1)
        buttons.addWidget(self.again)
        buttons.addWidget(self.fix_all)
        box = QVBoxLayout(self)
        box.setContentsMargins(24, 20, 24, 20)
        box.setSpacing(10)
        for each in (self.verdict, self.detail, self.bar, self.question):
            box.addWidget(each)
        box.addWidget(self._area, 1)
        box.addLayout(buttons)
        services.theme.changed.connect(self._recoloured)
        self._waiting()

    def attach(self, history: History | None) -> None:
        """Ask this engine from now on, and at once when somebody looks."""
        self._history = history
        if history is None:
            self._cancel()
            self._waiting()
        elif self.isVisible():
            self.look()

    def setVisible(self, visible: bool) -> None:  # noqa: FBT001 - Qt's signature
        """Look, also when the window is there already: that is what was clicked."""
        super().setVisible(visible)
        if visible and not self.is_working:
            self.look()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Looking ends with the window; mending goes on."""
        super().closeEvent(event)
        if not self._is_mending:
            self._cancel()

    @property
    def is_working(self) -> bool:
        """True while the doctor is at it."""
        return self._stop is not None

    # Asking --------------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Run every check and change nothing."""
        self._run({"fix": False})

    def mend(self) -> None:
        """Mend what the question was about: it was answered."""
        self._run({"fix": True, "only": [each.id for each in self._asked_about]})

    def _run(self, asked: dict[str, Any]) -> None:
        history = self._history
        if history is None or self.is_working:
            return
        tasks = self._services.tasks
        # Its own event: a task that was taken back does not say what became of it, and here that matters.
        self._stop = stop = threading.Event()
        self._is_mending = bool(asked["fix"])
        self._working(words.doctor.MENDING if self._is_mending else words.doctor.LOOKING)
        outside = outside_findings(self._services.hotkey.problem, has_tray=QSystemTrayIcon.isSystemTrayAvailable())

        def ask(_taken_back: threading.Event) -> dict[str, Any]:
            def told(done: int, total: int | None, what: str) -> None:
                tasks.later(lambda: self._progressed(done, total, what, stop))

            return history.call("doctor", asked, progress=told, cancelled=stop)

        tasks.run(ask, lambda reply: self._found(reply, outside), lambda error: self._failed(error, history))

    def _cancel(self) -> None:
        """Ask it to end after the present step. What becomes of it is told when it has."""
        if self._stop is not None:
            self._stop.set()
            self.cancel.setEnabled(False)

    # Showing -------------------------------------------------------------------------------------------------------

    def _waiting(self) -> None:
        self._faces(is_working=False)
        self.verdict.setText(words.doctor.TITLE)
        self._say(words.doctor.NO_ENGINE)
        self.again.setEnabled(False)

    def _working(self, what: str) -> None:
        self.verdict.setText(what)
        set_kind(self.verdict, "")
        self._say("")
        self.bar.setRange(0, 0)
        self._faces(is_working=True)

    def _faces(self, *, is_working: bool) -> None:
        self.bar.setVisible(is_working)
        self.cancel.setVisible(is_working)
        self.cancel.setEnabled(True)
        self.question.hide()
        self._area.setEnabled(not is_working)
        self.again.setVisible(not is_working)
        self.again.setEnabled(True)
        self.fix_all.setVisible(not is_working and any(can_be_fixed(each) for each in self.findings))

    def _progressed(self, done: int, total: int | None, what: str, cancelled: threading.Event) -> None:
        if cancelled is not self._stop:
            return  # of a run before
        self.bar.setRange(0, total or 0)
        self.bar.setValue(done)
        self._say(shown.one_line(what))

    def _found(self, reply: dict[str, Any], outside: tuple[Finding, ...]) -> None:
        was_mending = self._is_mending
        self._stop, self._is_mending = None, False
        found = (Finding(**each) for each in reply.get("findings", ()))
        self.findings = worst_first((*found, *outside))
        self._show_rows()
        wrong = sum(needs_attention(each) for each in self.findings)
        well = words.doctor.MENDED if was_mending else words.doctor.WELL
        self._show_verdict(words.doctor.found(wrong) if wrong else well, "" if wrong else "good")
        # Without having mended, the note speaks of an argument that a person does not give here.
        self._say(reply.get("note") or "" if was_mending else "")
        # Whoever works with the keyboard is where the next step is.
        (self.fix_all if any(can_be_fixed(each) for each in self.findings) else self.again).setFocus()

    def _failed(self, error: Exception, asked: History) -> None:
        self._stop, self._is_mending = None, False
        if self._history is not asked:
            # Its engine ended meanwhile. A new one is looked at, none is waited for.
            self.attach(self._history)
            return
        log_bug(error)
        trouble = trouble_of(error)
        self._show_verdict(words.doctor.STOPPED, "bad")
        self._say(f"{trouble.title}. {trouble.text}")

    def _show_verdict(self, text: str, kind: str = "") -> None:
        self.verdict.setText(text)
        set_kind(self.verdict, kind)
        self._say("")
        self._faces(is_working=False)

    def _say(self, text: str) -> None:
        self.detail.setText(text)
        self.detail.setVisible(bool(text))

    def _show_rows(self) -> None:
        while (item := self._list.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self.rows = [
            FindingRow(each, self._services.theme, lambda each=each: self._ask((each,)), self._services.open)
            for each in self.findings
        ]
        for number, row in enumerate(self.rows):
            if number:
                self._list.addWidget(line())
            self._list.addWidget(row)
        self._list.addStretch(1)

    def _recoloured(self, _colours: object) -> None:
        self.update()

    # The question --------------------------------------------------------------------------------------------------

    def _question(self) -> QFrame:
        made = card()
        self.question_text = label(wrap=True)
        self.fix_now = button(words.doctor.FIX_NOW, self.mend, "primary")
        self.keep = button(words.shared.CANCEL, self._dismiss)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.keep)
        row.addWidget(self.fix_now)
        box = QVBoxLayout(made)
        box.setContentsMargins(16, 12, 16, 12)
        box.addWidget(heading(words.doctor.ASK, self._services.theme.font(1.0, bold=True)))
        box.addWidget(self.question_text)
        box.addWidget(label(words.doctor.COPIED_FIRST, "faint", wrap=True))
        box.addLayout(row)
        return made

    def _ask_all(self) -> None:
        self._ask(tuple(each for each in self.findings if can_be_fixed(each)))

    def _ask(self, about: tuple[Finding, ...]) -> None:
        self._asked_about = about
        fixes = [words.doctor.will_be_done(each.title, each.fix or "") for each in about]
        self.question_text.setText("\n".join(shown.plain(each) for each in fixes))
        self.question.show()
        self.fix_all.hide()
        self.fix_now.setFocus()

    def _dismiss(self) -> None:
        self._faces(is_working=False)
