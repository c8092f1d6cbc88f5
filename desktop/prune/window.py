"""The prune window: choose and see at once what would go; then, on a second page, say so once more."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QSize, QTimer
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QProgressBar,
    QSpinBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from desktop import format as shown
from desktop import words
from desktop.errors import log_bug, trouble_of
from desktop.figures import Figures
from desktop.prune.only_copies import OnlyCopiesCard
from desktop.prune.request import TITLES, Request, figures, inside, is_nothing, reply_of, result, summary, titles
from desktop.widgets import PlainWindow, button, heading, label, padded, scrolled, set_kind

if TYPE_CHECKING:
    from PySide6.QtGui import QCloseEvent, QFont, QShowEvent

    from desktop.history import History
    from desktop.services import Services
    from engine.core.models.keeping import PruneReply
    from engine.core.models.status import Coverage

AGE: Final = 180
REST_MS: Final = 250
"""After a change, before it is counted."""
PROJECTS: Final = 300


class PruneWindow(PlainWindow):
    """Takes old sessions out."""

    def __init__(self, services: Services) -> None:
        super().__init__(words.prune.TITLE, QSize(600, 620))
        self._services = services
        self._history: History | None = None
        self._lane = services.tasks.lane()
        self._stop: threading.Event | None = None
        self.reply: PruneReply | None = None
        self._asked = Request(AGE)
        self._projects: tuple[str, ...] = ()
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self.count)
        self.pages = QStackedWidget()
        for page in (self._choosing(), self._asking(), self._running(), self._ending()):
            self.pages.addWidget(page)
        box = QVBoxLayout(self)
        box.setContentsMargins(24, 20, 24, 20)
        box.addWidget(self.pages)
        self.age.setFocus()
        self._say(words.prune.NO_ENGINE)

    def attach(self, history: History | None) -> None:
        """Ask this engine from now on."""
        self._history = history
        if history is None:
            self._cancel()
            self._lane.cancel()
            self._say(words.prune.NO_ENGINE)
            self._show(0)
            return
        self._services.tasks.run(lambda _: history.coverage(by="project", limit=PROJECTS), self._projects_read, log_bug)
        self.count()

    def showEvent(self, event: QShowEvent) -> None:
        """Begin anew when the window is opened; one that comes back from the task bar is where it was."""
        super().showEvent(event)
        if self._stop is None and not event.spontaneous():
            self._show(0)
            self.count()

    def closeEvent(self, event: QCloseEvent) -> None:
        """A second step that was not taken is forgotten with the window; what runs goes on."""
        super().closeEvent(event)
        self._rest.stop()
        self._lane.cancel()

    # The four pages ------------------------------------------------------------------------------------------------

    def _choosing(self) -> QWidget:
        self.age = QSpinBox()
        self.age.setRange(1, 36_500)
        self.age.setValue(AGE)
        self.age.setSuffix(words.prune.days_suffix(AGE))
        self.age.setMinimumWidth(140)
        padded(self.age)
        self.age.setAccessibleName(words.prune.AGE)
        self.project = QComboBox()
        self.project.addItem(words.prune.EVERYWHERE, None)
        self.project.setAccessibleName(words.prune.PROJECT)
        self.project.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.project.setMinimumContentsLength(24)
        self.included = label(kind="warning", wrap=True)
        self.included.hide()
        self.archive = QCheckBox(words.prune.ARCHIVE)
        self.only = QCheckBox(words.prune.ONLY)
        self.age.valueChanged.connect(self._changed)
        self.age.lineEdit().returnPressed.connect(self._go_on)
        self.project.currentIndexChanged.connect(self._changed)
        for each in (self.archive, self.only):
            each.toggled.connect(self._changed)
        # A grid and no form: a form puts its labels at the upper edge of higher fields.
        form = QGridLayout()
        form.setHorizontalSpacing(14)
        form.setVerticalSpacing(10)
        form.setColumnStretch(1, 1)
        for row, (name, field) in enumerate(((words.prune.AGE, self.age), (words.prune.PROJECT, self.project))):
            named = label(name)
            named.setBuddy(field)
            form.addWidget(named, row, 0)
            form.addWidget(field, row, 1)
        self.state = label(kind="muted", wrap=True)
        self.next = button(words.prune.NEXT, self._ask, "primary")
        self.figures = Figures(words.prune.FIGURES, self._services.theme)
        self.warning = OnlyCopiesCard(self._services)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.next)
        page = QWidget()
        box = _column(page)
        box.addWidget(heading(words.prune.TITLE, self._font(1.25)))
        box.addWidget(label(words.prune.WHAT, "muted", wrap=True))
        box.addLayout(form)
        box.addWidget(self.included)
        box.addWidget(self.archive)
        box.addWidget(self.only)
        box.addWidget(heading(words.prune.GOES, self._font(1.0)))
        box.addWidget(self.figures)
        box.addWidget(self.state)
        box.addWidget(self.warning)
        box.addStretch(1)
        return _above(buttons, page)

    def _asking(self) -> QWidget:
        self.summary = label(wrap=True)
        self.last_warning = OnlyCopiesCard(self._services)
        self.understood = QCheckBox(words.prune.UNDERSTOOD)
        self.understood.toggled.connect(self._may_go)
        self.back = button(words.prune.BACK, lambda: self._show(0))
        self.now = button(words.prune.NOW, self.prune, "danger")
        row = QHBoxLayout()
        row.addWidget(self.back)
        row.addStretch(1)
        row.addWidget(self.now)
        page = QWidget()
        box = _column(page)
        box.addWidget(heading(words.prune.SURE, self._font(1.25)))
        box.addWidget(self.summary)
        box.addWidget(label(words.prune.FOREVER, "muted", wrap=True))
        box.addWidget(self.last_warning)
        box.addWidget(self.understood)
        box.addStretch(1)
        return _above(row, page)

    def _running(self) -> QWidget:
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(6)
        self.bar.setAccessibleName(words.prune.PROGRESS)
        self.step = label(kind="muted", wrap=True)
        self.cancel = button(words.shared.CANCEL, self._cancel)
        row = QHBoxLayout()
        row.addWidget(self.cancel)
        row.addStretch(1)
        made = QWidget()
        box = _column(made)
        box.addWidget(heading(words.prune.RUNNING, self._font(1.25)))
        box.addWidget(self.bar)
        box.addWidget(self.step)
        box.addStretch(1)
        box.addLayout(row)
        return made

    def _ending(self) -> QWidget:
        self.verdict = heading("", self._font(1.25))
        self.outcome = label(wrap=True)
        self.note = label(kind="muted", wrap=True)
        self.more = button(words.prune.MORE, self._once_more)
        self.close_button = button(words.shared.CLOSE, self.close, "primary")
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.more)
        row.addWidget(self.close_button)
        made = QWidget()
        box = _column(made)
        for each in (self.verdict, self.outcome, self.note):
            box.addWidget(each)
        box.addStretch(1)
        box.addLayout(row)
        return made

    def _font(self, scale: float) -> QFont:
        return self._services.theme.font(scale, bold=True)

    def _show(self, page: int) -> None:
        self.pages.setCurrentIndex(page)

    # Step one: what would go ---------------------------------------------------------------------------------------

    @property
    def wanted(self) -> Request:
        """What is chosen."""
        return Request(self.age.value(), self.project.currentData(), self.archive.isChecked(), self.only.isChecked())

    def count(self) -> None:
        """Ask what would go."""
        history = self._history
        if history is None or not self.isVisible():
            return
        self._rest.stop()
        self._asked = request = self.wanted
        self._lane.run(
            lambda cancelled: history.call(
                "prune", request.arguments(dry_run=True), caller=request.caller, cancelled=cancelled
            ),
            self._counted,
            self._not_counted,
        )

    def _changed(self, _value: object = None) -> None:
        if self.reply is not None and self._asked == self.wanted:
            return  # Enter says the number again
        self.age.setSuffix(words.prune.days_suffix(self.age.value()))
        self._say_included()
        self._say(words.prune.COUNTING)
        self._rest.start()

    def _say_included(self) -> None:
        others = inside(self.wanted.project, self._projects)
        names = ", ".join(shown.project_name(each) for each in others[:TITLES])
        rest = words.prune.and_more(len(others) - TITLES) if len(others) > TITLES else ""
        self.included.setText(words.prune.projects_inside(" ".join(part for part in (names, rest) if part)))
        self.included.setVisible(bool(others))

    def _say(self, text: str, kind: str = "muted") -> None:
        """Show a sentence in place of numbers: what is not counted yet cannot be taken out."""
        self.reply = None
        self.next.setEnabled(False)
        self.state.setText(text)
        set_kind(self.state, kind)
        self.state.show()
        self.figures.clear()
        self.warning.tell("", "")

    def _counted(self, answer: dict[str, Any]) -> None:
        if self._asked != self.wanted:
            return  # the numbers of another choice
        self.reply = reply = reply_of(answer)
        self.figures.tell(figures(reply))
        self.state.setText(words.prune.NOTHING if is_nothing(reply) else "")
        set_kind(self.state, "muted")
        self.state.setVisible(is_nothing(reply))
        self._warn(self.warning, reply)
        self.next.setEnabled(not is_nothing(reply))

    def _not_counted(self, error: Exception) -> None:
        log_bug(error)
        trouble = trouble_of(error)
        self._say(f"{trouble.title}. {trouble.text}", "bad")

    def _warn(self, warning: OnlyCopiesCard, reply: PruneReply) -> None:
        many = len(reply.only_copies)
        goes = self._asked.only_copies
        warning.tell(words.prune.only_copies(many, go=goes) if many else "", titles(reply), is_bad=goes)

    def _projects_read(self, coverage: Coverage) -> None:
        self._projects = tuple(row.project for row in coverage.by or () if row.project)
        chosen = self.project.currentData()
        self.project.blockSignals(True)
        while self.project.count() > 1:
            self.project.removeItem(1)
        for each in sorted(self._projects, key=str.casefold):
            self.project.addItem(shown.one_line(each, 120), each)
        self.project.setCurrentIndex(max(0, self.project.findData(chosen)))
        self.project.blockSignals(False)

    def _go_on(self) -> None:
        """Enter in the number means the button, where that can be pressed."""
        if self.next.isEnabled():
            self._ask()

    # Step two: say so once more ------------------------------------------------------------------------------------

    def _ask(self) -> None:
        reply = self.reply
        if reply is None:
            return
        self.summary.setText(summary(reply))
        self._warn(self.last_warning, reply)
        self.understood.setChecked(False)
        self.understood.setVisible(self._loses)
        self._may_go()
        self._show(1)
        self.back.setFocus()

    @property
    def _loses(self) -> bool:
        return self.reply is not None and bool(self.reply.only_copies) and self._asked.only_copies

    def _may_go(self, _checked: object = None) -> None:
        self.now.setEnabled(self.understood.isChecked() or not self._loses)

    def prune(self) -> None:
        """Take out what was shown."""
        history, request = self._history, self._asked
        if history is None or self.reply is None or self._stop is not None:
            return
        tasks = self._services.tasks

        def work(_taken_back: threading.Event) -> dict[str, Any]:
            def told(done: int, total: int | None, what: str) -> None:
                tasks.later(lambda: self._progressed(done, total, what))

            return history.call(
                "prune", request.arguments(dry_run=False), caller=request.caller, progress=told, cancelled=stop
            )

        # Its own event: a task that was taken back does not say what became of it, and here that matters.
        self._stop = stop = threading.Event()
        self.bar.setRange(0, 0)
        self.step.setText("")
        self.cancel.setEnabled(True)
        self._show(2)
        tasks.run(work, self._pruned, self._failed)

    def _progressed(self, done: int, total: int | None, what: str) -> None:
        self.bar.setRange(0, total or 0)
        self.bar.setValue(done)
        self.step.setText(shown.one_line(what))

    def _cancel(self) -> None:
        if self._stop is not None:
            self._stop.set()
            self.cancel.setEnabled(False)

    def _pruned(self, answer: dict[str, Any]) -> None:
        reply = reply_of(answer)
        self._end(words.prune.DONE, result(reply), reply.note or "", "good")

    def _failed(self, error: Exception) -> None:
        log_bug(error)
        trouble = trouble_of(error)
        self._end(words.prune.FAILED, f"{trouble.title}. {trouble.text}", "", "bad")

    def _end(self, verdict: str, outcome: str, note: str, kind: str) -> None:
        self._stop = None
        self.verdict.setText(verdict)
        set_kind(self.verdict, kind)
        self.outcome.setText(outcome)
        self.note.setText(note)
        self._show(3)
        self.close_button.setFocus()

    def _once_more(self) -> None:
        self._show(0)
        self._say(words.prune.COUNTING)
        self.count()


def _column(inside: QWidget) -> QVBoxLayout:
    box = QVBoxLayout(inside)
    box.setContentsMargins(0, 0, 0, 0)
    box.setSpacing(12)
    return box


def _above(buttons: QHBoxLayout, page: QWidget) -> QWidget:
    """Return a page that can be scrolled where it is higher than the window; its buttons stay in sight."""
    made = QWidget()
    box = _column(made)
    box.addWidget(scrolled(page), 1)
    box.addLayout(buttons)
    return made
