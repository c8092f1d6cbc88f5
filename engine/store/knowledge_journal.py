"""Publications of Knowledge in `state.sqlite`: intents, receipts, history, exact bytes, and what Git still has to get.

A publication is written twice: `begin` before any file changes, `complete` after all of them did. Between the two the
journal knows the old and the new hash of every file, so that a crash can be finished (contract 3, point 29).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from engine.store.knowledge_state import GuardRow, known_state_errors

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engine.store.knowledge_state import KnowledgeState


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file a publication writes."""

    path: str
    """Relative to the vault."""
    old: str | None
    """Hash before; None when the file is new."""
    new: str
    staged: str | None = None
    """Where the bytes already lie in the vault (a large original); None when they are a blob."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line of history: what happened to a record."""

    scope: str
    id: str
    revision: int
    hash: str
    event: str
    at: str
    path: str
    actor: str | None = None
    reason: str | None = None
    request_id: str | None = None
    seq: int = 0
    """Given by the database."""


@dataclass(frozen=True, slots=True)
class Publication:
    """An intent, and its receipt once complete."""

    request_id: str
    digest: str
    """SHA-256 of the canonical request: the same id with another content is a conflict."""
    tool: str
    at: float
    files: tuple[PlannedFile, ...]
    events: tuple[Event, ...]
    guards: tuple[GuardRow, ...]
    receipt: Mapping[str, object]
    message: str
    """Of the Git commit."""
    retry_key: str | None = None
    """Finds an identical call without a request id."""
    state: str = "pending"
    git_state: str = "pending"
    git_commit: str | None = None


@dataclass(frozen=True, slots=True)
class QueuedFile:
    """A version of a file that Git does not have yet."""

    seq: int
    request_id: str | None
    path: str
    data: bytes | None
    """None when the bytes lie at the path itself, which is immutable."""
    message: str
    at: str


@dataclass(frozen=True, slots=True)
class HandEdit:
    """A version of a file that no tool wrote."""

    path: str
    hash: str
    data: bytes
    at: str


