"""The exchange around the selected row, beside the list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from desktop import format as shown
from desktop import words
from desktop.errors import log_bug, trouble_of
from desktop.search.column import ListSource
from desktop.search.records import preview_of
from desktop.search.rows import HitRow, RecordItem, SessionItem
from desktop.search.transcript import TranscriptView
from desktop.widgets import ElidedLabel

if TYPE_CHECKING:
    from desktop.history import History
    from desktop.search.marks import Place
    from desktop.search.rows import Row
    from desktop.tasks import Tasks
    from desktop.theme import Theme
    from engine.core.models.sessions import MessageView, Reading

REST_MS: Final = 40
"""After a move of the selection, before the exchange is read: holding Down reads nothing."""
BEFORE: Final = 3
AFTER: Final = 3
OPENING: Final = 8
"""Messages of a session that are previewed."""


class Preview(QFrame):
    """Shows what surrounds a hit, or how a session began."""

    link_clicked = Signal(str)

    def __init__(self, theme: Theme, tasks: Tasks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("preview")
        self._lane = tasks.lane()
        self._history: History | None = None
        self._row: Row | None = None
        self._query = ""
        self._places: tuple[Place, ...] = ()
        self._at = -1
        self.reading: Reading | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._ask)
        head = QFrame(self)
        head.setObjectName("previewHead")
        self.title = ElidedLabel(head)
        self.title.setFont(theme.font(1.0, bold=True))
        self.place = ElidedLabel(head)
        self.place.setProperty("kind", "faint")
        self.place.setFont(theme.font(0.88))
        self.counter = QLabel(head)
        self.counter.setProperty("kind", "faint")
        self.counter.setFont(theme.font(0.88))
        self.counter.setToolTip(words.search.STEP_HINT)
        lines = QVBoxLayout()
        lines.setSpacing(1)
        lines.addWidget(self.title)
        lines.addWidget(self.place)
        row = QHBoxLayout(head)
        row.setContentsMargins(18, 9, 14, 9)
        row.addLayout(lines, 1)
        row.addWidget(self.counter, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.view = TranscriptView(theme, self)
        self.view.setAccessibleName(words.search.PREVIEW)
        self.view.link_clicked.connect(self.link_clicked)
        self.empty = QLabel(words.search.PREVIEW_EMPTY, self)
        self.empty.setProperty("kind", "faint")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._head = head
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(head)
        box.addWidget(self.view, 1)
        box.addWidget(self.empty, 1)
        self._clear()

    def attach(self, history: History | None) -> None:
        """Read from this engine from now on."""
        self._history = history

    def show_row(self, row: Row | None, query: str) -> None:
        """Show what surrounds a row, after a short rest."""
        same = row is not None and self._row is not None and row.key == self._row.key
        self._row = row
        if same and query == self._query:
            return
        if same and self.reading is not None:
            self._query = query
            self.view.look_for(query)
            self._count_places()
            return
        self._query = query
        if row is None:
            self._rest.stop()
            self._lane.cancel()
            self._clear()
            return
        self._rest.start()

    def step(self, direction: int) -> None:
        """Go to the next match, or the one before."""
        if self._places:
            self._at = (self._at + direction) % len(self._places)
            self.view.go_to(self._places[self._at])
            self._say_place()

    def _clear(self) -> None:
        self.reading = None
        self._places, self._at = (), -1
        self._head.hide()
        self.view.hide()
        self.empty.show()

    def _ask(self) -> None:
        history, row = self._history, self._row
        if history is None or row is None:
            return
        if isinstance(row, HitRow):
            chunk = row.hit.chunk_id
            self._lane.run(lambda _: history.get_context([chunk], before=BEFORE, after=AFTER), self._came, self._failed)
        elif isinstance(row, SessionItem):
            session = row.session.session_id
            self._lane.run(lambda _: history.get_session(session, limit=OPENING), self._came, self._failed)
        elif isinstance(row, RecordItem):
            self._lane.run(
                lambda _: preview_of(history, row.id), lambda found: self._record_came(row, found), self._failed
            )

    def _came(self, reading: Reading) -> None:
        self.reading = reading
        session = reading.session
        parts = [shown.one_line(session.project or "", 120), shown.one_line(session.branch or "", 40),
                 "" if session.on_disk else words.search.ONLY_HERE_SHORT]  # fmt: skip
        self._name(shown.one_line(session.title or words.shared.UNTITLED, 200), parts)
        hit = next((number for number, each in enumerate(reading.messages) if each.in_hit), 0)
        self.view.show_messages(ListSource(reading.messages), query=self._query, at=0)
        self._count_places()
        first = next((number for number, place in enumerate(self._places) if place.message >= hit), -1)
        self._at = first
        if first >= 0:
            self.view.go_to(self._places[first])
        elif hit:
            self.view.scroll_to(hit, context=12)
        self._say_place()

    def _record_came(self, row: RecordItem, record: MessageView) -> None:
        self.reading = None
        self._name(row.title, [row.about, row.id])
        self.view.show_messages(ListSource((record,)), query=self._query, at=0)
        self._count_places()

    def _name(self, title: str, parts: list[str]) -> None:
        """Show what is previewed, and where it stands."""
        self.title.set_text(title)
        self.place.set_text(" · ".join(part for part in parts if part))
        self._head.show()
        self.empty.hide()
        self.view.show()

    def _count_places(self) -> None:
        self._places = self.view.places()
        self._at = 0 if self._places else -1
        self._say_place()

    def _say_place(self) -> None:
        self.counter.setText(words.search.match_of(self._at + 1, len(self._places)) if self._places else "")

    def _failed(self, error: Exception) -> None:
        log_bug(error)
        self._clear()
        trouble = trouble_of(error)
        self.empty.setText(f"{trouble.title}. {trouble.text}")
