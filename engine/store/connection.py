"""Opens the database: for the one writer, or read-only for everybody else. Every PRAGMA is chosen here."""

from __future__ import annotations

import contextlib
import os
import queue
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from engine.core.errors import StorageFailure
from engine.store import redactions, texts
from engine.store.errors import StoreClosed, StoreMissing, known_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

Connection = apsw.Connection
"""For annotations in other rooms: `apsw` itself is imported here only."""

Value = str | int | float | bytes | None
"""What is bound to a question mark."""

BUSY_TIMEOUT_MS = 5_000
"""Readers wait this long for a checkpoint or a migration to finish."""

WAL_LIMIT_BYTES = 32 * 1024 * 1024
"""The write-ahead log is cut back to this size after a checkpoint, so that a backfill does not leave gigabytes."""


def open_writer(path: Path) -> apsw.Connection:
    """Return the one connection that writes.

    Raises:
        StorageFailure: The file cannot be opened or is not a database.
    """
    with known_errors("Opening the index"):
        if not path.exists():
            # The journals SQLite makes beside it get the same permissions.
            path.touch(mode=0o600)
        connection = apsw.Connection(str(path))
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        if connection.pragma("page_count") == 0:
            # Space that pruning frees goes back to the disk in steps. Setting it again would write the header.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        # Readers never wait for the writer and a crash loses no committed transaction of ours: a power cut may take the
        # last seconds back, and their transcripts are read again because rows and offsets commit together.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT_BYTES}")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        # 16 MB of pages: inserting into FTS5 touches few of them, more did not make indexing faster.
        connection.execute("PRAGMA cache_size = -16384")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA foreign_keys = OFF")
        # Deleted text is overwritten: what a person forgets must not stay readable in free pages.
        connection.execute("PRAGMA secure_delete = FAST")
        _load_vectors(connection)
        texts.teach(connection)
        # What is written is chosen by the screen; reading here is for the program itself.
        redactions.teach(connection, None)
        return connection


def _load_vectors(connection: apsw.Connection) -> None:
    """Teach a connection `vec0` tables. Loading anything else stays forbidden."""
    # Found without importing the package, which would import numpy (0.1 s) for every `backscroll status`.
    package = find_spec("sqlite_vec")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("sqlite_vec")
    connection.enable_load_extension(True)
    try:
        connection.load_extension(str(Path(package.origin).with_name("vec0")))
    finally:
        connection.enable_load_extension(False)


def open_reader(path: Path, redact: Callable[[str], str] | None = None) -> apsw.Connection:
    """Return a read-only connection.

    Args:
        path: The database.
        redact: Replaces secrets in texts for replies (`redactions.shown`); None shows them as they are stored.

    Raises:
        StoreMissing: There is no database yet.
        StorageFailure: The file cannot be opened or is not a database.
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StoreMissing(
            "Nothing is indexed yet",
            "There is no index in this data folder.",
            "Start Backscroll (`backscroll` or `backscroll serve`) and it will read your history.",
        ) from error
    except OSError as error:
        raise StorageFailure(
            "The index cannot be read",
            f"{path}: {error.strerror}.",
            "It may belong to another user; BACKSCROLL_HOME names another folder.",
        ) from error
    with known_errors("Opening the index"):
        connection = _read_only(path)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA cache_size = -8192")
        connection.execute("PRAGMA mmap_size = 268435456")
        connection.execute("PRAGMA temp_store = MEMORY")
        _load_vectors(connection)
        texts.teach(connection)
        redactions.teach(connection, redact)
        return connection


def _read_only(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        log = path.with_name(f"{path.name}-wal")
        if os.access(path.parent, os.W_OK) or (log.exists() and log.stat().st_size):
            raise
        # A read-only disk takes no index of the log beside it. Nobody writes there, so none is needed
        # (sqlite.org/wal.html, "Read-Only Databases").
        name = f"{path.absolute().as_uri()}?immutable=1"
        return apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    except BaseException:
        connection.close()
        raise
    return connection


def one_row(connection: Connection, sql: str, values: Sequence[Value] = ()) -> tuple[Any, ...]:
    """Return the only row of a statement that always has one (counts, maxima).

    Raises:
        LookupError: It has none.
    """
    row = connection.execute(sql, values).fetchone()
    if row is None:
        raise LookupError(sql)
    return row


def all_rows(connection: Connection, sql: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
    """Return every row of a statement."""
    return list(connection.execute(sql, values))


class ReaderPool:
    """Read-only connections, one borrower at a time each, reused newest first so that idle ones can be closed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: queue.LifoQueue[apsw.Connection] = queue.LifoQueue()
        self._closed = False
        self._redact: Callable[[str], str] | None = None
        self._age = 0
        """Grows when the file was replaced: connections to the one before are not lent again."""

    def redact_with(self, redact: Callable[[str], str] | None) -> None:
        """Replace secrets in the texts of replies from now on; None shows them as they are stored."""
        self._redact = redact
        self.renew()

    @contextmanager
    def connection(self) -> Generator[apsw.Connection]:
        """Lend a connection for the length of a question, inside one read transaction (one state of the database).

        Raises:
            StorageFailure: The database cannot be opened or read.
        """
        if self._closed:
            raise StoreClosed("Backscroll is closing", "", "Ask again in a moment.")
        try:
            connection = self._idle.get_nowait()
        except queue.Empty:
            connection = open_reader(self._path, self._redact)
        healthy = False
        age = self._age
        try:
            with known_errors("Reading the index"):
                connection.execute("BEGIN")
                yield connection
                healthy = True
        except GeneratorExit:
            healthy = True
            raise
        finally:
            with contextlib.suppress(apsw.Error):
                # Ends the read transaction whatever happened in it; a connection that cannot do it is not reused.
                if not connection.get_autocommit():
                    connection.execute("ROLLBACK")
            if healthy and not self._closed and age == self._age:
                self._idle.put(connection)
            else:
                connection.close(force=True)

    def close(self) -> None:
        """Close idle connections; borrowed ones close when they come back. Idempotent."""
        self._closed = True
        self._drop_idle()

    def renew(self) -> None:
        """Close idle connections because the file is about to be replaced; borrowed ones close when they come back."""
        self._age += 1
        self._drop_idle()

    def _drop_idle(self) -> None:
        while True:
            try:
                self._idle.get_nowait().close(force=True)
            except queue.Empty:
                return
