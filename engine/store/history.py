"""Writes transcripts into the tables: each message once, every place it stands, chunks with their words.

The same bytes give the same database in whatever order and pieces they are read. Who owns a message that stands in
several files is therefore decided by a rank (`_rank`), not by who was read first.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.core.ids import message_key, pack_uuid, unpack_uuid
from engine.core.models import Role
from engine.core.text import index_parts, index_words
from engine.store.batches import BatchResult, FileBatch, Occurrence
from engine.store.codes import KINDS, ROLES, SIGNALS
from engine.store.names import NameTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from engine.transcripts.records import ParsedMessage

_NO_TIME = 1 << 62
_MACHINE_TITLES = ("API Error", "Invalid API key", "Not logged in")
"""Summaries that ≤ 1.0.x wrote about sessions in which nothing was said."""


@dataclass(slots=True)
class _Known:
    """A message that is already in the tables, as far as deciding about it needs."""

    id: int
    key: int
    uuid: bytes | str
    parent: int | None
    fingerprint: int
    session: int
    session_name: str
    file_id: int
    offset: int
    length: int
    part: int
    generation: int
    time_ms: int | None
    copied: int
    folder: int | None
    file_first_ms: int | None
    exchange: int

    def rank(self) -> tuple[int, int, int, str]:
        return _rank(self.time_ms, self.copied, self.file_first_ms, self.session_name)


_KNOWN_COLUMNS = """m.id, m.key, m.uuid, m.parent, m.fingerprint, m.session_id, s.session_id, m.file_id, m.offset,
    m.length, m.part, m.generation, m.time_ms, m.copied, m.folder_id, f.first_ms, m.exchange_id
    FROM messages m JOIN sessions s ON s.id = m.session_id JOIN files f ON f.id = m.file_id"""


def _rank(time_ms: int | None, copied: int, file_first_ms: int | None, session: str) -> tuple[int, int, int, str]:
    """Order of the places a message stands in; the first one owns it.

    A resumed copy has a later time (≤ 1.0.x rewrote it); a fork has the same time but a file that began later, or
    says on the line where it came from (transcripts.md, section 4).
    """
    return (
        _NO_TIME if time_ms is None else time_ms,
        copied,
        _NO_TIME if file_first_ms is None else file_first_ms,
        session,
    )


@dataclass(slots=True)
class _Pending:
    """Rows collected for the batch, inserted together."""

    messages: list[tuple[Any, ...]] = field(default_factory=lambda: list[tuple[Any, ...]]())
    chunks: list[tuple[Any, ...]] = field(default_factory=lambda: list[tuple[Any, ...]]())
    texts: list[tuple[int, str]] = field(default_factory=lambda: list[tuple[int, str]]())
    words: list[tuple[int, str, str]] = field(default_factory=lambda: list[tuple[int, str, str]]())


class HistoryWriter:
    """Applies batches on the writer's thread, inside the caller's transaction.

    It remembers the numbers of names, so it is thrown away when a transaction is rolled back.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self.names = NameTable(connection)

    def apply(self, batch: FileBatch) -> BatchResult:
        """Write one batch and move its file's offset."""
        return _BatchWriter(self._db, self.names, batch).run()


