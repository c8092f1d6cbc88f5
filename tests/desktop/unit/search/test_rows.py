# pyright: reportUnknownMemberType=false, reportPrivateUsage=false
# pytest-qt leaves the keyword arguments of its keys and mouse untyped; some tests look inside.

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.search import rows
from desktop.search.model import RowsModel, spoken, tooltip
from desktop.search.rows import Heading, HitRow, SessionItem
from tests.desktop.fakes import FakeHistory, session_row

if TYPE_CHECKING:
    from pytestqt.modeltest import ModelTester

    from engine.core.models.hits import Hit


def hits(query: str = "auth") -> tuple[Hit, ...]:
    from engine.core.models.asking import SearchRequest

    return FakeHistory.small().search(SearchRequest(query=query, mode="keyword")).hits


def test_hits_of_one_session_are_grouped_under_its_first() -> None:
    found = rows.grouped(hits(), ())
    assert [(row.session_id[:8], row.more) for row in found] == [("00000001", 1), ("00000002", 0), ("00000003", 0)]


def test_an_expanded_session_shows_all_its_hits() -> None:
    found = rows.grouped(hits(), {hits()[0].session_id})
    assert [(row.inner, row.expanded) for row in found[:3]] == [(False, True), (True, False), (False, False)]


def test_a_better_ranking_moves_nothing_down_to_the_selected_row() -> None:
    shown = hits()
    incoming = tuple(reversed(shown))
    second = rows.grouped(shown, ())[1].session_id
    merged = rows.grouped(rows.merged(shown, incoming, second), ())
    assert [row.session_id[:8] for row in merged] == ["00000001", "00000002", "00000003"]
    nothing_selected = rows.grouped(rows.merged(shown, incoming, None), ())
    assert [row.session_id[:8] for row in nothing_selected] == ["00000003", "00000002", "00000001"]


def test_merging_loses_no_hit_and_doubles_none() -> None:
    shown, incoming = hits(), hits("token")
    merged = rows.merged(shown, incoming, shown[0].session_id)
    assert sorted({hit.chunk_id for hit in merged}) == sorted({hit.chunk_id for hit in (*shown, *incoming)})
    assert len(merged) == len({hit.chunk_id for hit in merged})


def test_pinned_sessions_come_first_and_once() -> None:
    recent = tuple(session_row(number) for number in (3, 2, 1))
    old_pin = session_row(2, title="as it was called then")
    found = rows.sessions((old_pin,), recent, ("Pinned", "Recent"))
    assert [row.key for row in found if isinstance(row, Heading)] == ["heading:Pinned", "heading:Recent"]
    assert [row.session.title for row in found if isinstance(row, SessionItem)] == [
        "Session number 2", "Session number 3", "Session number 1",
    ]  # fmt: skip


def test_the_model_keeps_qts_rules(qtmodeltester: ModelTester) -> None:
    model = RowsModel()
    model.set_rows(rows.grouped(hits(), {hits()[0].session_id}), has_more=True)
    qtmodeltester.check(model)
    model.set_rows((Heading("Recent"), SessionItem(session_row(1))))
    qtmodeltester.check(model)
    model.set_rows(())
    qtmodeltester.check(model)


def test_rows_that_stay_are_not_touched_when_others_come() -> None:
    model = RowsModel()
    first = rows.grouped(hits(), ())
    model.set_rows(first)
    removed: list[tuple[int, int]] = []

    def note(_parent: object, start: int, end: int) -> None:
        removed.append((start, end))

    model.rowsRemoved.connect(note)
    model.set_rows((*first[:2], HitRow(hits("token")[0])))
    assert removed == [(2, 2)]


def test_the_next_page_is_asked_for_once() -> None:
    model = RowsModel()
    model.set_rows(rows.grouped(hits(), ()), has_more=True)
    wanted: list[None] = []
    model.more_wanted.connect(lambda: wanted.append(None))
    root = model.index(-1)
    assert model.canFetchMore(root)
    model.fetchMore(root)
    model.fetchMore(root)
    assert len(wanted) == 1


def test_a_row_is_spoken_whole_and_its_tooltip_says_when() -> None:
    row = rows.grouped(hits(), ())[0]
    assert spoken(row) == "Session number 1. project1. You. How does auth work?. 1 more in this session"
    assert "2026" in (tooltip(row) or "")
    gone = SessionItem(session_row(1, on_disk=False))
    assert "only Backscroll" in (tooltip(gone) or "")
    assert tooltip(Heading("Recent")) is None
