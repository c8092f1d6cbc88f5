from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.search.memory import MAX_QUERIES, MemoryFile, Remembered
from tests.desktop.fakes import session_row

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_remembered_is_read_back(tmp_path: Path) -> None:
    file = MemoryFile(tmp_path / "state" / "desktop.json")
    memory = Remembered(pins=(session_row(1),), queries=("a", "ü"), size=(900, 560), preview=False, greeted=True)
    file.write(memory)
    assert file.read() == memory


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pins": [{"odd": 1}]}', '{"size": "x"}', '{"queries": 3}'])
def test_a_damaged_memory_counts_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "desktop.json").write_text(content, encoding="utf-8")
    assert MemoryFile(tmp_path / "desktop.json").read() == Remembered()


def test_a_query_is_remembered_once_and_only_so_many() -> None:
    memory = Remembered()
    for text in ["a", "b", "a", "  "]:
        memory = memory.with_query(text)
    assert memory.queries == ("b", "a")
    for number in range(200):
        memory = memory.with_query(str(number))
    assert len(memory.queries) == MAX_QUERIES
    assert memory.queries[-1] == "199"


def test_pinning_again_takes_the_pin_out() -> None:
    memory = Remembered().with_pin(session_row(1)).with_pin(session_row(2))
    assert [pin.session_id[:8] for pin in memory.pins] == ["00000002", "00000001"]
    assert [pin.session_id[:8] for pin in memory.with_pin(session_row(1)).pins] == ["00000002"]
