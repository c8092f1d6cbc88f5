"""Opens Knowledge's `state.sqlite`: identity, guards, and the transactions everything else in it runs in.

Not rebuildable: what was published, what was withdrawn, and the bytes not yet in Git stand here. The search tables in
the same file are a projection (`engine.store.knowledge_index`); receipts and history are in
`engine.store.knowledge_journal`. One process writes at a time: the store's lane sees to it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from engine.core.errors import StorageFailure
from engine.store.errors import StoreBusy, StoreDamaged, StoreFull, StoreReadOnly

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

SCHEMA_VERSION = 1
"""`PRAGMA user_version` of `state.sqlite`."""

_BUSY_TIMEOUT_MS = 5_000

_SCHEMA = """
CREATE TABLE store_identity_v1 (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE keyword_withdrawals_v1 (
    id TEXT PRIMARY KEY, revision INTEGER NOT NULL, hash TEXT NOT NULL, at TEXT NOT NULL, request_id TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE lifecycle_guards_v1 (
    id TEXT PRIMARY KEY, revision INTEGER NOT NULL, lifecycle TEXT NOT NULL, superseded_by TEXT,
    at TEXT NOT NULL, request_id TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE journal_v1 (
    request_id TEXT PRIMARY KEY, digest TEXT NOT NULL, retry_key TEXT, tool TEXT NOT NULL, state TEXT NOT NULL,
    at REAL NOT NULL, body TEXT NOT NULL, git_state TEXT NOT NULL DEFAULT 'pending', git_commit TEXT
) WITHOUT ROWID;
CREATE INDEX journal_by_state ON journal_v1 (state);
CREATE INDEX journal_by_retry_key ON journal_v1 (retry_key, at);
CREATE TABLE blobs_v1 (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE history_v1 (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL,
    hash TEXT NOT NULL, event TEXT NOT NULL, at TEXT NOT NULL, path TEXT NOT NULL, actor TEXT, reason TEXT,
    request_id TEXT
);
CREATE INDEX history_by_id ON history_v1 (scope, id, seq);
CREATE INDEX history_by_request ON history_v1 (request_id);
CREATE TABLE heads_v1 (
    scope TEXT NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL, hash TEXT NOT NULL, published TEXT NOT NULL,
    PRIMARY KEY (scope, id)
) WITHOUT ROWID;
CREATE TABLE git_outbox_v1 (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, request_id TEXT, path TEXT NOT NULL, sha256 TEXT, message TEXT NOT NULL,
    at TEXT NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class GuardRow:
    """What a file with this id must say, or it is stale (contract 3, point 27)."""

    id: str
    """Of the record; in another scope than the default with the scope before it, as Knowledge writes it."""
    revision: int
    lifecycle: str
    superseded_by: str | None
    hash: str
    at: str
    request_id: str


class KnowledgeState:
    """One open `state.sqlite`. Belongs to one lane; not for use by two threads at once."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        """For the siblings of this room only."""

    @classmethod
    def create(cls, path: Path, store_id: str, vault_id: str) -> KnowledgeState:
        """Create the database of a new store.

        Raises:
            StorageFailure: The file cannot be created, or there is one already.
        """
        if path.exists():
            raise StorageFailure("There is already a state.sqlite", "It is never overwritten.")
        state = cls(_connect(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE))
        with state.transaction():
            for statement in _SCHEMA.split(";\n"):
                if statement.strip():
                    state.connection.execute(statement)
            state.connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            state.connection.executemany(
                "INSERT INTO store_identity_v1 VALUES (?, ?)",
                (("store_id", store_id), ("vault_id", vault_id)),
            )
        return state

    @classmethod
    def open(cls, path: Path) -> KnowledgeState:
        """Open an existing database; a missing one is never created.

        Raises:
            StorageFailure: Missing, damaged, not writable, or written by a newer version.
        """
        state = cls(_connect(path, apsw.SQLITE_OPEN_READWRITE))
        with known_state_errors():
            version = int(str(state.connection.pragma("user_version")))
        if version != SCHEMA_VERSION:
            state.close()
            raise StorageFailure(
                "The Knowledge store has another format",
                f"state.sqlite has version {version}, this Backscroll reads version {SCHEMA_VERSION}.",
                "Update Backscroll.",
            )
        return state

    def close(self) -> None:
        """Close the database. Idempotent."""
        self.connection.close(force=True)

    def identity(self) -> dict[str, str]:
        """Return `store_id` and `vault_id`."""
        with known_state_errors():
            rows = self.connection.execute("SELECT key, value FROM store_identity_v1").fetchall()
        return {str(key): str(value) for key, value in rows}

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Run a block in one transaction: all of it or nothing.

        Raises:
            StorageFailure: The environment refused.
        """
        with known_state_errors():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if not self.connection.get_autocommit():
                    self.connection.execute("ROLLBACK")
                raise

    def version(self) -> tuple[int, int]:
        """Return a value that changes with every committed write, of this connection or another."""
        with known_state_errors():
            return int(str(self.connection.pragma("data_version"))), self.connection.total_changes()

    def guards(self) -> tuple[GuardRow, ...]:
        """Return the safeguards, withdrawals included."""
        with known_state_errors():
            rows = self.connection.execute(
                "SELECT id, revision, 'withdrawn', NULL, hash, at, request_id FROM keyword_withdrawals_v1 UNION ALL "
                "SELECT id, revision, lifecycle, superseded_by, '', at, request_id FROM lifecycle_guards_v1 "
                "WHERE id NOT IN (SELECT id FROM keyword_withdrawals_v1) ORDER BY 1",
            ).fetchall()
        return tuple(
            GuardRow(
                str(name),
                int(str(revision)),
                str(lifecycle),
                None if by is None else str(by),
                str(digest),
                str(at),
                str(request),
            )
            for name, revision, lifecycle, by, digest, at, request in rows
        )

    def put_guard(self, row: GuardRow) -> None:
        """Write a safeguard, inside the transaction that acknowledges its publication."""
        if row.lifecycle == "withdrawn":
            self.connection.execute(
                "INSERT OR REPLACE INTO keyword_withdrawals_v1 VALUES (?, ?, ?, ?, ?)",
                (row.id, row.revision, row.hash, row.at, row.request_id),
            )
        else:
            self.connection.execute(
                "INSERT OR REPLACE INTO lifecycle_guards_v1 VALUES (?, ?, ?, ?, ?, ?)",
                (row.id, row.revision, row.lifecycle, row.superseded_by, row.at, row.request_id),
            )


def _connect(path: Path, flags: int) -> apsw.Connection:
    with known_state_errors():
        connection = apsw.Connection(str(path), flags=flags)
        connection.set_busy_timeout(_BUSY_TIMEOUT_MS)
        connection.pragma("journal_mode", "WAL")
        # FULL: a receipt that was handed out survives a power cut.
        connection.pragma("synchronous", "FULL")
        connection.pragma("temp_store", "MEMORY")
        connection.pragma("cache_size", -8192)
    return connection


@contextmanager
def known_state_errors() -> Generator[None]:
    """Turn SQLite's environment errors into ours; anything else is a bug and stays.

    Raises:
        StorageFailure: The environment refused.
    """
    try:
        yield
    except apsw.FullError as exc:
        raise StoreFull("The disk is full", "Nothing half-written was kept.", "Free some space and try again.") from exc
    except (apsw.CorruptError, apsw.NotADBError) as exc:
        raise StoreDamaged(
            "Knowledge's state.sqlite is damaged",
            "The Markdown records in the vault are not affected.",
            "Bring state.sqlite back from a backup.",
        ) from exc
    except (apsw.ReadOnlyError, apsw.PermissionsError, apsw.CantOpenError) as exc:
        raise StoreReadOnly(
            "Knowledge's state.sqlite cannot be opened for writing",
            "",
            "Check that the knowledge folder exists and belongs to you.",
        ) from exc
    except apsw.IOError as exc:
        raise StorageFailure(
            "The disk reported an error",
            f"SQLite says: {exc}.",
            "Check the disk and its free space, then try again.",
        ) from exc
    except apsw.BusyError as exc:
        raise StoreBusy("Knowledge's database is busy", "Another program is writing to it.", "Try again.") from exc
