from __future__ import annotations

import hashlib
import io
import json
import os
import random
import shutil
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.archive.archiver import FULL_PASS_S, PATIENCE_S, QUIET_S
from engine.archive.file import DAMAGED_SUFFIX
from engine.archive.frames import FRAME_BYTES, HEADER_BYTES, frames
from engine.archive.places import Stored, place_of
from engine.store import archived, files
from tests.engine.archive.conftest import LABEL, Archive

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SESSION_ID = "11111111-0000-4000-8000-000000000001"
SESSION = f"-home-dev-api/{SESSION_ID}.jsonl"
BESIDE = SESSION.removesuffix(".jsonl")


WORDS = ["schema", "first", "then", "callers", "and", "migration", "of", "orders", "for", "checkout", "review", "again"]


def lines(count: int, seed: int = 1) -> bytes:
    chance = random.Random(seed)
    words = [f"{chance.randrange(1 << 40):x}" for _ in range(40)] + WORDS * 3
    return b"".join(
        json.dumps({"type": "user", "cwd": "/home/dev/api", "text": " ".join(chance.choices(words, k=8))}).encode()
        + b"\n"
        for _ in range(count)
    )


def still_busy(archive: Archive) -> None:
    """Set the clock so that the source was just written and its frames are not joined yet."""
    archive.clock.seconds = (archive.root / SESSION).stat().st_mtime


def place(archive: Archive, path: str = SESSION, generation: int = 0) -> Path:
    return place_of(archive.folder, Stored(LABEL, path, generation))


def test_a_stored_file_is_restored_byte_for_byte(archive: Archive) -> None:
    data = lines(20_000)
    archive.write(SESSION, data)

    assert archive.archiver.store() == len(data)

    assert archive.restored(SESSION) == data
    assert place(archive).name == "11111111-0000-4000-8000-000000000001.jsonl.zst"
    assert place(archive).stat().st_mode & 0o077 == 0
    assert archive.row(SESSION).length == len(data)


def test_any_zstd_program_restores_it(archive: Archive) -> None:
    data = lines(20_000)
    archive.write(SESSION, data[:300_000])
    archive.archiver.store()
    archive.grow(SESSION, data[300_000:])
    archive.archiver.store()

    raw = place(archive).read_bytes()
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(raw), read_across_frames=True) as stream:
        assert stream.read() == data
    if (program := shutil.which("zstdcat")) is not None:
        done = subprocess.run([program, str(place(archive))], capture_output=True, check=True)
        assert done.stdout == data


def test_what_grows_is_appended_and_nothing_is_written_twice(archive: Archive) -> None:
    first, second = lines(10), lines(10, seed=2)
    archive.write(SESSION, first)
    still_busy(archive)
    archive.archiver.store()
    before = place(archive).read_bytes()

    archive.grow(SESSION, second)

    assert archive.archiver.store() == len(second)
    assert place(archive).read_bytes().startswith(before)
    assert archive.archiver.store() == 0
    assert archive.restored(SESSION) == first + second


def test_everything_that_belongs_to_a_session_is_stored(archive: Archive) -> None:
    kept = {
        SESSION: lines(3),
        f"{BESIDE}/subagents/agent-a1b2c3.jsonl": lines(3, seed=2),
        f"{BESIDE}/subagents/agent-a1b2c3.meta.json": b'{"agentType":"Explore"}',
        f"{BESIDE}/tool-results/toolu_1.txt": b"row\n" * 1000,
        "-home-dev-api/agent-12345678.jsonl": lines(3, seed=3),
    }
    left = {"-home-dev-api/memory/MEMORY.md": b"# no", "-home-dev-api/sessions-index.json": b"{}"}
    for path, data in {**kept, **left}.items():
        archive.write(path, data)

    archive.archiver.store()

    assert {stored.path for stored, _ in archive.reader.stored()} == set(kept)
    assert {path: archive.restored(path) for path in kept} == kept


def test_an_empty_file_leaves_nothing(archive: Archive) -> None:
    archive.write(SESSION, b"")

    archive.archiver.store()

    assert list(archive.reader.stored()) == []


def test_any_range_is_read_by_its_offset(archive: Archive) -> None:
    data = lines(30_000)
    archive.write(SESSION, data)
    archive.archiver.store()
    chance = random.Random(5)

    for _ in range(50):
        start = chance.randrange(len(data))
        length = chance.randrange(1, 5000)
        wanted = data[start : start + length]
        found = archive.reader.read(LABEL, SESSION, 0, start, length)
        assert found == (wanted if len(wanted) == length else None)
    assert archive.reader.read(LABEL, SESSION, 0, FRAME_BYTES - 10, 20) == data[FRAME_BYTES - 10 : FRAME_BYTES + 10]


