"""Writes transcripts into the tables: each message once, every place it stands, chunks with their words.

The same bytes give the same database in whatever order and pieces they are read. Who owns a message that stands in
several files is therefore decided by a rank (`Place.rank`), not by who was read first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core.ids import message_key, pack_uuid
from engine.store import redactions
from engine.store.batches import BatchResult
from engine.store.chunks import ChunkOwner, ChunkTable
from engine.store.codes import COPY_KINDS, ROLES
from engine.store.identity import Identities
from engine.store.names import NameTable
from engine.store.places import Place, PlaceTable
from engine.store.rows import insert, number, row
from engine.store.sessions import SessionTable

if TYPE_CHECKING:
    import apsw

    from engine.store.batches import FileBatch, Occurrence
    from engine.store.connection import Value
    from engine.transcripts.records import ParsedMessage

_MESSAGE_COLUMNS = (
    "key", "uuid", "parent", "fingerprint", "session_id", "file_id", "offset", "length", "part", "generation",
    "time_ms", "role", "sidechain", "copied", "copy_kind", "folder_id", "model_id", "agent", "exchange_id",
)  # fmt: skip
_INSERT = f"INSERT INTO messages (id, {', '.join(_MESSAGE_COLUMNS)})"
_UPDATE = f"UPDATE messages SET {', '.join(f'{name} = ?' for name in _MESSAGE_COLUMNS)} WHERE id = ?"


class OutOfStep(Exception):
    """A batch does not begin where its file was left: one before it was not committed. The file is read again."""


class HistoryWriter:
    """Applies batches on the writer's thread, inside the caller's transaction.

    It remembers the numbers of names, so it is thrown away when a transaction is rolled back. Call `settle`, then
    `finish`, after the last batch of a transaction.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self.names = NameTable(connection)
        self._chunks = ChunkTable(connection, self.names)
        self._sessions = SessionTable(connection, self.names)

    def apply(self, batch: FileBatch) -> BatchResult:
        """Write one batch and move its file's offset."""
        writer = _BatchWriter(self._db, self.names, self._chunks, batch)
        result = writer.run()
        self._sessions.record(batch)
        self._sessions.touched.update(writer.identities.touched)
        return result

    def settle(self) -> None:
        """Bring the sessions of the batches up to date, and write the rows of their chunks."""
        self._sessions.settle()
        self._chunks.flush_rows()

    def finish(self) -> None:
        """Write the words of the batches: the longest step, and one that runs without Python's lock."""
        self._chunks.flush()


