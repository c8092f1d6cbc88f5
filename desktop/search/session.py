"""A whole session inside the search window: loaded page by page, searched, copied, exported, resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from desktop import format as shown
from desktop import words
from desktop.errors import log_bug, trouble_of
from desktop.search.document import plain_text
from desktop.search.marks import Place
from desktop.search.transcript import TranscriptView
from desktop.widgets import ElidedLabel, button, set_kind
from engine.search.query import read_query
from engine.search.snippets import matches_in

if TYPE_CHECKING:
    import threading

    from desktop.history import History
    from desktop.tasks import Tasks
    from desktop.theme import Theme
    from engine.core.models.sessions import MessageView, Reading, SessionRow

PAGE: Final = 60
FIND_PAGE: Final = 500
KEPT_PAGES: Final = 12
"""Pages kept in memory: a page of a long session is about 1 MB of text."""
MAX_FOUND: Final = 2000
"""Matches after which no further page is looked through."""


class PagedSource(QObject):
    """The messages of a session, loaded around what is looked at."""

    loaded = Signal()
    failed = Signal(object)

    def __init__(self, tasks: Tasks, history: History, session_id: str) -> None:
        super().__init__()
        self._history = history
        self._session = session_id
        self._lane = tasks.lane()
        self._pages: dict[int, tuple[MessageView, ...]] = {}
        self._asked: int | None = None
        self._total = 0
        self.hit: str | None = None

    @property
    def total(self) -> int:
        """How many messages the session has."""
        return self._total

    def message(self, index: int) -> MessageView | None:
        """Return a message when its page is there."""
        page = self._pages.get(index // PAGE)
        place = index % PAGE
        return page[place] if page is not None and place < len(page) else None

    def wanted(self, first: int, last: int) -> None:
        """Load the page that is looked at, then its neighbours."""
        if not self._total:
            return
        last_page = (self._total - 1) // PAGE
        near = [first // PAGE, last // PAGE, last // PAGE + 1, first // PAGE - 1]
        missing = [page for page in near if 0 <= page <= last_page and page not in self._pages]
        if missing:
            self._load(missing[0])

    def begin(self, reading: Reading) -> None:
        """Take the first page that was read."""
        self._total = reading.position.of
        self._keep(reading.position.index // PAGE, reading)

    def _load(self, page: int) -> None:
        if page == self._asked:
            return
        self._asked = page
        history, session = self._history, self._session
        self._lane.run(
            lambda _: history.get_session(session, offset=page * PAGE, limit=PAGE, include_sidechains=True),
            lambda reading: self._came(page, reading),
            self._broke,
        )

    def _came(self, page: int, reading: Reading) -> None:
        self._asked = None
        self._total = reading.position.of
        self._keep(page, reading)
        self.loaded.emit()

    def _broke(self, error: Exception) -> None:
        self._asked = None
        self.failed.emit(error)

    def _keep(self, page: int, reading: Reading) -> None:
        self._pages.pop(page, None)
        self._pages[page] = reading.messages
        while len(self._pages) > KEPT_PAGES:
            # The page read longest ago; it is read again when somebody scrolls back.
            self._pages.pop(next(iter(self._pages)))


class SessionView(QFrame):
    """Shows a session."""

    closed = Signal()
    link_clicked = Signal(str)
    troubled = Signal(object)
    """A `Trouble`."""

    def __init__(self, theme: Theme, tasks: Tasks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._opening = tasks.lane()
        self._finding = tasks.lane()
        self._history: History | None = None
        self._source: PagedSource | None = None
        self.session: SessionRow | None = None
        self._found: list[tuple[int, int]] = []
        self._at = -1
        self._pending: tuple[int, int] | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(200)
        self._rest.timeout.connect(self._find_now)
        self.back = button(words.shared.BACK, self.closed.emit, "link")
        self.back.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.title = ElidedLabel()
        self.title.setFont(theme.font(1.05, bold=True))
        self.facts = ElidedLabel()
        self.facts.setProperty("kind", "faint")
        self.facts.setFont(theme.font(0.88))
        self.find_field = QLineEdit()
        self.find_field.setPlaceholderText(words.search.FIND_HINT)
        self.find_field.setAccessibleName(words.search.FIND_HINT)
        self.find_field.setMaximumWidth(220)
        self.find_field.setClearButtonEnabled(True)
        self.find_field.textChanged.connect(self._rest_first)
        self.find_field.installEventFilter(self)
        self.counter = QLabel()
        self.counter.setProperty("kind", "faint")
        names = QVBoxLayout()
        names.setSpacing(1)
        names.addWidget(self.title)
        names.addWidget(self.facts)
        head = QFrame(self)
        head.setObjectName("bar")
        row = QHBoxLayout(head)
        row.setContentsMargins(12, 9, 14, 9)
        row.setSpacing(10)
        row.addWidget(self.back)
        row.addLayout(names, 1)
        row.addWidget(self.counter)
        row.addWidget(self.find_field)
        self.view = TranscriptView(theme, self)
        self.view.link_clicked.connect(self.link_clicked)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(head)
        box.addWidget(self.view, 1)

    def attach(self, history: History | None) -> None:
        """Read from this engine from now on."""
        self._history = history

    def open(self, session_id: str, *, at: str | None = None, query: str = "") -> None:
        """Show a session from its beginning, or at a hit or message.

        Args:
            session_id: Which.
            at: A chunk id or message uuid in it.
            query: Words to mark.
        """
        history = self._history
        if history is None:
            return
        self.session = None
        self.title.set_text(words.shared.LOADING)
        self.facts.set_text("")

        def work(_cancelled: threading.Event) -> tuple[Reading, int, str | None]:
            index, uuid = 0, None
            if at is not None:
                around = history.get_context([at], before=0, after=0)
                hit = around.messages[0] if around.messages else None
                uuid = hit.message_uuid if hit is not None else None
                # Positions count without subagents; the page is read with them, so the hit is looked for from there.
                index = around.position.index
                if hit is not None and hit.is_sidechain:
                    index = _index_of(history, session_id, hit.message_uuid)
            page = index // PAGE
            reading = history.get_session(session_id, offset=page * PAGE, limit=PAGE, include_sidechains=True)
            return reading, index, uuid

        self._opening.run(work, lambda found: self._opened(history, *found, query), self._failed)

    def step(self, direction: int) -> None:
        """Go to the next match, or the one before."""
        if self._found:
            self._at = (self._at + direction) % len(self._found)
            self._go()

    def focus_find(self) -> None:
        """Put the cursor into the find field."""
        self.find_field.setFocus()
        self.find_field.selectAll()

    def copied_text(self) -> str:
        """Return the selection, or the message at the top edge."""
        return self.view.selected_text or self.view.text_of(self.view.first_visible)

    def current_message(self) -> MessageView | None:
        """Return the message at the top edge."""
        return self._source.message(self.view.first_visible) if self._source is not None else None

    def _opened(self, history: History, reading: Reading, index: int, uuid: str | None, query: str) -> None:
        session = reading.session
        self.session = session
        self.title.set_text(shown.one_line(session.title or words.shared.UNTITLED, 200))
        parts = [shown.one_line(session.project or "", 120), shown.one_line(session.branch or "", 40),
                 shown.absolute(session.started_at), words.amounts.messages(session.messages),
                 "" if session.on_disk else words.search.ONLY_HERE_SHORT]  # fmt: skip
        self.facts.set_text(" · ".join(part for part in parts if part))
        source = PagedSource(self._tasks, history, session.session_id)
        source.begin(reading)
        source.loaded.connect(self._loaded)
        source.failed.connect(self._failed)
        self._source = source
        if uuid is not None:
            offset = reading.position.index
            places = [offset + number for number, each in enumerate(reading.messages) if each.message_uuid == uuid]
            index = places[0] if places else index
        self.view.show_messages(source, query=query, at=index)
        if uuid is not None:
            self.view.scroll_to(index, context=60)
        self.find_field.blockSignals(True)
        self.find_field.setText(query)
        self.find_field.blockSignals(False)
        self._find_now(start=index)
        self.view.setFocus()

    def _loaded(self) -> None:
        self.view.refresh()
        if self._pending is not None:
            message, mark = self._pending
            if self._source is not None and self._source.message(message) is not None:
                self._pending = None
                self.view.go_to(Place(message, mark))

    def _rest_first(self, _text: str) -> None:
        self._rest.start()

    def _find_now(self, *, start: int | None = None) -> None:
        """Look through the whole session in the background."""
        text = self.find_field.text()
        self.view.look_for(text)
        self._found, self._at = [], -1
        self._say_place()
        query = read_query(text[:1000])
        history, session = self._history, self.session
        if history is None or session is None or not query.terms:
            self._finding.cancel()
            return
        session_id = session.session_id
        first = self.view.first_visible if start is None else start

        def work(cancelled: threading.Event) -> list[tuple[int, int]]:
            found: list[tuple[int, int]] = []
            offset: int | None = 0
            while offset is not None and not cancelled.is_set() and len(found) < MAX_FOUND:
                page = history.get_session(session_id, offset=offset, limit=FIND_PAGE, include_sidechains=True)
                for number, message in enumerate(page.messages):
                    hits = len(matches_in(plain_text(message)[:50_000], query))
                    found += [(offset + number, mark) for mark in range(hits)]
                offset = page.next_offset
            return found

        self._finding.run(work, lambda found: self._found_all(found, first), self._failed)

    def _found_all(self, found: list[tuple[int, int]], first: int) -> None:
        self._found = found
        self._at = next((number for number, place in enumerate(found) if place[0] >= first), 0 if found else -1)
        if found:
            self._go()
        else:
            self._say_place()

    def _go(self) -> None:
        message, mark = self._found[self._at]
        self._say_place()
        if self._source is not None and self._source.message(message) is None:
            self._pending = (message, mark)
            self.view.scroll_to(message, context=80)
            self._source.wanted(message, message)
            return
        self.view.column.open_folds_with_match(message)
        self.view.go_to(Place(message, min(mark, max(0, self.view.marks_of(message) - 1))))

    def _say_place(self) -> None:
        if self._found:
            self.counter.setText(
                words.search.match_of(self._at + 1, len(self._found), or_more=len(self._found) >= MAX_FOUND)
            )
            set_kind(self.counter, "faint")
        else:
            self.counter.setText(
                words.search.NO_MATCH if self.find_field.text().strip() and not self._finding.is_busy else ""
            )

    def _failed(self, error: Exception) -> None:
        log_bug(error)
        self.troubled.emit(trouble_of(error))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter in the find field steps, Escape leaves it."""
        if watched is self.find_field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.view.setFocus()
                return True
        return super().eventFilter(watched, event)


def _index_of(history: History, session_id: str, uuid: str) -> int:
    """Return where a message stands in a session that is read with its subagents."""
    offset: int | None = 0
    while offset is not None:
        page = history.get_session(session_id, offset=offset, limit=FIND_PAGE, include_sidechains=True)
        for number, message in enumerate(page.messages):
            if message.message_uuid == uuid:
                return offset + number
        offset = page.next_offset
    return 0
