# pyright: reportUnknownMemberType=false, reportPrivateUsage=false
# pytest-qt leaves the keyword arguments of its keys and mouse untyped; some tests look inside.

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from desktop import words
from desktop.search.controller import SearchController
from desktop.search.query import Chip
from desktop.search.report import Report
from desktop.search.rows import Heading, HitRow, Row, SessionItem
from engine.core.errors import StorageFailure
from tests.desktop.fakes import EVERYTHING, FakeHistory, message, session_row

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.tasks import Tasks
    from engine.core.models.asking import SearchRequest
    from tests.desktop.fake_system import Moment


class Seen:
    """What the controller has shown."""

    def __init__(self, controller: SearchController) -> None:
        self.controller = controller
        self.rows: tuple[Row, ...] = ()
        self.has_more = False
        self.reports: list[Report] = []
        controller.rows_changed.connect(self._rows)
        controller.reported.connect(self.reports.append)

    def _rows(self, rows: tuple[Row, ...], has_more: bool) -> None:  # noqa: FBT001 - a slot
        self.rows, self.has_more = rows, has_more

    @property
    def last(self) -> Report:
        return self.reports[-1] if self.reports else Report()

    @property
    def sessions(self) -> list[str]:
        return [row.session_id[:8].lstrip("0") for row in self.rows if isinstance(row, HitRow) and not row.inner]


@pytest.fixture
def controller(tasks: Tasks, moment: Moment) -> SearchController:
    return SearchController(tasks, moment)


@pytest.fixture
def seen(controller: SearchController) -> Seen:
    return Seen(controller)


def asked(history: FakeHistory) -> list[SearchRequest]:
    return [argument for method, argument in history.asked if method == "search"]


def by_words(controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot, text: str = "auth") -> None:
    """Ask an engine that searches by words alone, and wait for its rows."""
    history.methods = frozenset({"keyword_search"})
    controller.attach(history)
    controller.set_text(text)
    qtbot.waitUntil(lambda: bool(seen.sessions))