@dataclass(slots=True)
class KnowledgeJournal:
    """The journal, receipts, history and Git outbox of one store."""

    state: KnowledgeState
    _columns: str = field(
        default="request_id, digest, tool, at, body, retry_key, state, git_state, git_commit", init=False
    )

    def find(self, request_id: str) -> Publication | None:
        """Return the publication of a request id."""
        return next(iter(self._select("request_id = ?", (request_id,))), None)

    def find_retry(self, retry_key: str, since: float) -> Publication | None:
        """Return the newest publication of an identical call at or after a time."""
        return next(iter(self._select("retry_key = ? AND at >= ? ORDER BY at DESC", (retry_key, since))), None)

    def pending(self) -> tuple[Publication, ...]:
        """Return the unfinished publications, oldest first."""
        return self._select("state = 'pending' ORDER BY at, request_id", ())

    def without_commit(self) -> int:
        """Return how many files wait for Git."""
        with known_state_errors():
            return int(str(self.state.connection.execute("SELECT count(*) FROM git_outbox_v1").get))

    def awaits_commit(self) -> bool:
        """Return whether a publication waits for Git. Edits by hand alone do not count."""
        with known_state_errors():
            waiting = "SELECT EXISTS (SELECT 1 FROM git_outbox_v1 WHERE request_id IS NOT NULL)"
            return bool(self.state.connection.execute(waiting).get)

    def begin(self, publication: Publication, blobs: Mapping[str, bytes], replaced: Sequence[HandEdit] = ()) -> None:
        """Write the intent with every byte it needs (transaction A).

        Args:
            publication: What will be done.
            blobs: The new bytes, by hash.
            replaced: Versions it takes the place of that only the files held until now.
        """
        with self.state.transaction():
            for edit in replaced:
                self._keep(edit)
            self._put_blobs(blobs)
            self.state.connection.execute(
                "INSERT OR REPLACE INTO journal_v1 (request_id, digest, retry_key, tool, state, at, body) "
                "VALUES (?, ?, ?, ?, 'pending', ?, ?)",
                (
                    publication.request_id,
                    publication.digest,
                    publication.retry_key,
                    publication.tool,
                    publication.at,
                    _dump(publication),
                ),
            )

    def complete(self, publication: Publication) -> None:
        """Acknowledge: receipt, history, safeguards and the Git outbox together (transaction B)."""
        execute = self.state.connection.execute
        with self.state.transaction():
            execute("UPDATE journal_v1 SET state = 'complete' WHERE request_id = ?", (publication.request_id,))
            for event in publication.events:
                self._put_event(event)
            for guard in publication.guards:
                self.state.put_guard(guard)
            at = publication.events[0].at if publication.events else str(publication.receipt.get("at", ""))
            for file in publication.files:
                sha256 = None if file.staged is not None else file.new
                execute(
                    "INSERT INTO git_outbox_v1 (request_id, path, sha256, message, at) VALUES (?, ?, ?, ?, ?)",
                    (publication.request_id, file.path, sha256, publication.message, at),
                )

    def abandon(self, request_id: str) -> None:
        """Give an unfinished publication up; its files stay as they are."""
        with self.state.transaction():
            self.state.connection.execute(
                "UPDATE journal_v1 SET state = 'abandoned' WHERE request_id = ? AND state = 'pending'",
                (request_id,),
            )

    def note_external_edits(self, edits: Sequence[tuple[Event, bytes]]) -> None:
        """Keep versions that were written by another program, for history and Git (contract 3, point 28)."""
        with self.state.transaction():
            for event, data in edits:
                self._put_event(event)
                self._keep(HandEdit(event.path, event.hash, data, event.at))

    def _keep(self, edit: HandEdit) -> None:
        self._put_blobs({edit.hash: edit.data})
        self.state.connection.execute(
            "INSERT INTO git_outbox_v1 (request_id, path, sha256, message, at) VALUES (NULL, ?, ?, ?, ?)",
            (edit.path, edit.hash, f"Edited by hand: {edit.path}", edit.at),
        )

    def heads(self, scope: str, records: Collection[str] | None = None) -> dict[str, tuple[int, str]]:
        """Return revision and hash of the last known version of these records, or of all that have history."""
        where = "SELECT id, revision, hash FROM heads_v1 WHERE scope = ?"
        with known_state_errors():
            execute = self.state.connection.execute
            if records is None:
                rows = execute(where, (scope,)).fetchall()
            else:
                rows = [row for name in records for row in execute(f"{where} AND id = ?", (scope, name))]
            return {str(name): (int(str(revision)), str(digest)) for name, revision, digest in rows}

    def published_hash(self, scope: str, record: str) -> str | None:
        """Return the hash of the version a tool last wrote, None for a record no tool ever wrote."""
        with known_state_errors():
            found = self.state.connection.execute(
                "SELECT published FROM heads_v1 WHERE scope = ? AND id = ?",
                (scope, record),
            ).get
        return None if found is None else str(found)

    def last_seq(self) -> int:
        """Return the newest line of history."""
        with known_state_errors():
            return int(str(self.state.connection.execute("SELECT coalesce(max(seq), 0) FROM history_v1").get))

    def last_seq_of(self, request_id: str) -> int:
        """Return the newest line of history a publication wrote."""
        with known_state_errors():
            found = self.state.connection.execute(
                "SELECT coalesce(max(seq), 0) FROM history_v1 WHERE request_id = ?",
                (request_id,),
            ).get
        return int(str(found))

    def history(self, scope: str, record: str | None, limit: int, offset: int) -> tuple[tuple[Event, ...], int]:
        """Return lines of history, newest first, and how many there are."""
        where, values = ("scope = ? AND id = ?", (scope, record)) if record else ("scope = ?", (scope,))
        with known_state_errors():
            connection = self.state.connection
            total = int(str(connection.execute(f"SELECT count(*) FROM history_v1 WHERE {where}", values).get))
            rows = connection.execute(
                "SELECT scope, id, revision, hash, event, at, path, actor, reason, request_id, seq "
                f"FROM history_v1 WHERE {where} ORDER BY seq DESC LIMIT ? OFFSET ?",
                (*values, limit, offset),
            ).fetchall()
        return tuple(_event(row) for row in rows), total

    def blob(self, sha256: str) -> bytes | None:
        """Return the exact bytes of a published or observed version."""
        with known_state_errors():
            found = self.state.connection.execute("SELECT data FROM blobs_v1 WHERE sha256 = ?", (sha256,)).get
        return found if isinstance(found, bytes) else None

    def outbox(self) -> tuple[QueuedFile, ...]:
        """Return what Git does not have yet, in order."""
        with known_state_errors():
            rows = self.state.connection.execute(
                "SELECT o.seq, o.request_id, o.path, b.data, o.message, o.at FROM git_outbox_v1 o "
                "LEFT JOIN blobs_v1 b ON b.sha256 = o.sha256 ORDER BY o.seq",
            ).fetchall()
        return tuple(
            QueuedFile(
                int(str(seq)),
                None if request is None else str(request),
                str(path),
                data if isinstance(data, bytes) else None,
                str(message),
                str(at),
            )
            for seq, request, path, data, message, at in rows
        )

    def committed(self, files: Sequence[QueuedFile], commit: str) -> None:
        """Take files out of the outbox and put the commit into their receipts."""
        with self.state.transaction():
            for file in files:
                self.state.connection.execute("DELETE FROM git_outbox_v1 WHERE seq = ?", (file.seq,))
            for request in {file.request_id for file in files if file.request_id is not None}:
                self.state.connection.execute(
                    "UPDATE journal_v1 SET git_state = 'committed', git_commit = ? WHERE request_id = ?",
                    (commit, request),
                )

    def note_git(self, request_id: str, git_state: str) -> None:
        """Put the state of Git into a receipt that has no commit yet."""
        with self.state.transaction():
            self.state.connection.execute(
                "UPDATE journal_v1 SET git_state = ? WHERE request_id = ? AND git_commit IS NULL",
                (git_state, request_id),
            )

    def _put_blobs(self, blobs: Mapping[str, bytes]) -> None:
        self.state.connection.executemany("INSERT OR IGNORE INTO blobs_v1 VALUES (?, ?)", list(blobs.items()))

    def _put_event(self, event: Event) -> None:
        execute = self.state.connection.execute
        execute(
            "INSERT INTO history_v1 (scope, id, revision, hash, event, at, path, actor, reason, request_id) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                event.scope,
                event.id,
                event.revision,
                event.hash,
                event.event,
                event.at,
                event.path,
                event.actor,
                event.reason,
                event.request_id,
            ),
        )
        # `published` stays at what a tool wrote, so that a write that did not read a hand edit is noticed.
        published = "excluded.hash" if event.request_id is not None else "published"
        execute(
            "INSERT INTO heads_v1 VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT (scope, id) DO UPDATE SET "
            f"revision = excluded.revision, hash = excluded.hash, published = {published}",
            (event.scope, event.id, event.revision, event.hash),
        )

    def _select(self, where: str, values: tuple[str | float, ...]) -> tuple[Publication, ...]:
        with known_state_errors():
            rows = self.state.connection.execute(
                f"SELECT {self._columns} FROM journal_v1 WHERE {where}", values
            ).fetchall()
        return tuple(_publication(row) for row in rows)


def _dump(publication: Publication) -> str:
    body = {
        "files": [asdict(file) for file in publication.files],
        "events": [asdict(event) for event in publication.events],
        "guards": [asdict(guard) for guard in publication.guards],
        "receipt": dict(publication.receipt),
        "message": publication.message,
    }
    return json.dumps(body, ensure_ascii=False)


def _publication(row: tuple[Any, ...]) -> Publication:
    request_id, digest, tool, at, body, retry_key, state, git_state, git_commit = row
    parsed: dict[str, Any] = json.loads(body)
    return Publication(
        request_id=request_id,
        digest=digest,
        tool=tool,
        at=at,
        files=tuple(PlannedFile(**file) for file in parsed["files"]),
        events=tuple(Event(**event) for event in parsed["events"]),
        guards=tuple(GuardRow(**guard) for guard in parsed["guards"]),
        receipt=parsed["receipt"],
        message=parsed["message"],
        retry_key=retry_key,
        state=state,
        git_state=git_state,
        git_commit=git_commit,
    )


def _event(row: tuple[Any, ...]) -> Event:
    return Event(*row)
