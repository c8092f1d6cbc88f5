"""Keyword tables of Knowledge inside `state.sqlite`: a projection that can be dropped at any time.

For each scope two FTS5 tables (searched records; earlier wordings) with their row tables. Contentless: the text stays
in the vault. Ranking is done by the caller from `counts` and `positions`: `bm25()` knows only the whole table (R67).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import apsw

from engine.core.errors import StorageFailure

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from engine.store.knowledge_state import KnowledgeState

TOKENIZER = "unicode61 remove_diacritics 2"
FINGERPRINT = f"keyword-1 {apsw.sqlite_lib_version()} {TOKENIZER}"
"""A change of schema, tokenizer or of SQLite's own Unicode tables rebuilds the projection (R80)."""

Projection = Literal["current", "earlier"]
Column = Literal[0, 1, 2]
"""Title, aliases, body."""

_PREFIX: dict[Projection, tuple[str, str]] = {
    "current": ("keyword_fts_v1", "keyword_rows_v1"),
    "earlier": ("keyword_history_fts_v1", "keyword_history_rows_v1"),
}
_COLUMNS: dict[str, Column] = {"title": 0, "aliases": 1, "body": 2}


class IndexUnavailable(StorageFailure):
    """The keyword tables cannot be built or read; everything else still works (R76)."""

    code = "index_unavailable"


@dataclass(frozen=True, slots=True)
class IndexText:
    """The searched text of one record."""

    id: str
    hash: str
    title: str
    aliases: tuple[str, ...]
    body: str


@dataclass(frozen=True, slots=True)
class IndexedRow:
    """A record as it stands in the index."""

    rowid: int
    hash: str
    tokens: int
    """Tokens of all columns, the document length of BM25."""
    alias_ends: tuple[int, ...]
    """Token position after each alias in the aliases column: a phrase may not cross one (R9)."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The indexed rows a question may see: the whole corpus of its statistics."""

    sizes: dict[int, int]
    """Tokens by row."""
    names: dict[int, str]
    """Record id by row."""


@dataclass(frozen=True, slots=True)
class IndexMark:
    """What the projection last matched."""

    snapshot: str
    fingerprint: str
    indexed_at: float
    history_seq: int
    """Publications up to this history row are in the index (R73)."""
    generation: int
    """Random, so that a rebuilt table is never taken for the one before."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text, with its byte offsets in the text's UTF-8."""

    start: int
    stop: int
    word: str


class Words:
    """SQLite's own tokenizer, so that questions and index never disagree about what a word is."""

    def __init__(self, connection: apsw.Connection) -> None:
        name, *arguments = TOKENIZER.split()
        self._tokenizer = connection.fts5_tokenizer(name, [str(one) for one in arguments])

    def of(self, text: str) -> list[Token]:
        """Return the words of a text in order."""
        found = self._tokenizer(text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT, None)
        return [Token(start, stop, words[0]) for start, stop, *words in found]  # pyright: ignore[reportArgumentType] - apsw types a token as a tuple of mixed length

    def count(self, text: str) -> int:
        """Return the number of words."""
        found = self._tokenizer(
            text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False
        )
        return len(list(found))