class _BatchWriter:
    """One batch in the making."""

    def __init__(self, connection: apsw.Connection, names: NameTable, batch: FileBatch) -> None:
        self._db = connection
        self._names = names
        self._batch = batch
        self._rows = _Pending()
        self._session = names.session(batch.session_id)
        self._touched: set[int] = {self._session}
        self._by_key: dict[int, _Known] = {}
        self._fresh: set[int] = set()
        self._next_message = self._first_free("messages")
        self._next_chunk = self._first_free("chunks")
        self._first_chunk = self._next_chunk
        row = connection.execute(
            "SELECT first_ms, exchange_id, side_exchange_id FROM files WHERE id = ?", (batch.file_id,)
        ).fetchone()
        stored_first: int | None = row[0]
        self._first_ms = stored_first if stored_first is not None else batch.first_ms
        self._exchange: list[int | None] = [row[1], row[2]]
        self._elsewhere: set[int] = set()
        """Fingerprints of this batch that a message of another file has too."""

    def run(self) -> BatchResult:
        batch = self._batch
        if self._first_ms is not None:
            self._db.execute(
                "UPDATE files SET first_ms = ?, session_id = ? WHERE id = ?",
                (self._first_ms, self._session, batch.file_id),
            )
        self._prefetch()
        for occurrence in batch.occurrences:
            self._place(occurrence)
        self._flush()
        self._facts()
        self._counts()
        self._summaries()
        self._spans()
        self._move()
        return BatchResult(len(self._fresh), self._next_chunk - self._first_chunk, tuple(self._touched))

    # Which message is this? -----------------------------------------------------------------------------------

    def _prefetch(self) -> None:
        keys = json.dumps([message_key(each.message.uuid) for each in self._batch.occurrences])
        for row in self._db.execute(
            f"SELECT {_KNOWN_COLUMNS} WHERE m.key IN (SELECT value FROM json_each(?))",
            (keys,),
        ):
            known = _Known(*row)
            self._by_key[known.key] = known
        for row in self._db.execute(
            f"SELECT c.key, {_KNOWN_COLUMNS} JOIN copies c ON c.message_id = m.id"
            " WHERE c.key IN (SELECT value FROM json_each(?))",
            (keys,),
        ):
            self._by_key.setdefault(row[0], _Known(*row[1:]))
        fingerprints = json.dumps([each.message.fingerprint for each in self._batch.occurrences])
        self._elsewhere = {
            row[0]
            for row in self._db.execute(
                "SELECT fingerprint FROM messages WHERE fingerprint IN (SELECT value FROM json_each(?)) AND file_id <> ?",
                (fingerprints, self._batch.file_id),
            )
        }

    def _place(self, occurrence: Occurrence) -> None:
        message = occurrence.message
        key = message_key(message.uuid)
        known = self._by_key.get(key)
        if known is None and message.fingerprint in self._elsewhere:
            known = self._same_by_content(occurrence)
            if known is not None:
                self._by_key[key] = known
                self._again(known, occurrence, key)
                self._merge_ancestors(known, message)
                self._follow(known, message)
                return
        if known is None:
            self._insert(occurrence, key)
            return
        self._again(known, occurrence, key)
        self._follow(known, message)

    def _same_by_content(self, occurrence: Occurrence) -> _Known | None:
        """Find the original of a copy that got a new uuid (resume up to 1.0.x, `/btw` replays).

        The API's own id and the text identify it. A person's words alone do not: those must also answer, or be
        answered by, a message that is a copy (`_merge_ancestors`).
        """
        message = occurrence.message
        self._flush()
        parent_keys: set[int] = set()
        if message.parent_uuid is not None:
            parent = self._by_key.get(message_key(message.parent_uuid))
            parent_keys = set() if parent is None else self._keys_of(parent)
        rows = self._db.execute(
            f"""SELECT {_KNOWN_COLUMNS} WHERE m.fingerprint = ? AND m.file_id <> ?
                AND NOT EXISTS (SELECT 1 FROM copies c WHERE c.message_id = m.id AND c.file_id = ?)
                ORDER BY m.id""",
            (message.fingerprint, self._batch.file_id, self._batch.file_id),
        ).fetchall()
        for row in rows:
            known = _Known(*row)
            if message.has_strong_id or known.parent in parent_keys:
                return known
        return None

    def _keys_of(self, known: _Known) -> set[int]:
        """Return every key a message goes by: its own and those of its copies."""
        keys = {known.key}
        keys.update(row[0] for row in self._db.execute("SELECT key FROM copies WHERE message_id = ?", (known.id,)))
        return keys

    def _merge_ancestors(self, known: _Known, message: ParsedMessage) -> None:
        """Walk up from a copied answer: prompts before it that were taken for new ones are copies too."""
        here = message.parent_uuid
        there = known.parent
        while here is not None and there is not None:
            mine = self._load("m.key = ?", message_key(here))
            original = self._load("m.key = ?", there) or self._load_by_copy(there)
            if (
                mine is None
                or original is None
                or mine.id == original.id
                or mine.file_id == original.file_id
                or mine.fingerprint != original.fingerprint
            ):
                return
            parent_of_mine, parent_of_original = mine.parent, original.parent
            self._merge(original, mine)
            if parent_of_mine is None or parent_of_original is None:
                return
            row = self._db.execute("SELECT uuid FROM messages WHERE key = ?", (parent_of_mine,)).fetchone()
            if row is None:
                return
            here = unpack_uuid(row[0])
            there = parent_of_original

    def _load(self, condition: str, *values: object) -> _Known | None:
        row = self._db.execute(f"SELECT {_KNOWN_COLUMNS} WHERE {condition}", values).fetchone()
        return None if row is None else _Known(*row)

    def _load_by_copy(self, key: int) -> _Known | None:
        return self._load("m.id = (SELECT message_id FROM copies WHERE key = ? LIMIT 1)", key)

    def _merge(self, kept: _Known, dropped: _Known) -> None:
        """Make two messages one: the dropped one becomes another place of the kept one."""
        chunks = [row[0] for row in self._db.execute("SELECT id FROM chunks WHERE message_id = ?", (dropped.id,))]
        self.delete_chunks(chunks)
        self._db.execute("UPDATE copies SET message_id = ? WHERE message_id = ?", (kept.id, dropped.id))
        self._db.execute("DELETE FROM messages WHERE id = ?", (dropped.id,))
        for table in ("messages", "chunks"):
            self._db.execute(
                f"UPDATE {table} SET exchange_id = ? WHERE exchange_id = ?",
                (kept.id, dropped.id),
            )
        for column in ("exchange_id", "side_exchange_id"):
            self._db.execute(
                f"UPDATE files SET {column} = ? WHERE {column} = ?",
                (kept.id, dropped.id),
            )
        self._exchange = [kept.id if each == dropped.id else each for each in self._exchange]
        self._add_copy(kept.id, dropped)
        self._fresh.discard(dropped.id)
        for key, known in self._by_key.items():
            if known.id == dropped.id:
                self._by_key[key] = kept
        self._touched.update((kept.session, dropped.session))
        if dropped.rank() < kept.rank():
            self._swap(kept, dropped)

    # A message that is known already ---------------------------------------------------------------------------

    def _again(self, known: _Known, occurrence: Occurrence, key: int) -> None:
        batch = self._batch
        message = occurrence.message
        if known.id in self._fresh and known.file_id == batch.file_id:
            return  # Twice in one file: a second compaction re-appends earlier lines (claude-code#92089).
        if known.file_id == batch.file_id:
            if known.generation < batch.generation:
                self._db.execute(
                    "UPDATE messages SET offset = ?, length = ?, part = ?, generation = ? WHERE id = ?",
                    (occurrence.offset, occurrence.length, occurrence.part, batch.generation, known.id),
                )
                known.offset, known.length, known.part = occurrence.offset, occurrence.length, occurrence.part
                known.generation = batch.generation
                if known.fingerprint != message.fingerprint:
                    self._replace_blocks(known, message)
            elif (known.offset, known.part) == (occurrence.offset, occurrence.part):
                if known.length != occurrence.length:
                    self._db.execute("UPDATE messages SET length = ? WHERE id = ?", (occurrence.length, known.id))
                    known.length = occurrence.length
            return
        row = self._db.execute(
            "SELECT offset, part, generation FROM copies WHERE message_id = ? AND file_id = ?",
            (known.id, batch.file_id),
        ).fetchone()
        if row is not None:
            if row[2] < batch.generation:
                self._db.execute(
                    "DELETE FROM copies WHERE file_id = ? AND offset = ? AND part = ?", (batch.file_id, row[0], row[1])
                )
            else:
                return
        here = self._as_known(known, occurrence, key)
        self._add_copy(known.id, here)
        self._touched.update((here.session, known.session))
        if here.rank() < known.rank():
            self._swap(known, here)

    def _as_known(self, known: _Known, occurrence: Occurrence, key: int) -> _Known:
        message = occurrence.message
        return _Known(
            id=known.id,
            key=key,
            uuid=pack_uuid(message.uuid),
            parent=None if message.parent_uuid is None else message_key(message.parent_uuid),
            fingerprint=message.fingerprint,
            session=self._names.session(message.session_id),
            session_name=message.session_id,
            file_id=self._batch.file_id,
            offset=occurrence.offset,
            length=occurrence.length,
            part=occurrence.part,
            generation=self._batch.generation,
            time_ms=message.timestamp_ms,
            copied=int(message.copied_from is not None),
            folder=self._names.folder(message.cwd, self._batch.projects),
            file_first_ms=self._first_ms,
            exchange=known.exchange,
        )

    def _add_copy(self, message_id: int, place: _Known) -> None:
        self._db.execute(
            """INSERT OR REPLACE INTO copies (file_id, offset, part, message_id, session_id, key, uuid, length,
               generation, time_ms, copied, folder_id, parent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                place.file_id, place.offset, place.part, message_id, place.session, place.key, place.uuid,
                place.length, place.generation, place.time_ms, place.copied, place.folder, place.parent,
            ),
        )  # fmt: skip

    def _swap(self, owner: _Known, better: _Known) -> None:
        """Give a message to the place that held it first; the place that had it becomes a copy."""
        old = _Known(
            owner.id, owner.key, owner.uuid, owner.parent, owner.fingerprint, owner.session, owner.session_name,
            owner.file_id, owner.offset, owner.length, owner.part, owner.generation, owner.time_ms, owner.copied,
            owner.folder, owner.file_first_ms, owner.exchange,
        )  # fmt: skip
        self._db.execute(
            "DELETE FROM copies WHERE file_id = ? AND offset = ? AND part = ?",
            (better.file_id, better.offset, better.part),
        )
        self._add_copy(owner.id, old)
        self._db.execute(
            """UPDATE messages SET key = ?, uuid = ?, parent = ?, session_id = ?, file_id = ?, offset = ?, length = ?,
               part = ?, generation = ?, time_ms = ?, copied = ?, folder_id = ? WHERE id = ?""",
            (
                better.key, better.uuid, better.parent, better.session, better.file_id, better.offset, better.length,
                better.part, better.generation, better.time_ms, better.copied, better.folder, owner.id,
            ),
        )  # fmt: skip
        self._db.execute(
            "UPDATE chunks SET session_id = ?, folder_id = ?, time_ms = ? WHERE message_id = ?",
            (better.session, better.folder, better.time_ms, owner.id),
        )
        owner.key, owner.uuid, owner.parent, owner.session = better.key, better.uuid, better.parent, better.session
        owner.session_name, owner.file_id, owner.offset = better.session_name, better.file_id, better.offset
        owner.length, owner.part, owner.generation = better.length, better.part, better.generation
        owner.time_ms, owner.copied, owner.folder = better.time_ms, better.copied, better.folder
        owner.file_first_ms = better.file_first_ms

    def _replace_blocks(self, known: _Known, message: ParsedMessage) -> None:
        """A rewrite changed what a message says: index what it says now."""
        chunks = [row[0] for row in self._db.execute("SELECT id FROM chunks WHERE message_id = ?", (known.id,))]
        self.delete_chunks(chunks)
        self._db.execute("UPDATE messages SET fingerprint = ? WHERE id = ?", (message.fingerprint, known.id))
        known.fingerprint = message.fingerprint
        self._add_chunks(known.id, message, known.session, known.folder, known.exchange)

    # A new message ---------------------------------------------------------------------------------------------

    def _follow(self, known: _Known, message: ParsedMessage) -> None:
        side = int(message.is_sidechain)
        if message.starts_exchange or self._exchange[side] is None:
            self._exchange[side] = known.exchange

    def _insert(self, occurrence: Occurrence, key: int) -> None:
        message = occurrence.message
        batch = self._batch
        number = self._next_message
        self._next_message += 1
        side = int(message.is_sidechain)
        if message.starts_exchange or self._exchange[side] is None:
            self._exchange[side] = number
        exchange = self._exchange[side] or number
        session = self._names.session(message.session_id)
        folder = self._names.folder(message.cwd, self._batch.projects)
        packed = pack_uuid(message.uuid)
        parent = None if message.parent_uuid is None else message_key(message.parent_uuid)
        copied = int(message.copied_from is not None)
        self._rows.messages.append(
            (
                number, key, packed, parent, message.fingerprint, session, batch.file_id, occurrence.offset,
                occurrence.length, occurrence.part, batch.generation, message.timestamp_ms, ROLES[message.role], side,
                copied, folder, self._names.model(message.model), message.agent_id, exchange,
            )
        )  # fmt: skip
        self._by_key[key] = _Known(
            number, key, packed, parent, message.fingerprint, session, message.session_id, batch.file_id,
            occurrence.offset, occurrence.length, occurrence.part, batch.generation, message.timestamp_ms, copied,
            folder, self._first_ms, exchange,
        )  # fmt: skip
        self._fresh.add(number)
        self._touched.add(session)
        self._add_chunks(number, message, session, folder, exchange)

    def _add_chunks(
        self, message_id: int, message: ParsedMessage, session: int, folder: int | None, exchange: int
    ) -> None:
        for block in message.blocks:
            if not block.text:
                continue
            number = self._next_chunk
            self._next_chunk += 1
            self._rows.chunks.append(
                (
                    number, message_id, block.number, KINDS[block.kind], SIGNALS[block.signal], ROLES[message.role],
                    int(message.is_sidechain), int(block.is_error), self._names.tool(block.tool), session, folder,
                    message.timestamp_ms, exchange, block.cut,
                )
            )  # fmt: skip
            self._rows.texts.append((number, block.text))
            self._rows.words.append((number, index_words(block.text), index_parts(block.text)))

    def _flush(self) -> None:
        rows = self._rows
        if rows.messages:
            self._db.executemany(
                f"INSERT INTO messages VALUES ({', '.join('?' * 19)})",
                rows.messages,
            )
        if rows.chunks:
            self._db.executemany(f"INSERT INTO chunks VALUES ({', '.join('?' * 14)})", rows.chunks)
            self._db.executemany("INSERT INTO texts VALUES (?, ?)", rows.texts)
            self._db.executemany("INSERT INTO search (rowid, words, parts) VALUES (?, ?, ?)", rows.words)
        self._rows = _Pending()

    def delete_chunks(self, chunks: Iterable[int]) -> None:
        """Remove chunks with their words."""
        self._flush()
        delete_chunks(self._db, chunks)

    # Sessions and files ----------------------------------------------------------------------------------------

    def _facts(self) -> None:
        columns = {
            "custom_title": "custom_title",
            "ai_title": "ai_title",
            "last_prompt": "last_prompt",
            "pr_link": None,
            "cost_state": None,
        }
        for fact in self._batch.facts:
            session = self._names.session(fact.session_id)
            column = columns.get(fact.kind)
            if column is not None:
                self._db.execute(f"UPDATE sessions SET {column} = ? WHERE id = ?", (fact.text, session))
            elif fact.kind == "parent":
                self._db.execute(
                    "UPDATE sessions SET parent = ?, parent_kind = ? WHERE id = ?", (fact.text, fact.about, session)
                )
            elif fact.kind == "worktree" and fact.about is not None:
                self._names.group(fact.about, self._batch.projects.get(fact.text, fact.text))
            elif fact.kind == "summary" and not fact.text.startswith(_MACHINE_TITLES):
                if fact.about is None:
                    self._db.execute("UPDATE sessions SET summary = ? WHERE id = ?", (fact.text, session))
                else:
                    self._db.execute(
                        "INSERT OR REPLACE INTO summaries (leaf, text) VALUES (?, ?)",
                        (message_key(fact.about), fact.text),
                    )

    def _summaries(self) -> None:
        """Give titles to sessions whose message a summary names; summaries may come before or after the message."""
        if not self._db.execute("SELECT 1 FROM summaries LIMIT 1").fetchone():
            return
        self._db.execute(
            """UPDATE sessions SET summary = (
                   SELECT su.text FROM summaries su JOIN messages m ON m.key = su.leaf
                   WHERE m.session_id = sessions.id ORDER BY m.time_ms DESC LIMIT 1)
               WHERE id IN (SELECT m.session_id FROM summaries su JOIN messages m ON m.key = su.leaf)"""
        )
        self._db.execute("DELETE FROM summaries WHERE leaf IN (SELECT key FROM messages)")

    def _counts(self) -> None:
        batch = self._batch
        self._db.executemany(
            """INSERT INTO kept_types (file_id, type, known, lines) VALUES (?, ?, ?, ?)
               ON CONFLICT DO UPDATE SET lines = lines + excluded.lines""",
            [(batch.file_id, name, int(known), count) for (name, known), count in batch.kept.items()],
        )
        self._db.executemany(
            "INSERT OR REPLACE INTO problems (file_id, offset, line, what, salvaged) VALUES (?, ?, ?, ?, ?)",
            [(batch.file_id, each.offset, each.line, each.what, int(each.salvaged)) for each in batch.problems],
        )

    def _spans(self) -> None:
        """Keep first and last time, folder, branch, opening and origin of the sessions that this batch speaks of."""
        spans: dict[str, list[ParsedMessage]] = {}
        for occurrence in self._batch.occurrences:
            spans.setdefault(occurrence.message.session_id, []).append(occurrence.message)
        for name, messages in spans.items():
            session = self._names.session(name)
            times = [each.timestamp_ms for each in messages if each.timestamp_ms is not None]
            main = [each for each in messages if not each.is_sidechain]
            folder = next(
                (self._names.folder(each.cwd, self._batch.projects) for each in main or messages if each.cwd), None
            )
            branch = next((each.branch for each in reversed(main) if each.branch and each.branch != "HEAD"), None)
            version = next((each.version for each in reversed(messages) if each.version), None)
            started = min(times, default=None)
            self._db.execute(
                """UPDATE sessions SET
                     folder_id = CASE WHEN folder_id IS NULL OR (?1 < started_ms AND ?2 IS NOT NULL) THEN ?2
                                 ELSE folder_id END,
                     branch = CASE WHEN ?3 IS NULL OR (last_ms > ?4 AND branch IS NOT NULL) THEN branch ELSE ?3 END,
                     version = CASE WHEN ?5 IS NULL OR (last_ms > ?4 AND version IS NOT NULL) THEN version ELSE ?5 END,
                     started_ms = min(coalesce(started_ms, ?1), coalesce(?1, started_ms)),
                     last_ms = max(coalesce(last_ms, ?4), coalesce(?4, last_ms))
                   WHERE id = ?6""",
                (started, folder, branch, max(times, default=None), version, session),
            )
            self._opening(session, main)
            self._origin(session, main)

    def _opening(self, session: int, messages: list[ParsedMessage]) -> None:
        for each in messages:
            if each.role is Role.USER and each.opening:
                self._db.execute(
                    """UPDATE sessions SET opening = ?1, opening_ms = ?2
                       WHERE id = ?3 AND (opening IS NULL OR coalesce(?2, ?4) < coalesce(opening_ms, ?4))""",
                    (each.opening, each.timestamp_ms, session, _NO_TIME),
                )
                return

    def _origin(self, session: int, messages: list[ParsedMessage]) -> None:
        """Remember which session this one was copied from, as its own lines say it."""
        source = next((each.copied_from for each in messages if each.copied_from), None)
        if source is not None:
            self._db.execute(
                "UPDATE sessions SET parent = ?, parent_kind = 'forked' WHERE id = ? AND parent IS NULL",
                (source, session),
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

    def _first_free(self, table: str) -> int:
        return int(self._db.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {table}").fetchone()[0])


def delete_chunks(connection: apsw.Connection, chunks: Iterable[int]) -> None:
    """Remove chunks from every table that holds a row of them, in the caller's transaction."""
    rows = [(number,) for number in chunks]
    connection.executemany("DELETE FROM search WHERE rowid = ?", rows)
    connection.executemany("DELETE FROM texts WHERE id = ?", rows)
    connection.executemany("DELETE FROM chunks WHERE id = ?", rows)
