"""The single writer: errors go to who asked, a full disk undoes the step, closing loses nothing and leaks nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import apsw
import psutil
import pytest

from engine.store.connection import ReaderPool
from engine.store.errors import StoreClosed, StoreDamaged, StoreFull, StoreReadOnly
from engine.store.rows import number, rows
from engine.store.writer import StoreWriter
from tests.helpers.corpus import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[StoreWriter]:
    opened = StoreWriter(tmp_path / "index.db")
    opened.start()
    yield opened
    assert opened.close()


def note(connection: apsw.Connection, value: int) -> int:
    connection.execute("INSERT INTO meta VALUES (?, ?)", (f"note {value}", value))
    return value


def notes(connection: apsw.Connection) -> list[int]:
    return [row[0] for row in rows(connection, "SELECT value FROM meta WHERE name LIKE 'note %' ORDER BY value")]


def count(connection: apsw.Connection) -> int:
    return number(connection, "SELECT count(*) FROM meta WHERE name LIKE 'note %'")


def test_an_error_goes_to_who_asked_and_its_step_is_undone(writer: StoreWriter) -> None:
    def fail(connection: apsw.Connection) -> None:
        note(connection, 1)
        raise KeyError("a bug")

    with pytest.raises(KeyError, match="a bug"):
        writer.write(fail)
    assert writer.write(count) == 0
    assert writer.write(lambda connection: note(connection, 2)) == 2
    assert writer.write(count) == 1


def test_sqlites_complaints_about_our_statements_stay_bugs(writer: StoreWriter) -> None:
    with pytest.raises(apsw.SQLError):
        writer.write(lambda connection: connection.execute("SELECT * FROM nowhere"))


def test_writes_happen_in_the_order_they_were_asked_for(writer: StoreWriter) -> None:
    futures = [writer.submit(lambda connection, value=value: note(connection, value)) for value in range(50)]
    assert [future.result(60) for future in futures] == list(range(50))


def test_a_statement_that_cannot_run_in_a_transaction_runs_outside_one(writer: StoreWriter) -> None:
    writer.write(lambda connection: connection.execute("VACUUM"), transaction=False)
    with pytest.raises(apsw.SQLError):
        writer.write(lambda connection: connection.execute("VACUUM"))


def test_a_write_that_was_taken_back_in_time_is_not_done(writer: StoreWriter) -> None:
    started, go_on = threading.Event(), threading.Event()

    def wait(_: apsw.Connection) -> None:
        started.set()
        assert go_on.wait(60)

    writer.submit(wait)
    assert started.wait(60)
    taken_back = writer.submit(lambda connection: note(connection, 1))
    assert taken_back.cancel()
    go_on.set()
    assert writer.write(count) == 0


def test_closing_does_what_waits_and_can_be_said_twice(tmp_path: Path) -> None:
    writer = StoreWriter(tmp_path / "index.db")
    writer.start()
    futures = [writer.submit(lambda connection, value=value: note(connection, value)) for value in range(5)]
    assert writer.close()
    assert writer.close()
    assert [future.result(0) for future in futures] == list(range(5))
    with pytest.raises(StoreClosed):
        writer.submit(count)


def test_a_writer_that_was_never_started_closes_at_once(tmp_path: Path) -> None:
    assert StoreWriter(tmp_path / "index.db").close()


def test_a_file_that_is_no_database_is_told_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(b"no database" * 1000)
    writer = StoreWriter(path)
    with pytest.raises(StoreDamaged, match="damaged"):
        writer.start()
    assert writer.close()


def test_a_folder_in_the_way_is_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "index.db").mkdir()
    writer = StoreWriter(tmp_path / "index.db")
    with pytest.raises(StoreReadOnly, match="cannot be written"):
        writer.start()
    assert writer.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("is_broken_off", [False, True])
def test_a_database_that_cannot_be_opened_again_leaves_nobody_waiting(tmp_path: Path, *, is_broken_off: bool) -> None:
    writer = StoreWriter(tmp_path / "index.db", queue_limit=1)
    writer.start()
    waits: list[threading.Thread] = []
    ended: list[Exception] = []

    def write() -> None:
        try:
            writer.write(count)
        except StoreClosed as error:
            ended.append(error)

    def spoil() -> None:
        # One takes the only place in the queue, the others wait for it.
        waits.extend(threading.Thread(target=write, daemon=True) for _ in range(3))
        for each in waits:
            each.start()
        for name in ("index.db", "index.db-wal", "index.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)
        (tmp_path / "index.db").mkdir()
        if is_broken_off:
            raise KeyError("a bug")

    with pytest.raises(KeyError if is_broken_off else StoreReadOnly):
        writer.reopen(spoil)
    for each in waits:
        each.join(60)
    assert len(ended) == 3
    assert writer.close()
    with pytest.raises(StoreClosed):
        writer.submit(count)


def test_the_database_is_closed_to_other_users(tmp_path: Path, writer: StoreWriter) -> None:
    if os.name != "posix":
        pytest.skip("permissions are POSIX's")
    writer.write(lambda connection: note(connection, 1))
    assert {file.name: oct(file.stat().st_mode & 0o777) for file in tmp_path.iterdir()} == {
        "index.db": "0o600",
        "index.db-wal": "0o600",
        "index.db-shm": "0o600",
    }


def test_fifty_engines_later_no_thread_and_no_descriptor_is_left(tmp_path: Path) -> None:
    process = psutil.Process()

    def once() -> None:
        writer = StoreWriter(tmp_path / "index.db")
        writer.start()
        readers = ReaderPool(tmp_path / "index.db")
        with readers.connection() as connection:
            assert count(connection) == 0
        readers.close()
        assert writer.close()

    once()
    threads, files = threading.active_count(), process.num_fds() if os.name == "posix" else 0
    for _ in range(50):
        once()
    assert threading.active_count() == threads
    if os.name == "posix":
        assert process.num_fds() == files


def test_the_write_ahead_log_is_cut_back(tmp_path: Path, writer: StoreWriter) -> None:
    for _ in range(12):
        writer.write(lambda connection: connection.execute("INSERT INTO texts (text) VALUES (?)", ("x" * 5_000_000,)))
    assert (tmp_path / "index.db-wal").stat().st_size < 48 * 1024 * 1024


def test_a_full_disk_undoes_the_step_and_says_so(writer: StoreWriter) -> None:
    writer.write(lambda connection: note(connection, 1))
    pages = writer.write(lambda connection: int(connection.pragma("page_count")))
    writer.write(lambda connection: connection.pragma("max_page_count", pages + 10))

    def fill(connection: apsw.Connection) -> None:
        note(connection, 2)
        connection.execute("INSERT INTO texts (text) VALUES (?)", ("x" * 5_000_000,))

    with pytest.raises(StoreFull, match="the disk is full"):
        writer.write(fill)
    writer.write(lambda connection: connection.pragma("max_page_count", 1_000_000))
    writer.write(lambda connection: note(connection, 3))
    assert writer.write(notes) == [1, 3]


REFUSED = """
import resource, signal, sys
from engine.core.errors import StorageFailure
from pathlib import Path
from engine.store.writer import StoreWriter

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
writer = StoreWriter(Path(sys.argv[1]))
writer.start()
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
writer.write(lambda c: c.execute("INSERT INTO texts (id, text) VALUES (1, 'before')"))
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, hard))
try:
    writer.write(lambda c: c.execute("INSERT INTO texts (id, text) VALUES (2, ?)", ("x" * 9_000_000,)))
except StorageFailure as exc:
    print(exc.code)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
writer.write(lambda c: c.execute("INSERT INTO texts (id, text) VALUES (3, 'after')"))
print(writer.write(lambda c: [row[0] for row in c.execute("SELECT id FROM texts ORDER BY id")]))
print(writer.close())
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit on file sizes")
def test_a_write_that_the_system_cuts_short_is_undone_and_the_next_one_succeeds(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", REFUSED, str(tmp_path / "index.db")],
        cwd=ROOT, capture_output=True, encoding="utf-8", timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    # A limit or a quota is no full disk to SQLite.
    assert done.stdout.split("\n") == ["storage_failure", "[1, 3]", "True", ""], done.stderr