class _BatchWriter:
    """One batch in the making."""

    def __init__(self, connection: apsw.Connection, names: NameTable, chunks: ChunkTable, batch: FileBatch) -> None:
        self._db = connection
        self._names = names
        self._batch = batch
        self._places = PlaceTable(connection)
        self._chunks = chunks
        self._chunks_before = chunks.added
        self.identities = Identities(connection, self._places, batch.file_id, self._flush)
        self._rows: list[tuple[Value, ...]] = []
        self._next = number(connection, "SELECT coalesce(max(id), 0) + 1 FROM messages")
        self._first = self._next
        self._session = names.session(batch.session_id)
        found = row(
            connection,
            """SELECT f.first_ms, f.exchange_id, f.side_exchange_id, r.path || '/' || f.path, f.offset, f.generation
               FROM files f JOIN roots r ON r.id = f.root_id WHERE f.id = ?""",
            (batch.file_id,),
        )
        if found is None or found[4:] != (batch.start, batch.generation):
            raise OutOfStep(f"file {batch.file_id} at {batch.start}")
        self._first_ms: int | None = batch.first_ms if found[0] is None else found[0]
        self._exchange: list[int | None] = [found[1], found[2]]
        """The message that the next ones answer: of the conversation, and of sub-agents."""
        self._path = str(found[3])

    def run(self) -> BatchResult:
        batch = self._batch
        self.identities.touched.add(self._session)
        if self._first_ms is not None:
            self._db.execute("UPDATE files SET first_ms = ? WHERE id = ?", (self._first_ms, batch.file_id))
        self.identities.prefetch([each.message for each in batch.occurrences])
        for occurrence in batch.occurrences:
            self._place(occurrence)
        self._flush_messages()
        self._counts()
        self._move()
        return BatchResult(
            self._next - self._first, self._chunks.added - self._chunks_before, tuple(self.identities.touched)
        )

    def _place(self, occurrence: Occurrence) -> None:
        message = occurrence.message
        key = message_key(message.uuid)
        owner = self.identities.recognise(message, key)
        if owner is None:
            self._insert(occurrence, key)
            return
        exchange = self._follow(owner.message, message)
        if owner.file == self._batch.file_id:
            self._again_here(owner, occurrence, key, exchange)
        else:
            self._again_elsewhere(owner, occurrence, key, exchange)
        self.identities.note(key, owner.message, message.original_uuid)

    def _follow(self, message_id: int, message: ParsedMessage) -> int:
        """Return the message that began the exchange this one belongs to."""
        side = int(message.is_sidechain)
        present = self._exchange[side]
        if message.starts_exchange or present is None:
            present = message_id
        present = self.identities.current(present)
        self._exchange[side] = present
        return present

    # A message that is known already ---------------------------------------------------------------------------

    def _again_here(self, owner: Place, occurrence: Occurrence, key: int, exchange: int) -> None:
        """The file that owns a message says it again: after a rewrite, or a last line that is whole now.

        Otherwise it is a repetition in the same file: a second compaction re-appends lines (claude-code#92089).
        """
        rewritten = owner.generation < self._batch.generation
        same_line = (owner.offset, owner.part) == (occurrence.offset, occurrence.part)
        if rewritten or (same_line and owner.length != occurrence.length):
            self._own(owner.message, occurrence, key, exchange, refresh=self._batch.refresh)

    def _again_elsewhere(self, owner: Place, occurrence: Occurrence, key: int, exchange: int) -> None:
        """Another file owns the message: this is a further place of it, or the one that should own it."""
        batch = self._batch
        present = self._places.in_file(owner.message, batch.file_id)
        if present is not None:
            offset, part, length, generation = present
            same_line = (offset, part) == (occurrence.offset, occurrence.part)
            if generation == batch.generation and (not same_line or length == occurrence.length):
                return
            self._places.remove_copy(batch.file_id, offset, part)
        here = self._here(owner.message, occurrence, key)
        self.identities.touched.update((owner.session, here.session))
        self.identities.touched.update(session for _, session, *_ in self._places.others(owner.message))
        if here.rank < owner.rank:
            self._own(owner.message, occurrence, key, exchange, refresh=batch.refresh)
            self._places.add_copy(owner.message, owner)
        else:
            self._places.add_copy(owner.message, here)

    def _here(self, message_id: int, occurrence: Occurrence, key: int) -> Place:
        message = occurrence.message
        return Place(
            message=message_id,
            key=key,
            uuid=pack_uuid(message.uuid),
            parent=None if message.parent_uuid is None else message_key(message.parent_uuid),
            fingerprint=message.fingerprint,
            session=self._names.session(message.session_id),
            session_name=message.session_id,
            file=self._batch.file_id,
            path=self._path,
            offset=occurrence.offset,
            length=occurrence.length,
            part=occurrence.part,
            generation=self._batch.generation,
            time_ms=message.timestamp_ms,
            sidechain=int(message.is_sidechain),
            copied=_is_copied(message),
            copy_kind=COPY_KINDS[message.copy_kind],
            file_first_ms=self._first_ms,
        )

    def _own(self, message_id: int, occurrence: Occurrence, key: int, exchange: int, *, refresh: bool) -> None:
        """Make a message what this occurrence of it says."""
        self._flush()
        owner = self._chunk_owner(message_id, occurrence, exchange)
        self._db.execute(_UPDATE, (*self._row(occurrence, key, owner), message_id))
        self.identities.forget(message_id)
        self._chunks.replace(owner, occurrence.message.blocks, self._batch.words, refresh=refresh)

    # A new message ---------------------------------------------------------------------------------------------

    def _insert(self, occurrence: Occurrence, key: int) -> None:
        message = occurrence.message
        message_id = self._next
        self._next += 1
        owner = self._chunk_owner(message_id, occurrence, self._follow(message_id, message))
        self._rows.append((message_id, *self._row(occurrence, key, owner)))
        self._chunks.add(owner, message.blocks, self._batch.words)
        self.identities.note(key, message_id, message.original_uuid, is_new=True)

    def _chunk_owner(self, message_id: int, occurrence: Occurrence, exchange: int) -> ChunkOwner:
        message = occurrence.message
        return ChunkOwner(
            message_id,
            ROLES[message.role],
            int(message.is_sidechain),
            self._names.session(message.session_id),
            self._names.folder(message.cwd, self._batch.projects),
            message.timestamp_ms,
            exchange,
        )

    def _row(self, occurrence: Occurrence, key: int, owner: ChunkOwner) -> tuple[Value, ...]:
        message = occurrence.message
        parent = message.parent_uuid
        return (
            key, pack_uuid(message.uuid), None if parent is None else message_key(parent), message.fingerprint,
            owner.session, self._batch.file_id, occurrence.offset, occurrence.length, occurrence.part,
            self._batch.generation, owner.time_ms, owner.role, owner.sidechain, _is_copied(message),
            COPY_KINDS[message.copy_kind], owner.folder, self._names.model(message.model), message.agent_id,
            owner.exchange,
        )  # fmt: skip

    def _flush_messages(self) -> None:
        insert(self._db, _INSERT, self._rows)
        self._rows.clear()

    def _flush(self) -> None:
        self._flush_messages()
        self._chunks.flush()

    # The file --------------------------------------------------------------------------------------------------

    def _counts(self) -> None:
        batch = self._batch
        self._db.executemany(
            """INSERT INTO kept_types (file_id, type, known, lines) VALUES (?, ?, ?, ?)
               ON CONFLICT DO UPDATE SET lines = lines + excluded.lines""",
            [(batch.file_id, name, int(known), count) for (name, known), count in batch.kept.items() if count],
        )
        if any(count < 0 for count in batch.kept.values()):
            self._db.execute("DELETE FROM kept_types WHERE file_id = ? AND lines <= 0", (batch.file_id,))
        redactions.add(self._db, batch.file_id, batch.redacted)
        self._db.executemany(
            "INSERT OR REPLACE INTO problems (file_id, offset, line, what, salvaged) VALUES (?, ?, ?, ?, ?)",
            [(batch.file_id, each.offset, each.line, each.what, int(each.salvaged)) for each in batch.problems],
        )

    def _move(self) -> None:
        position = self._batch.position
        self._db.execute(
            """UPDATE files SET session_id = ?, inode = ?, size = ?, mtime_ns = ?, offset = ?, tail = ?, lines = ?,
               exchange_id = ?, side_exchange_id = ?, parser = ?, gone_ms = NULL, error = NULL WHERE id = ?""",
            (
                self._session, position.inode, position.size, position.mtime_ns, position.offset, position.tail,
                position.lines, *self._exchange, position.parser, self._batch.file_id,
            ),
        )  # fmt: skip


def _is_copied(message: ParsedMessage) -> int:
    """Return 1 when a line says that it was copied from elsewhere."""
    return int(message.copied_from is not None or message.copy_kind == "background")
