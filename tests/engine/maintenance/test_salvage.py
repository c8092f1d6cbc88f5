"""A damaged archive file that is the only copy: what is whole comes back everywhere, and what is lost is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.archive.frames import Frame, frames
from tests.engine.maintenance.conftest import History, found, session_id

if TYPE_CHECKING:
    from pathlib import Path

STAGES = ("quince", "medlar", "loquat", "damson")

pytestmark = pytest.mark.expect_log("An archive file is damaged")


@pytest.fixture
def stored(history: History) -> Path:
    """Archive a session in four frames, delete its transcript, and return the archive file."""
    for number in range(len(STAGES)):
        history.session(1, *STAGES[: number + 1], days_ago=3)
        with history.engine():
            pass
    history.files[1].unlink()
    place = next(history.paths.archive.rglob("*.jsonl.zst"))
    assert len(frames_of(place)) == len(STAGES)
    return place


def frames_of(place: Path) -> list[Frame]:
    with place.open("rb") as file:
        return list(frames(file, place.stat().st_size))


def flip_content(place: Path) -> None:
    data = bytearray(place.read_bytes())
    data[frames_of(place)[1].next_position - 20] ^= 0xFF
    place.write_bytes(data)


def flip_header(place: Path) -> None:
    data = bytearray(place.read_bytes())
    data[frames_of(place)[1].position + 3] ^= 0xFF
    place.write_bytes(data)


def cut_out(place: Path) -> None:
    data, second = place.read_bytes(), frames_of(place)[1]
    place.write_bytes(data[: second.position + 60] + data[second.next_position - 5 :])


DAMAGES = pytest.mark.parametrize("damage", [flip_content, flip_header, cut_out], ids=lambda each: each.__name__)


@DAMAGES
def test_a_restore_gives_back_every_whole_frame_and_names_the_gap(
    history: History, stored: Path, tmp_path: Path, damage: object
) -> None:
    second = frames_of(stored)[1]
    assert callable(damage)
    damage(stored)
    with history.engine() as engine:
        reply = engine.api.keeping.restore(session_id(1), tmp_path / "back")

    [file] = reply.files
    assert [(gap.offset, gap.bytes) for gap in file.gaps] == [(second.offset, second.length)]
    assert file.damaged
    note = reply.note or ""
    assert f"{second.length:,} bytes are lost, first from byte {second.offset:,}" in note
    text = (tmp_path / "back" / file.file).read_text(encoding="utf-8")
    assert "look at quince" in text
    assert "look at medlar" not in text
    assert "look at loquat" in text
    assert "look at damson" in text


@DAMAGES
def test_an_index_made_from_it_holds_all_whole_lines_and_counts_the_gap(
    history: History, stored: Path, damage: object
) -> None:
    assert callable(damage)
    damage(stored)
    history.paths.database.unlink()
    with history.engine() as engine:
        there = {word for word in STAGES if found(engine, word)}
        lines = engine.api.call("coverage", {})["lines"]
        read = engine.api.get_session(session_id(1)).messages

        assert there == {"quince", "loquat", "damson"}
        assert lines["damaged"] >= 1
        # What stands behind the gap is read back in full, too.
        assert {message.source for message in read} == {"archive"}


def test_lines_that_an_export_cannot_give_back_are_counted(history: History, stored: Path) -> None:
    flip_content(stored)
    with history.engine() as engine:
        reply = engine.api.call("export_session", {"session_id": session_id(1), "format": "jsonl"})

    assert "medlar" not in reply["text"]
    assert "loquat" in reply["text"]
    assert reply["missing"] == 4
    assert "4 lines" in reply["note"]
