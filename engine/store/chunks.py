"""Chunks: the indexed form of a message's blocks, each a row, a text and its words, written and removed together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import apsw

from engine.core.text import PARTS_END, index_columns, index_parts, index_words
from engine.store.codes import KINDS, SIGNALS
from engine.store.rows import insert, number, rows
from engine.store.texts import FROM_BYTES, Packer, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.store.connection import Value
    from engine.store.names import NameTable
    from engine.transcripts.records import ParsedBlock


_TEXTS = f"INSERT INTO texts SELECT rowid + ?, {FROM_BYTES} FROM carray(?)"
_SEARCH = f"""INSERT INTO search (rowid, words, parts)
    SELECT rowid + ?, substr(value, instr(value, '{PARTS_END}') + 1), substr(value, 1, instr(value, '{PARTS_END}') - 1)
    FROM carray(?)"""
"""One statement for many chunks: FTS5 writes what it has in memory at the beginning of each that inserts several rows,
and after each Python's lock has to be taken back from whoever parses. (0.08 s for 8.5 MB of text, as JSON 0.12 s.)"""


class ChunkOwner(NamedTuple):
    """What the chunks of one message repeat from it, so that filters need no join."""

    message: int
    role: int
    sidechain: int
    session: int
    folder: int | None
    time_ms: int | None
    exchange: int


@dataclass(slots=True)
class ChunkTable:
    """Writes chunks on the writer's thread. They wait for `flush`, to the end of a transaction if nobody needs them.

    Numbers are given in a row, so what waits is one stretch of them.
    """

    connection: apsw.Connection
    names: NameTable
    added: int = 0
    """How many were written."""
    _next: int = field(init=False)
    _packer: Packer = field(default_factory=Packer)
    _rows: list[tuple[Value, ...]] = field(default_factory=list[tuple["Value", ...]])
    _texts: list[str] = field(default_factory=list[str])
    _words: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self._next = number(self.connection, "SELECT coalesce(max(id), 0) + 1 FROM chunks")

    def add(self, owner: ChunkOwner, blocks: Iterable[ParsedBlock], words: Mapping[str, str]) -> None:
        """Add the chunks of blocks; those without text are nothing to find.

        Args:
            owner: Their message.
            blocks: Its content.
            words: What enters the word index of some texts (`FileBatch.words`); that of the others is made here.
        """
        for block in blocks:
            text = block.text
            if not text:
                continue
            chunk = self._next
            self._next += 1
            self.added += 1
            self._rows.append((chunk, *self._row(owner, block)))
            self._texts.append(text)
            self._words.append(words.get(text) or index_columns(text))

    def replace(
        self, owner: ChunkOwner, blocks: Iterable[ParsedBlock], words: Mapping[str, str], *, refresh: bool
    ) -> None:
        """Make a message's chunks those of its present blocks. What did not change keeps its number.

        Args:
            owner: The message.
            blocks: As they are now.
            words: As for `add`.
            refresh: Index the words of unchanged chunks again.
        """
        self.flush()
        present = {
            row[1]: row
            for row in rows(
                self.connection,
                f"""SELECT c.id, c.block, c.kind, c.signal, c.role, c.sidechain, c.failed, c.tool_id, c.cut,
                     {plain("x.text")}
                   FROM chunks c JOIN texts x ON x.id = c.id WHERE c.message_id = ?""",
                (owner.message,),
            )
        }
        changed: list[ParsedBlock] = []
        for block in blocks:
            row = present.get(block.number)
            if row is None:
                changed.append(block)
                continue
            new = self._row(owner, block)
            if row[1:9] == (*new[1:8], new[12]) and row[9] == block.text:
                del present[block.number]
                if refresh:
                    self._index_again(row[0], block.text)
            else:
                changed.append(block)
        delete_chunks(self.connection, [row[0] for row in present.values()])
        self.connection.execute(
            "UPDATE chunks SET session_id = ?, folder_id = ?, time_ms = ?, exchange_id = ? WHERE message_id = ?",
            (owner.session, owner.folder, owner.time_ms, owner.exchange, owner.message),
        )
        self.add(owner, changed, words)

    def flush_rows(self) -> None:
        """Insert the rows and texts that wait."""
        if not self._rows:
            return
        insert(self.connection, "INSERT INTO chunks", self._rows)
        stored = apsw.carray(tuple(map(self._packer.bytes_of, self._texts)))
        # `carray` counts its rows from 1.
        self.connection.execute(_TEXTS, (self._next - len(self._texts) - 1, stored))
        self._rows.clear()
        self._texts.clear()

    def flush(self) -> None:
        """Insert everything that waits."""
        self.flush_rows()
        if not self._words:
            return
        self.connection.execute(_SEARCH, (self._next - len(self._words) - 1, apsw.carray(tuple(self._words))))
        self._words.clear()

    def _row(self, owner: ChunkOwner, block: ParsedBlock) -> tuple[Value, ...]:
        return (
            owner.message, block.number, KINDS[block.kind], SIGNALS[block.signal], owner.role, owner.sidechain,
            int(block.is_error), self.names.tool(block.tool), owner.session, owner.folder, owner.time_ms,
            owner.exchange, block.cut,
        )  # fmt: skip

    def _index_again(self, chunk: int, text: str) -> None:
        self.connection.execute(
            "INSERT OR REPLACE INTO search (rowid, words, parts) VALUES (?, ?, ?)",
            (chunk, index_words(text), index_parts(text)),
        )


def delete_chunks(connection: apsw.Connection, chunks: Iterable[int]) -> None:
    """Remove chunks from every table that holds a row of them, in the caller's transaction."""
    numbers = [(chunk,) for chunk in chunks]
    connection.executemany("DELETE FROM search WHERE rowid = ?", numbers)
    connection.executemany("DELETE FROM texts WHERE id = ?", numbers)
    connection.executemany("DELETE FROM chunks WHERE id = ?", numbers)
