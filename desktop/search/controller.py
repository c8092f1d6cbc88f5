"""Asks the engine for what is typed and keeps the rows: debounced, newest wins, semantic hits merged in when ready.

Knows no widget. Everything it shows goes out as rows and one `Report`; everything is asked on worker threads.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from desktop import words
from desktop.errors import Trouble, log_bug, trouble_of
from desktop.search import query as typed
from desktop.search import records, rows
from desktop.search.report import Report, report_of
from desktop.search.timing import DEBOUNCE_MS, MEANING_MS, SLOW_MS, Repaint, single_shot
from engine.core.models.asking import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.history import History
    from desktop.search.query import Chip
    from desktop.search.records import Records
    from desktop.search.report import Mode
    from desktop.search.rows import Row
    from desktop.tasks import Tasks
    from engine.core.models.hits import Hit, SearchReply
    from engine.core.models.sessions import SessionList, SessionRow

PAGE: Final = 40
RECENT: Final = 10

_METHODS: Final[dict[Mode, str]] = {
    "hybrid": "hybrid_search",
    "keyword": "keyword_search",
    "semantic": "semantic_search",
}


class SearchController(QObject):
    """Keeps the rows.

    Args:
        tasks: Threads.
        now: Seconds since 1970.
    """

    rows_changed = Signal(object, bool)
    """The rows, and whether there is a further page."""
    reported = Signal(object)
    """A `Report`."""

    def __init__(self, tasks: Tasks, now: Callable[[], float]) -> None:
        super().__init__()
        self._tasks = tasks
        self._now = now
        self._history: History | None = None
        self.text = ""
        self.chips: tuple[Chip, ...] = ()
        self.mode: Mode = "hybrid"
        self.everything = False
        self.pins: tuple[SessionRow, ...] = ()
        self.report = Report()
        self._hits: tuple[Hit, ...] = ()
        self._recent: tuple[SessionRow, ...] = ()
        self._expanded: set[str] = set()
        self._next_offset: int | None = None
        self._asked: SearchRequest | None = None
        self._selected_session: str | None = None
        self._answers = tasks.lane()
        self._meanings = tasks.lane()
        self._recents = tasks.lane()
        self._pages = tasks.lane()
        self._debounce = single_shot(self, DEBOUNCE_MS, self.ask_now)
        self._pause = single_shot(self, MEANING_MS, self._ask_more)
        self._slow = single_shot(self, SLOW_MS, self._say_slow)
        self._repaint = Repaint(self._emit_hits)
        self._is_rested = True
        self._rest = single_shot(self, DEBOUNCE_MS, self._rested)

    def _rested(self) -> None:
        self._is_rested = True

    # What is wanted ------------------------------------------------------------------------------------------------

    def attach(self, history: History | None) -> None:
        """Ask this engine from now on; none while it starts."""
        self._history = history
        self.ask_now()

    @property
    def history(self) -> History | None:
        """The engine's front door, while there is one."""
        return self._history

    def can(self, mode: Mode) -> bool:
        """Return whether the engine searches this way."""
        return self._history is not None and _METHODS[mode] in self._history.methods

    def set_text(self, text: str) -> None:
        """Take what is typed; the question follows after a short rest."""
        if text == self.text:
            return
        self.text = text
        self._expanded.clear()
        self._pause.stop()
        self._meanings.cancel()
        if self._is_rested:
            # The first key after a rest needs no waiting for more: those that follow at once wait for each other.
            self.ask_now()
        else:
            self._debounce.start()
        self._is_rested = False
        self._rest.start()

    def set_chips(self, chips: tuple[Chip, ...]) -> None:
        """Take other filters."""
        if chips != self.chips:
            self.chips = chips
            self.ask_now()

    def set_mode(self, mode: Mode) -> None:
        """Search another way."""
        if mode != self.mode:
            self.mode = mode
            self.ask_now()

    def set_everything(self, everything: bool) -> None:  # noqa: FBT001 - a switch's slot
        """Show low-signal hits and subagents, too."""
        if everything != self.everything:
            self.everything = everything
            self.ask_now()

    def set_pins(self, pins: tuple[SessionRow, ...]) -> None:
        """Show other pinned sessions."""
        self.pins = pins
        if self._is_listing:
            self._show_sessions()

    def expand(self, session_id: str, *, is_open: bool) -> None:
        """Show the further hits of a session, or fold them."""
        if is_open:
            self._expanded.add(session_id)
        else:
            self._expanded.discard(session_id)
        self._repaint.ask()

    def select(self, session_id: str | None) -> None:
        """Be told which session's row is selected: nothing moves above it."""
        self._selected_session = session_id

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What was found so far."""
        return self._hits

    @property
    def words(self) -> str:
        """What is looked for, without filters."""
        return typed.read(self.text).words

    @property
    def all_chips(self) -> tuple[Chip, ...]:
        """The filters, those still being typed included."""
        chips = self.chips
        for chip in typed.read(self.text).chips:
            chips = typed.with_chip(chips, chip)
        return chips

    @property
    def _is_listing(self) -> bool:
        return not self.words.strip() and not self.all_chips

    # Asking --------------------------------------------------------------------------------------------------------

    def ask_now(self) -> None:
        """Ask for what is typed, without waiting for more."""
        self._debounce.stop()
        self._pause.stop()
        self._meanings.cancel()
        self._pages.cancel()
        if self._history is None:
            self._hits, self._asked = (), None
            self.rows_changed.emit((), False)
            self._say(Report())
            return
        if self._is_listing:
            self._list()
            return
        self._recents.cancel()
        wanted = typed.wanted(self.all_chips, everything=self.everything, now=self._here())
        if wanted.problem is not None:
            self._answers.cancel()
            self._fail(Trouble(wanted.problem, ""))
            return
        if wanted.in_knowledge:
            self._ask_knowledge()
            return
        if not self.words.strip():
            self._list_filtered(wanted)
            return
        mode: Mode = "semantic" if self.mode == "semantic" and self.can("semantic") else "keyword"
        request = SearchRequest(
            query=self.words[:10_000],
            mode=mode,
            filters=wanted.filters,
            limit=PAGE,
            prefix_last=True,
            # A word that is not finished is no typing error yet; that is looked into when the person pauses.
            fuzzy_fallback=False,
        )
        self._asked = request
        self._slow.start()
        history = self._history
        self._answers.run(lambda _: history.search(request), lambda reply: self._answered(request, reply), self._failed)
        self._pause.start()

    def more(self) -> None:
        """Ask for the next page."""
        history, request, offset = self._history, self._asked, self._next_offset
        if history is None or request is None or offset is None:
            return
        self._next_offset = None
        following = replace(request, offset=offset)
        self._pages.run(lambda _: history.search(following), self._page_came, self._failed)

    def refresh(self) -> None:
        """Something was indexed: show it, unless the person is reading further down."""
        if self._is_listing:
            self._list()
        elif not self._hits and not self._answers.is_busy:
            self.ask_now()

    def _ask_more(self) -> None:
        """The person pauses: ask by meaning, too, and look for a typing error where nothing was found."""
        history, asked = self._history, self._asked
        if history is None or asked is None:
            return
        if self.mode == "hybrid" and self.can("hybrid"):
            request = replace(asked, mode="hybrid", prefix_last=False, fuzzy_fallback=True)
        elif self._hits or self._answers.is_busy:
            return
        else:
            request = replace(asked, fuzzy_fallback=True)
        self._slow.start()
        self._meanings.run(
            lambda _: history.search(request), lambda reply: self._more_came(asked, request, reply), self._failed
        )

    def _list(self) -> None:
        history = self._history
        if history is None:
            return
        self._answers.cancel()
        self._slow.stop()
        self._asked, self._next_offset, self._hits = None, None, ()
        if self._recent or self.pins:
            self._show_sessions()
        self._recents.run(lambda _: history.list_sessions(limit=RECENT), self._listed, self._failed)

    def _list_filtered(self, wanted: typed.Wanted) -> None:
        """Only filters are typed: the sessions they fit."""
        history = self._history
        if history is None:
            return
        self._answers.cancel()
        self._asked, self._next_offset, self._hits = None, None, ()
        project, start, end = wanted.filters.project, wanted.filters.date_from, wanted.filters.date_to
        self._recents.run(
            lambda _: history.list_sessions(project=project, date_from=start, date_to=end, limit=PAGE),
            self._filtered_listed,
            self._failed,
        )

    def _ask_knowledge(self) -> None:
        history, text = self._history, self.words
        if history is None:
            return
        self._answers.cancel()
        self._hits, self._asked, self._next_offset = (), None, None
        self._slow.start()
        self._recents.run(lambda _: records.ask(history, text), self._recorded, self._failed)

    # Answers -------------------------------------------------------------------------------------------------------

    def _answered(self, request: SearchRequest, reply: SearchReply) -> None:
        self._hits = reply.hits
        self._next_offset = reply.next_offset
        self._selected_session = None
        if not self._pause.isActive() and not self._meanings.is_busy:
            self._slow.stop()
        self._repaint.ask()
        self._say(self._report_of(request, reply))

    def _more_came(self, asked: SearchRequest, request: SearchRequest, reply: SearchReply) -> None:
        if self._asked is not asked:
            return
        self._slow.stop()
        self._hits = rows.merged(self._hits, reply.hits, self._selected_session)
        self._next_offset = None
        self._repaint.ask()
        report, by_words = self._report_of(request, reply), self.report
        if (by_words.total or 0) >= (report.total or 0):
            report = replace(report, total=by_words.total, total_is=by_words.total_is)
        self._say(report)

    def _page_came(self, reply: SearchReply) -> None:
        known = {hit.chunk_id for hit in self._hits}
        self._hits = (*self._hits, *(hit for hit in reply.hits if hit.chunk_id not in known))
        self._next_offset = reply.next_offset
        self._repaint.ask()

    def _listed(self, found: SessionList) -> None:
        self._recent = found.sessions
        self._show_sessions()
        self._say(Report(has_history=found.total > 0 or bool(self.pins)))

    def _filtered_listed(self, found: SessionList) -> None:
        self.rows_changed.emit(rows.sessions((), found.sessions, ("", words.amounts.sessions(found.total))), False)
        self._say(Report(is_empty=not found.sessions, note=found.note))

    def _recorded(self, found: Records) -> None:
        self._slow.stop()
        self.rows_changed.emit(found.rows, False)
        self._say(
            Report(records=found.total if self.words.strip() else None, is_empty=not found.rows, empty=found.note)
        )

    def _report_of(self, request: SearchRequest, reply: SearchReply) -> Report:
        return report_of(request, reply, self.mode, can_search_so=self.can(self.mode), everything=self.everything)

    def _failed(self, error: Exception) -> None:
        log_bug(error)
        self._fail(trouble_of(error), needs_doctor=True)

    def _fail(self, problem: Trouble, *, needs_doctor: bool = False) -> None:
        self._slow.stop()
        self._hits, self._next_offset = (), None
        self.rows_changed.emit((), False)
        self._say(Report(problem=problem, needs_doctor=needs_doctor))

    # Showing -------------------------------------------------------------------------------------------------------

    def _show_sessions(self) -> None:
        self.rows_changed.emit(
            rows.sessions(self.pins, self._recent, (words.search.PINNED, words.search.RECENT)), False
        )

    def _emit_hits(self) -> None:
        if self._asked is not None:
            made: tuple[Row, ...] = rows.grouped(self._hits, self._expanded)
            self.rows_changed.emit(made, self._next_offset is not None)

    def _say_slow(self) -> None:
        if self._answers.is_busy or self._meanings.is_busy or self._recents.is_busy:
            self._say(replace(self.report, is_slow=True))

    def _say(self, report: Report) -> None:
        self.report = report
        self.reported.emit(report)

    def _here(self) -> datetime:
        return datetime.fromtimestamp(self._now(), UTC).astimezone()