def test_an_unfinished_last_line_is_stored_and_goes_on_later(archive: Archive) -> None:
    """Some exporters never end their last line; Claude Code only ever appends."""
    archive.write(SESSION, lines(3) + b'{"type":"us')
    archive.archiver.store()
    assert archive.restored(SESSION) == lines(3) + b'{"type":"us'

    archive.grow(SESSION, b'er"}\n')
    archive.archiver.store()
    assert archive.restored(SESSION) == lines(3) + b'{"type":"user"}\n'
    assert archive.reader.generations(LABEL, SESSION) == (0,)


@pytest.mark.parametrize("change", ["edited", "shortened", "replaced"])
def test_a_rewritten_source_starts_a_new_generation_and_the_old_one_stays(archive: Archive, change: str) -> None:
    before = lines(2_000)
    file = archive.write(SESSION, before)
    archive.archiver.store()
    after = {
        "edited": before[:1000].replace(b"api", b"web") + before[1000:],
        "shortened": before[: len(before) // 2],
        "replaced": lines(3_000, seed=9),
    }[change]
    if change == "replaced":
        beside = file.with_suffix(".new")
        beside.write_bytes(after)
        beside.replace(file)
    else:
        file.write_bytes(after)
    os.utime(file, ns=(1, file.stat().st_mtime_ns + 1_000_000))

    archive.archiver.store()

    assert archive.reader.generations(LABEL, SESSION) == (1, 0)
    assert archive.restored(SESSION, 1) == after
    assert archive.restored(SESSION, 0) == before
    assert place(archive, generation=1).name.endswith(".jsonl~1.zst")


def test_a_replaced_file_that_begins_the_same_goes_on_in_its_generation(archive: Archive) -> None:
    before, more = lines(2_000), lines(10, seed=2)
    file = archive.write(SESSION, before)
    archive.archiver.store()
    beside = file.with_suffix(".new")
    beside.write_bytes(before + more)
    beside.replace(file)

    archive.archiver.store()

    assert archive.reader.generations(LABEL, SESSION) == (0,)
    assert archive.restored(SESSION) == before + more


def test_a_deleted_source_stays_stored(archive: Archive) -> None:
    data = lines(100)
    file = archive.write(SESSION, data)
    archive.archiver.store()
    file.unlink()

    archive.archiver.store()
    archive.again().store()

    assert archive.restored(SESSION) == data


def test_small_frames_are_joined_when_a_session_is_quiet(archive: Archive) -> None:
    data = b""
    for number in range(40):
        data += (more := lines(200, seed=number))
        archive.write(SESSION, more) if number == 0 else archive.grow(SESSION, more)
        archive.clock.seconds = (archive.root / SESSION).stat().st_mtime
        archive.archiver.store()
    many = archive.row(SESSION)
    assert many.frames == 40

    archive.clock.advance(QUIET_S + 1)
    archive.archiver.store()

    joined = archive.row(SESSION)
    assert joined.frames == -(-len(data) // FRAME_BYTES)
    assert joined.stored < many.stored
    assert joined.stored == place(archive).stat().st_size
    assert archive.restored(SESSION) == data
    archive.grow(SESSION, lines(5, seed=99))
    archive.archiver.store()
    assert archive.restored(SESSION) == data + lines(5, seed=99)


def test_a_torn_end_is_cut_off_at_start_and_stored_again(archive: Archive) -> None:
    data, more = lines(100), lines(100, seed=2)
    archive.write(SESSION, data)
    still_busy(archive)
    archive.archiver.store()
    whole = place(archive).stat().st_size
    archive.grow(SESSION, more)
    archive.archiver.store()
    with place(archive).open("r+b") as file:  # as if the machine had stopped within the second append
        file.truncate(whole + HEADER_BYTES + 7)
    archive.writer.write(
        lambda c: c.execute("UPDATE archived SET length = ?, stored = ?, size = 1", (len(data), whole)).fetchall()
    )

    archive.again().store()

    assert archive.restored(SESSION) == data + more
    assert not place(archive).with_name(place(archive).name + DAMAGED_SUFFIX).exists()


def test_frames_that_were_stored_but_not_recorded_are_taken_in(archive: Archive) -> None:
    data = lines(100)
    archive.write(SESSION, data)
    archive.archiver.store()
    archive.writer.write(lambda c: c.execute("DELETE FROM archived").fetchall())
    (archive.root / SESSION).unlink()

    archive.again().store()

    assert archive.row(SESSION).length == len(data)


def test_damage_to_what_was_stored_keeps_a_copy_and_stores_the_source_again(archive: Archive) -> None:
    data = lines(30_000)
    archive.write(SESSION, data)
    archive.archiver.store()
    with place(archive).open("r+b") as file:
        second = list(frames(file, place(archive).stat().st_size))[1]
        file.seek(second.position)
        file.write(b"\0" * HEADER_BYTES)
        file.truncate(place(archive).stat().st_size - 1)
    damaged = place(archive).read_bytes()

    archive.archiver = archive.again()
    archive.archiver.store()
    archive.archiver.store()

    assert archive.restored(SESSION) == data
    assert place(archive).with_name(place(archive).name + DAMAGED_SUFFIX).read_bytes() == damaged


@pytest.mark.expect_log("An archive file is damaged")
def test_a_damaged_frame_is_never_returned(archive: Archive) -> None:
    data = lines(30_000)
    archive.write(SESSION, data)
    archive.archiver.store()
    size = place(archive).stat().st_size
    with place(archive).open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * 64)

    offset = archive.reader.verify(LABEL, SESSION, 0)

    assert offset is not None
    assert offset % FRAME_BYTES == 0
    assert archive.reader.read(LABEL, SESSION, 0, offset, 10) is None
    assert archive.reader.read(LABEL, SESSION, 0, 0, 1000) == data[:1000]


def test_an_archive_file_deleted_by_hand_is_made_anew(archive: Archive) -> None:
    data = lines(100)
    archive.write(SESSION, data)
    archive.archiver.store()
    place(archive).unlink()
    archive.grow(SESSION, data)

    archive.archiver.store()

    assert archive.restored(SESSION) == data + data


def test_excluded_projects_are_not_stored_and_are_once_they_are_allowed(archive: Archive) -> None:
    spilled = f"{BESIDE}/tool-results/toolu_1.txt"
    data = lines(3)
    archive.write(SESSION, data)
    archive.write(spilled, b"row\n")

    archive.again(is_excluded=lambda cwd: cwd == "/home/dev/api").store()
    assert list(archive.reader.stored()) == []

    archive.again().store()
    assert archive.restored(SESSION) == data
    assert archive.restored(spilled) == b"row\n"


def test_a_session_that_moves_into_an_excluded_folder_is_stored_up_to_there(archive: Archive) -> None:
    data = lines(3)
    archive.write(SESSION, data + b'{"cwd":"C:\\\\secret"}\n' + data)

    archive.again(is_excluded=lambda cwd: cwd == "C:\\secret").store()

    assert archive.restored(SESSION) == data


def test_what_was_pruned_is_not_stored_again(archive: Archive) -> None:
    archive.write(SESSION, lines(3))

    pruned = archive.again(is_pruned=lambda session, _mtime: session is not None and session in SESSION)
    pruned.store()
    pruned.store()

    assert list(archive.reader.stored()) == []


def test_a_pruned_session_that_goes_on_is_stored_anew(archive: Archive) -> None:
    archive.write(SESSION, lines(3))
    archive.archiver.store()
    archive.archiver.remove([SESSION_ID], [], forget=False)
    archive.archiver.store()
    assert list(archive.reader.stored()) == []

    archive.grow(SESSION, lines(1))
    archive.archiver.store()

    assert archive.restored(SESSION, 1) == lines(3) + lines(1)


def test_a_session_that_was_pruned_twice_is_found_in_its_third_generation(archive: Archive) -> None:
    archive.write(SESSION, lines(3))
    for _ in range(2):
        archive.archiver.store()
        archive.archiver.remove([SESSION_ID], [], forget=False)
        archive.grow(SESSION, lines(1))
    archive.archiver.store()

    assert archive.reader.generations(LABEL, SESSION) == (2,)
    assert archive.again().store() == 0


def test_of_a_forgotten_session_not_even_the_name_is_kept(archive: Archive) -> None:
    archive.write(SESSION, lines(3))
    archive.archiver.store()
    archive.archiver.remove([SESSION_ID], [], forget=True)

    assert archive.writer.write(archived.all_rows) == ()


@pytest.mark.parametrize(
    ("label", "path"),
    [
        ("claude", "../escape/x.jsonl"),
        ("claude", "a/../../x.jsonl"),
        ("..", "a/x.jsonl"),
        ("claude", "/etc/x.jsonl"),
        ("claude", "x.jsonl"),
        ("claude", "a/b\0c.jsonl"),
        ("claude", "a/" + "x" * 255),
        ("claude", "a\\..\\x/y.jsonl"),
    ],
)
def test_no_path_leads_out_of_the_archive(archive: Archive, label: str, path: str) -> None:
    assert archive.reader.read(label, path, 0, 0, 1) is None
    assert archive.reader.generations(label, path) == ()


@pytest.mark.expect_log("A file was not archived")
def test_a_name_that_cannot_be_stored_is_counted_and_stops_nothing(archive: Archive) -> None:
    archive.write("-home/" + "x" * 248 + ".jsonl", lines(1))
    archive.write(SESSION, lines(1))

    archive.archiver.store()

    assert archive.archiver.state.skipped == 1
    assert archive.restored(SESSION) == lines(1)


@pytest.mark.expect_log("Archiving paused")
def test_a_full_disk_leaves_whole_frames_and_is_said(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    data = lines(100)
    archive.write(SESSION, data)
    archive.archiver.store()
    archive.grow(SESSION, data)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        archive.archiver.store()
    assert archive.archiver.state.problem is not None
    assert archive.restored(SESSION) == data

    archive.archiver.store()
    assert archive.archiver.state.problem is None
    assert archive.restored(SESSION) == data + data


def test_the_folder_of_a_label_says_which_root_it_is_of(archive: Archive) -> None:
    archive.write(SESSION, lines(1))
    archive.archiver.store()

    assert archive.reader.roots() == {LABEL: str(archive.root)}


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.binary(min_size=1, max_size=5000), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_any_bytes_in_any_pieces_come_back(archive: Archive, pieces: list[bytes], chance: random.Random) -> None:
    path = f"-p/tool-results/{hashlib.sha256(b''.join(pieces)).hexdigest()}{chance.random()}.txt"
    archive.write(path, b"")
    for piece in pieces:
        archive.grow(path, piece)
        archive.archiver.store()

    assert archive.restored(path) == b"".join(pieces)
    assert archive.reader.verify(LABEL, path, 0) is None


class Steps(threading.Event):
    """The stop event of a worker that lives as many waits as there are steps, and does one of them at each."""

    def __init__(self, *steps: Callable[[], None]) -> None:
        super().__init__()
        self.steps = list(steps)
        self.waited: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout or 0)
        if not self.steps:
            self.set()
        else:
            self.steps.pop(0)()
        return self.is_set()


def test_search_is_ready_before_the_archive_begins(archive: Archive) -> None:
    archive.write(SESSION, lines(3))
    reading = [True]
    seen: list[int] = []

    def look(*, still: bool) -> None:
        seen.append(len(list(archive.reader.stored())))
        reading[0] = still

    steps = Steps(lambda: look(still=True), lambda: look(still=False))
    archive.again(is_reading=lambda: reading[0]).run(steps)

    assert seen == [0, 0]
    assert archive.restored(SESSION) == lines(3)


def test_a_first_reading_that_takes_long_does_not_hold_the_archive_up_for_ever(archive: Archive) -> None:
    archive.write(SESSION, lines(3))
    archive.again(is_reading=lambda: True).run(Steps(lambda: archive.clock.advance(PATIENCE_S)))

    assert archive.restored(SESSION) == lines(3)


def test_what_was_read_meanwhile_is_stored_within_two_minutes(archive: Archive) -> None:
    spilled = f"{BESIDE}/tool-results/toolu_1.txt"
    archive.write(SESSION, lines(3))

    def grow() -> None:
        archive.grow(SESSION, lines(2, seed=2))
        archive.write(spilled, b"row\n")
        stat = (archive.root / SESSION).stat()
        archive.writer.write(lambda c: files.register_files(c, [(1, SESSION)]))
        archive.writer.write(lambda c: files.mark_read(c, 1, stat.st_size, stat.st_mtime_ns, stat.st_ino))

        archiver.notice()

    archiver = archive.again()
    steps = Steps(grow, lambda: None)
    archiver.run(steps)

    assert sum(steps.waited[:2]) < 120
    assert archive.restored(SESSION) == lines(3) + lines(2, seed=2)
    assert archive.restored(spilled) == b"row\n"


def test_while_nothing_happens_nothing_is_looked_at(archive: Archive) -> None:
    def grow_unnoticed() -> None:
        archive.write(SESSION, lines(3))

    archive.again().run(Steps(grow_unnoticed, lambda: None))
    assert list(archive.reader.stored()) == []

    archive.again().run(Steps(lambda: archive.clock.advance(FULL_PASS_S)))
    assert archive.restored(SESSION) == lines(3)
