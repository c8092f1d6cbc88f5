"""Invented histories and stores: the same each time, read without a complaint, found by the words of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.core.models.asking import SearchRequest
from engine.core.paths import Paths
from engine.store.connection import all_rows, open_reader
from tests.benchmarks.history import size_of
from tests.helpers.engines import running_engine
from tests.helpers.invented_history import Made, write_history
from tests.helpers.large_store import fill

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 1_500_000


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Made]:
    projects = tmp_path_factory.mktemp("invented") / "projects"
    return projects, write_history(projects, SIZE)


def contents(projects: Path) -> dict[str, bytes]:
    return {str(file.relative_to(projects)): file.read_bytes() for file in projects.rglob("*.jsonl")}


def test_the_same_seed_writes_the_same_bytes(history: tuple[Path, Made], tmp_path: Path) -> None:
    again = write_history(tmp_path / "again", SIZE)
    assert again == history[1]
    assert contents(tmp_path / "again") == contents(history[0])


def test_a_history_is_as_large_as_wanted_and_read_without_a_complaint(
    history: tuple[Path, Made], tmp_path: Path
) -> None:
    projects, made = history
    assert SIZE <= made.bytes < 1.5 * SIZE
    with running_engine(Paths.below(tmp_path), projects) as engine:
        coverage = engine.api.coverage()
        assert coverage.problems == ()
        assert coverage.lines.unknown_types == {}
        for word in made.words:
            assert engine.api.search(SearchRequest(query=word, mode="keyword", fuzzy_fallback=False)).total >= 1


def test_a_store_that_is_filled_directly_holds_together(tmp_path: Path) -> None:
    paths = Paths.below(tmp_path)
    paths.database.parent.mkdir(parents=True)
    fill(paths.database, 600)
    connection = open_reader(paths.database)
    assert all_rows(connection, "SELECT count(*) FROM chunks c JOIN texts x ON x.id = c.id") == [(600,)]
    assert all_rows(connection, "SELECT count(*) FROM chunks c JOIN messages m ON m.id = c.exchange_id") == [(600,)]
    assert all_rows(connection, "SELECT count(*) FROM search_docsize") == [(600,)]
    connection.close()


@pytest.mark.parametrize(("text", "size"), [("100MB", 100_000_000), ("1.5 gb", 1_500_000_000), ("20kb", 20_000)])
def test_sizes_are_read(text: str, size: int) -> None:
    assert size_of(text) == size


def test_a_size_without_a_unit_is_refused() -> None:
    with pytest.raises(ValueError, match="12"):
        size_of("12")