def test_an_empty_field_lists_the_newest_sessions(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    controller.attach(history)
    qtbot.waitUntil(lambda: bool(seen.rows))
    assert isinstance(seen.rows[0], Heading)
    assert [row.session_id[:8] for row in seen.rows[1:]] == ["00000004", "00000003", "00000002", "00000001"]


def test_pinned_sessions_stand_above_the_recent_ones(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    controller.set_pins((session_row(1),))
    controller.attach(history)
    qtbot.waitUntil(lambda: len(seen.rows) == 6)
    assert isinstance(seen.rows[1], SessionItem)
    assert seen.rows[1].pinned


def test_the_first_key_is_asked_about_at_once_and_those_that_follow_it_together(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    history.methods = frozenset({"keyword_search"})
    controller.attach(history)
    controller.set_text("u")
    qtbot.waitUntil(lambda: len(asked(history)) == 1)
    controller._is_rested = False  # however long that took
    for text in ("un", "unr", "aut"):
        controller.set_text(text)
    qtbot.waitUntil(lambda: seen.sessions == ["1", "2", "3"])
    requests = [(each.query, each.mode, each.prefix_last) for each in asked(history)]
    assert requests == [("u", "keyword", True), ("aut", "keyword", True)]
    qtbot.waitUntil(lambda: controller._is_rested)
    controller.set_text("unrelated")
    assert not controller._debounce.isActive()
    qtbot.waitUntil(lambda: seen.sessions == ["4"])


def test_an_answer_that_was_overtaken_is_dropped(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    history.methods = frozenset({"keyword_search"})
    controller.attach(history)
    qtbot.waitUntil(lambda: bool(seen.rows))
    history.gate.clear()
    controller.set_text("auth")
    qtbot.waitUntil(lambda: len(asked(history)) == 1)
    controller.set_text("unrelated")
    history.gate.set()
    qtbot.waitUntil(lambda: seen.sessions == ["4"])
    assert [each.query for each in asked(history)] == ["auth", "unrelated"]


def test_hits_by_meaning_are_merged_in_below_the_selected_row(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    controller.attach(history)
    controller.set_text("auth")
    qtbot.waitUntil(lambda: bool(seen.sessions))
    assert seen.sessions == ["1", "2", "3"]
    controller.select(seen.rows[0].session_id)
    qtbot.waitUntil(lambda: seen.sessions == ["1", "3", "2"])
    assert [each.mode for each in asked(history)] == ["keyword", "hybrid"]


def test_searching_is_only_said_when_it_takes_long(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    history.methods = frozenset({"keyword_search"})
    controller.attach(history)
    qtbot.waitUntil(lambda: bool(seen.rows))
    history.gate.clear()
    controller.set_text("auth")
    assert not any(report.is_slow for report in seen.reports)
    qtbot.waitUntil(lambda: seen.last.is_slow)
    history.gate.set()
    qtbot.waitUntil(lambda: bool(seen.sessions))
    assert not seen.last.is_slow


@dataclass(frozen=True)
class Degraded:
    """An engine that cannot do all, and what is to be said about it."""

    said: str | None
    methods: frozenset[str] = EVERYTHING
    percent: float = 100.0
    reason: str | None = None


@pytest.mark.parametrize(
    "case",
    [
        Degraded("not there yet", methods=frozenset({"keyword_search"})),
        Degraded("Meaning search covers 62 % so far", percent=62.4),
        Degraded("The model is loading.", reason="The model is loading."),
        Degraded(None),
    ],
)
def test_a_degraded_answer_says_why(seen: Seen, history: FakeHistory, qtbot: QtBot, case: Degraded) -> None:
    history.methods, history.percent, history.reason = case.methods, case.percent, case.reason
    history.realised = "keyword" if case.reason else None
    seen.controller.attach(history)
    seen.controller.set_text("auth")
    wanted = 2 if "hybrid_search" in case.methods else 1
    qtbot.waitUntil(lambda: len(asked(history)) == wanted and seen.last.total == 4)
    qtbot.waitUntil(lambda: not seen.controller._meanings.is_busy)
    note = seen.last.note
    assert note is None if case.said is None else case.said in (note or "")


def test_in_keyword_mode_nothing_is_asked_by_meaning(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    controller.attach(history)
    controller.set_mode("keyword")
    controller.set_text("auth")
    qtbot.waitUntil(lambda: bool(seen.sessions))
    assert {each.mode for each in asked(history)} == {"keyword"}
    assert seen.last.note is None


def test_in_meaning_mode_the_engine_is_asked_by_meaning(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    controller.attach(history)
    controller.set_mode("semantic")
    controller.set_text("auth")
    qtbot.waitUntil(lambda: bool(seen.sessions))
    assert {each.mode for each in asked(history)} == {"semantic"}


def test_when_only_low_signal_matches_everything_is_offered(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    history.low_signal = 12
    controller.attach(history)
    controller.set_text("zebra")
    qtbot.waitUntil(lambda: seen.last.offer_everything == 12)
    controller.set_everything(True)
    qtbot.waitUntil(lambda: seen.last.offer_everything == 0)
    assert asked(history)[-1].filters.include_low_signal


def test_a_filter_narrows_and_alone_lists_sessions(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    controller.attach(history)
    controller.set_chips((Chip("project", "project3"),))
    qtbot.waitUntil(lambda: len(seen.rows) == 2)
    assert seen.rows[1].session_id.startswith("00000003")
    controller.set_text("auth")
    qtbot.waitUntil(lambda: bool(asked(history)))
    assert asked(history)[0].filters.project == "project3"
    qtbot.waitUntil(lambda: bool(seen.sessions))


def test_a_wrong_filter_is_said_and_nothing_is_asked(
    controller: SearchController, seen: Seen, history: FakeHistory
) -> None:
    controller.attach(history)
    controller.set_chips((Chip("role", "boss"),))
    problem = seen.last.problem
    assert problem is not None
    assert "role:boss" in problem.title
    assert asked(history) == []


def test_an_error_for_people_is_shown_and_the_next_question_works(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    history.failure = StorageFailure("The index is damaged", "It cannot be read.", "Run doctor.")
    controller.attach(history)
    controller.set_text("auth")
    qtbot.waitUntil(lambda: seen.last.problem is not None)
    problem = seen.last.problem
    assert problem is not None
    assert (problem.title, problem.text) == ("The index is damaged", "It cannot be read. Run doctor.")
    history.failure = None
    controller.ask_now()
    qtbot.waitUntil(lambda: bool(seen.sessions))
    assert seen.last.problem is None


def test_a_session_unfolds_and_folds(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    by_words(controller, seen, history, qtbot)
    first = seen.rows[0].session_id
    controller.expand(first, is_open=True)
    qtbot.waitUntil(lambda: len(seen.rows) == 4)
    assert [row.inner for row in seen.rows if isinstance(row, HitRow)] == [False, True, False, False]
    controller.expand(first, is_open=False)
    qtbot.waitUntil(lambda: len(seen.rows) == 3)
    assert not any(row.inner for row in seen.rows if isinstance(row, HitRow))


def test_the_next_page_is_appended(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    for number in range(5, 29):
        row = session_row(number)
        ids = (f"{number:08x}-0000-4000-8000-{place:012x}" for place in range(2))
        history.add(row, [message(each, row.session_id, "needle") for each in ids])
    by_words(controller, seen, history, qtbot, "needle")
    assert (len(seen.rows), seen.has_more) == (20, True)
    controller.more()
    qtbot.waitUntil(lambda: not seen.has_more)
    assert len(seen.rows) == 24
    assert len({row.key for row in seen.rows}) == 24


@pytest.mark.parametrize(
    ("total_is", "said"), [(None, "4 hits"), ("newest", "at least 4 hits"), ("candidates", "4 candidates")]
)
def test_a_total_that_is_not_every_hit_says_what_it_is(
    seen: Seen, history: FakeHistory, qtbot: QtBot, total_is: str | None, said: str
) -> None:
    history.total_is = total_is
    by_words(seen.controller, seen, history, qtbot)
    assert seen.last.total is not None
    assert words.search.total(seen.last.total, seen.last.total_is) == said


def test_more_hits_by_words_than_candidates_by_meaning_are_still_counted_as_hits(
    controller: SearchController, seen: Seen, history: FakeHistory, qtbot: QtBot
) -> None:
    controller.attach(history)
    controller.set_text("auth")
    qtbot.waitUntil(lambda: len(asked(history)) == 2)
    qtbot.waitUntil(lambda: not controller._meanings.is_busy)
    assert (seen.last.total, seen.last.total_is) == (4, None)


def test_without_an_engine_nothing_is_asked(controller: SearchController, seen: Seen) -> None:
    controller.set_text("auth")
    controller.more()
    controller.refresh()
    assert seen.rows == ()


def test_an_engine_without_sessions_is_told_from_an_empty_answer(
    controller: SearchController, seen: Seen, qtbot: QtBot
) -> None:
    controller.attach(FakeHistory())
    qtbot.waitUntil(lambda: bool(seen.reports))
    assert not seen.last.has_history
