"""Damaged archive files: every whole frame comes back, and what is lost is named."""

from __future__ import annotations

import io
import json
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.archive.frames import FRAME_BYTES, Frame, Lost, encode, frames, new_compressor, salvaged
from engine.archive.places import Stored, place_of
from tests.engine.archive.conftest import LABEL, Archive

if TYPE_CHECKING:
    from pathlib import Path

SESSION = "-home-dev-api/11111111-1111-4111-8111-111111111111.jsonl"
COUNT = 6
FRAME = 1_000


def source() -> bytes:
    chance = random.Random(8)
    return b"".join(
        json.dumps({"n": number, "x": chance.randbytes(20).hex()}).encode() + b"\n" for number in range(200)
    )[: COUNT * FRAME]


def stored() -> tuple[bytearray, list[Frame]]:
    """Return an archive file of some frames, and where they are."""
    data, compressor = source(), new_compressor()
    file = bytearray()
    for offset in range(0, len(data), FRAME):
        file += encode(data[offset : offset + FRAME], offset, 0, compressor)
    found = list(frames(io.BytesIO(file), len(file)))
    assert len(found) == COUNT
    return file, found


def read(file: bytes) -> tuple[list[tuple[int, bytes]], list[Lost]]:
    """Return what comes back of a file, each with its offset, and what is lost."""
    parts = list(salvaged(io.BytesIO(file), len(file)))
    lost = [each for each in parts if isinstance(each, Lost)]
    return [(each[0].offset, each[1]) for each in parts if not isinstance(each, Lost)], lost


def without(*numbers: int) -> list[tuple[int, bytes]]:
    """Return the frames as they should come back, some missing."""
    data = source()
    return [(n * FRAME, data[n * FRAME : (n + 1) * FRAME]) for n in range(COUNT) if n not in numbers]


def test_a_whole_file_comes_back_whole() -> None:
    assert read(bytes(stored()[0])) == (without(), [])


@pytest.mark.parametrize("number", range(COUNT))
def test_a_damaged_frame_is_lost_alone(number: int) -> None:
    file, found = stored()
    file[found[number].next_position - 9] ^= 0x40

    assert read(bytes(file)) == (without(number), [Lost(number * FRAME, FRAME)])


@pytest.mark.parametrize("number", range(COUNT))
@pytest.mark.parametrize("byte", [0, 4, 8, 12, 16, 17, 24, 28, 32])
def test_a_damaged_header_costs_its_own_frame_at_most(number: int, byte: int) -> None:
    """Magic, size, tag, generation, offset (in front and far behind), length, stored length, hash."""
    file, found = stored()
    file[found[number].position + byte] ^= 0x05

    back, lost = read(bytes(file))

    assert [each for each in without(number) if each not in back] == []
    assert {data for _, data in back} <= {data for _, data in without()}
    if number < COUNT - 1:
        # Behind the last frame nothing tells whether what its header says is true.
        assert set(back) <= set(without())
        assert sum(len(data) for _, data in back) + sum(each.length or 0 for each in lost) == COUNT * FRAME


def test_what_was_cut_out_of_the_middle_is_named() -> None:
    file, found = stored()
    del file[found[1].position + 70 : found[3].position + 30]

    assert read(bytes(file)) == (without(1, 2, 3), [Lost(FRAME, 3 * FRAME)])


def test_whole_frames_that_were_cut_out_are_named() -> None:
    file, found = stored()
    del file[found[2].position : found[4].position]

    assert read(bytes(file)) == (without(2, 3), [Lost(2 * FRAME, 2 * FRAME)])


def test_a_torn_end_is_named_though_nothing_tells_how_much_is_missing() -> None:
    file, found = stored()

    assert read(bytes(file[: found[5].position + 100])) == (without(5), [Lost(5 * FRAME, None)])


def test_a_file_of_something_else_gives_nothing_back() -> None:
    assert read(b"something else" * 99) == ([], [Lost(0, None)])


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=6))
def test_any_damage_gives_only_true_bytes_back_and_all_frames_it_did_not_touch(damage: list[tuple[int, int]]) -> None:
    file, found = stored()
    touched: set[int] = set()
    for place, value in damage:
        at = place % len(file)
        if file[at] != value:
            file[at] = value
            touched |= {n for n, each in enumerate(found) if each.position <= at < each.next_position}

    back, _ = read(bytes(file))

    assert {data for _, data in back} <= {data for _, data in without()}
    # A frame that cannot be told from one that claims a wrong place is left out with it.
    assert len(back) >= COUNT - 2 * len(touched)


def damage_second_frame(archive: Archive) -> tuple[bytes, Path]:
    """Archive a transcript of several full frames, delete it, and damage the second one's header."""
    data = b"".join(b'{"line": "%06d %s"}\n' % (n, random.Random(n).randbytes(40).hex().encode()) for n in range(9_000))
    archive.write(SESSION, data)
    archive.archiver.store()
    place = place_of(archive.folder, Stored(LABEL, SESSION, 0))
    (archive.root / SESSION).unlink()
    with place.open("r+b") as file:
        second = list(frames(file, place.stat().st_size))[1]
        file.seek(second.position)
        file.write(b"\0" * 20)
    return data, place


@pytest.mark.expect_log("An archive file is damaged")
def test_everything_behind_a_gap_can_still_be_read_and_restored(archive: Archive) -> None:
    data, _ = damage_second_frame(archive)
    target = io.BytesIO()

    length, lost = archive.reader.copy(LABEL, SESSION, 0, target)

    assert lost == (Lost(FRAME_BYTES, FRAME_BYTES),)
    assert target.getvalue() == data[:FRAME_BYTES] + b"\n" + data[2 * FRAME_BYTES :]
    assert length == len(data) - FRAME_BYTES
    assert archive.reader.read(LABEL, SESSION, 0, 2 * FRAME_BYTES + 5, 900) == data[2 * FRAME_BYTES + 5 :][:900]
    assert archive.reader.read(LABEL, SESSION, 0, FRAME_BYTES - 50, 100) is None
    assert archive.reader.verify(LABEL, SESSION, 0) == FRAME_BYTES


@pytest.mark.expect_log("An archive file is damaged")
def test_a_damaged_file_read_as_a_transcript_keeps_every_byte_in_its_place(archive: Archive) -> None:
    data, _ = damage_second_frame(archive)

    with archive.reader.as_file(LABEL, SESSION, 0) as file:
        read = file.read_bytes()

    assert len(read) == len(data)
    assert read[:FRAME_BYTES] == data[:FRAME_BYTES]
    assert read[2 * FRAME_BYTES :] == data[2 * FRAME_BYTES :]
    assert read[FRAME_BYTES : 2 * FRAME_BYTES] == b"\n" + bytes(FRAME_BYTES - 2) + b"\n"


def test_the_only_copy_is_never_cut_at_its_damage(archive: Archive) -> None:
    _, place = damage_second_frame(archive)
    with place.open("ab") as file:
        file.write(b"torn")
    damaged = place.read_bytes()

    archive.again().store()

    assert place.read_bytes() == damaged