class KeywordIndex:
    """The keyword tables of one scope."""

    def __init__(self, state: KnowledgeState, scope: str) -> None:
        self._connection = state.connection
        self._scope = scope
        suffix = hashlib.sha256(scope.encode()).hexdigest()[:12]
        self._tables: dict[Projection, tuple[str, str]] = {
            name: (f"{fts}_{suffix}", f"{rows}_{suffix}") for name, (fts, rows) in _PREFIX.items()
        }
        self._rows: dict[Projection, dict[str, IndexedRow]] = {"current": {}, "earlier": {}}
        self._hashes: dict[Projection, dict[str, str]] = {"current": {}, "earlier": {}}
        """Hash by record id, beside `_rows` so that two states are compared in one step."""
        self._generation: int | None = None
        self._corpora: dict[Projection, tuple[frozenset[str], Corpus]] = {}
        self._moved: dict[Projection, dict[str, int | None]] = {"current": {}, "earlier": {}}
        """Records added and removed since the corpus was made, with the row they have in it."""
        with index_errors():
            self.words = Words(state.connection)

    def mark(self) -> IndexMark | None:
        """Return what the projection last matched, None when it must be built from nothing."""
        with index_errors():
            names = [name for pair in self._tables.values() for name in pair]
            found = self._connection.execute(
                f"SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ({','.join('?' * 5)})",
                (*names, "keyword_state_v1"),
            ).get
            if found != 5:
                return None
            row = self._connection.execute(
                "SELECT snapshot, fingerprint, indexed_at, history_seq, generation FROM keyword_state_v1 "
                "WHERE scope = ?",
                (self._scope,),
            ).fetchone()
        if row is None:
            return None
        snapshot, fingerprint, indexed_at, history_seq, generation = row
        return IndexMark(
            str(snapshot), str(fingerprint), float(str(indexed_at)), int(str(history_seq)), int(str(generation))
        )

    def load(self) -> None:
        """Read what is indexed, when another process indexed since or nothing was read yet."""
        mark = self.mark()
        generation = mark.generation if mark is not None else None
        if generation is None or generation != self._generation:
            with index_errors():
                for name, (_, table) in self._tables.items():
                    self._rows[name] = {} if generation is None else self._load(table)
                    self._hashes[name] = {record: row.hash for record, row in self._rows[name].items()}
            self._generation = generation
            self._corpora.clear()

    def hashes(self, projection: Projection) -> Mapping[str, str]:
        """Return the hash of everything indexed, by record id, as of the last `load`, `add` and `remove`."""
        return self._hashes[projection]

    def rows(self, projection: Projection) -> Mapping[str, IndexedRow]:
        """Return what is indexed, by record id, as of the last `load`, `add` and `remove`."""
        return self._rows[projection]

    def _load(self, table: str) -> dict[str, IndexedRow]:
        rows = self._connection.execute(f"SELECT rowid, id, hash, tokens, alias_ends FROM {table}")
        return {
            str(name): IndexedRow(int(str(rowid)), str(digest), int(str(tokens)), tuple(json.loads(str(ends))))
            for rowid, name, digest, tokens, ends in rows
        }

    def corpus(self, projection: Projection, allowed: frozenset[str]) -> Corpus:
        """Return the rows of these records. The last answer is carried on: the same set usually comes again."""
        known = self._corpora.get(projection)
        moved, rows = self._moved[projection], self._rows[projection]
        if known is None or (known[0] is not allowed and known[0] != allowed):
            names = {rows[name].rowid: name for name in allowed if name in rows}
            corpus = Corpus({rowid: rows[name].tokens for rowid, name in names.items()}, names)
        elif moved:
            corpus = Corpus(dict(known[1].sizes), dict(known[1].names))
            for before in moved.values():
                if before is not None:
                    corpus.sizes.pop(before, None)
                    corpus.names.pop(before, None)
            # Only now: a row that one record left may be another's.
            for name in moved:
                row = rows.get(name)
                if row is not None and name in allowed:
                    corpus.sizes[row.rowid], corpus.names[row.rowid] = row.tokens, name
        else:
            corpus = known[1]
        self._corpora[projection] = (allowed, corpus)
        moved.clear()
        return corpus

    def rebuild(self) -> None:
        """Drop this scope's tables and create them empty. Inside a transaction."""
        with index_errors():
            execute = self._connection.execute
            execute(
                "CREATE TABLE IF NOT EXISTS keyword_state_v1 (scope TEXT PRIMARY KEY, snapshot TEXT NOT NULL, "
                "fingerprint TEXT NOT NULL, indexed_at REAL NOT NULL, history_seq INTEGER NOT NULL, "
                "generation INTEGER NOT NULL) WITHOUT ROWID",
            )
            execute("DELETE FROM keyword_state_v1 WHERE scope = ?", (self._scope,))
            for fts, rows in self._tables.values():
                execute(f"DROP TABLE IF EXISTS {fts}")
                execute(f"DROP TABLE IF EXISTS {rows}")
                execute(
                    f"CREATE VIRTUAL TABLE {fts} USING fts5(title, aliases, body, content='', contentless_delete=1, "
                    f"tokenize='{TOKENIZER}')",
                )
                execute(
                    f"CREATE TABLE {rows} (rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, "
                    "tokens INTEGER NOT NULL, alias_ends TEXT NOT NULL)",
                )
        self._rows = {"current": {}, "earlier": {}}
        self._hashes = {"current": {}, "earlier": {}}
        self._generation = None
        self._corpora.clear()

    def remove(self, projection: Projection, names: Iterable[str]) -> None:
        """Take records out. Inside a transaction."""
        fts, table = self._tables[projection]
        known = self._rows[projection]
        with index_errors():
            for name in names:
                row = known.pop(name)
                del self._hashes[projection][name]
                self._moved[projection].setdefault(name, row.rowid)
                self._connection.execute(f"DELETE FROM {fts} WHERE rowid = ?", (row.rowid,))
                self._connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (row.rowid,))

    def add(self, projection: Projection, texts: Iterable[IndexText]) -> int:
        """Put records in and return how many. Inside a transaction."""
        fts, table = self._tables[projection]
        known = self._rows[projection]
        count = 0
        with index_errors():
            rowid = int(str(self._connection.execute(f"SELECT coalesce(max(rowid), 0) FROM {table}").get))
            for text in texts:
                rowid += 1
                count += 1
                ends: list[int] = []
                for alias in text.aliases:
                    ends.append((ends[-1] if ends else 0) + self.words.count(alias))
                tokens = self.words.count(text.title) + (ends[-1] if ends else 0) + self.words.count(text.body)
                self._connection.execute(
                    f"INSERT INTO {fts} (rowid, title, aliases, body) VALUES (?, ?, ?, ?)",
                    (rowid, text.title, "\n".join(text.aliases), text.body),
                )
                self._connection.execute(
                    f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)",
                    (rowid, text.id, text.hash, tokens, json.dumps(ends)),
                )
                known[text.id] = IndexedRow(rowid, text.hash, tokens, tuple(ends))
                self._hashes[projection][text.id] = text.hash
                self._moved[projection].setdefault(text.id, None)
        return count

    def set_mark(self, snapshot: str, indexed_at: float, history_seq: int) -> None:
        """Note that the tables now match a snapshot. Inside the transaction that made it true."""
        with index_errors():
            self._connection.execute(
                "INSERT INTO keyword_state_v1 VALUES (?, ?, ?, ?, ?, random()) ON CONFLICT (scope) DO UPDATE SET "
                "snapshot = excluded.snapshot, fingerprint = excluded.fingerprint, indexed_at = excluded.indexed_at, "
                "history_seq = excluded.history_seq, generation = excluded.generation",
                (self._scope, snapshot, FINGERPRINT, indexed_at, history_seq),
            )
            mark = self.mark()
        self._generation = mark.generation if mark is not None else None

    def forget(self) -> None:
        """Drop what is remembered of the tables, after a transaction that was rolled back."""
        self._generation = None

    def counts(self, projection: Projection, word: str) -> tuple[Counter[int], Counter[int], Counter[int]]:
        """Return how often a word stands in title, aliases and body of each row."""
        # One row of three JSON lists: fetching 20,000 rows one by one takes five times as long.
        with index_errors():
            row = self._connection.execute(
                "SELECT json_group_array(doc) FILTER (WHERE col = 'title'), "
                "json_group_array(doc) FILTER (WHERE col = 'aliases'), "
                "json_group_array(doc) FILTER (WHERE col = 'body') "
                f"FROM {self._vocabulary(projection)} WHERE term = ?",
                (word,),
            ).fetchone()
        title, aliases, body = (Counter[int](json.loads(str(rows))) for rows in row or ("[]", "[]", "[]"))
        return title, aliases, body

    def positions(self, projection: Projection, word: str) -> list[tuple[int, Column, int]]:
        """Return (row, column, position) of every occurrence of a word."""
        with index_errors():
            rows = self._connection.execute(
                f"SELECT doc, col, offset FROM {self._vocabulary(projection)} WHERE term = ?",
                (word,),
            )
            columns = _COLUMNS
            return [(doc, columns[col], offset) for doc, col, offset in rows]  # pyright: ignore[reportArgumentType] - SQLite's values are untyped

    def _vocabulary(self, projection: Projection) -> str:
        fts, _ = self._tables[projection]
        name = f"temp.words_of_{fts}"
        self._connection.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5vocab('main', '{fts}', 'instance')"
        )
        return name


@dataclass(frozen=True, slots=True)
class ProjectionPostings:
    """Where words stand in one projection, for ranking."""

    index: KeywordIndex
    projection: Projection
    names: dict[int, str]
    """Record id by row."""

    def counts(self, word: str) -> tuple[Counter[int], Counter[int], Counter[int]]:
        """Return how often a word stands in each column of each row."""
        return self.index.counts(self.projection, word)

    def positions(self, word: str) -> list[tuple[int, Column, int]]:
        """Return (row, column, position) of every occurrence of a word."""
        return self.index.positions(self.projection, word)

    def alias_ends(self, row: int) -> tuple[int, ...]:
        """Return the position behind each alias of a row."""
        return self.index.rows(self.projection)[self.names[row]].alias_ends


@contextmanager
def index_errors() -> Generator[None]:
    """Turn whatever SQLite says about the projection into one refusal: it can always be rebuilt or done without.

    Raises:
        IndexUnavailable: The keyword tables do not work.
    """
    try:
        yield
    except apsw.Error as exc:
        raise IndexUnavailable("The keyword index of Knowledge does not work", f"SQLite says: {exc}.") from exc
