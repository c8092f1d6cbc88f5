"""An index over a folder of transcripts without an engine around it: read, look at everything that was stored."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.core.clock import FixedClock
from engine.ingest.pipeline import Ingestor
from engine.store.rows import rows
from engine.store.writer import StoreWriter
from engine.transcripts.discovery import Root
from engine.usage.recorder import UsageRecorder

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from engine.ingest.preparation import Assistant, Screen
    from engine.store.batches import BatchResult
    from engine.store.connection import Connection, Value

NOON = 1_772_625_600.0
"""2026-03-04 12:00 UTC."""


@dataclass
class Index:
    """A database with its writer, and what reads into it."""

    writer: StoreWriter
    ingestor: Ingestor
    clock: FixedClock
    committed: list[int] = field(default_factory=list[int])
    """Messages of each transaction."""
    has_committed: threading.Event = field(default_factory=threading.Event)

    def read(self, *, force: bool = False) -> int:
        """Look at the roots and read what changed; returns how many files were queued."""
        queued = self.ingestor.scan(force=force)
        self.ingestor.drain()
        problem = self.ingestor.progress.problem
        if problem is not None:
            raise problem
        return queued

    def rows(self, sql: str, *values: Value) -> list[tuple[Any, ...]]:
        """Ask the database."""
        return self.writer.write(lambda connection: rows(connection, sql, values), transaction=False)

    def one(self, sql: str, *values: Value) -> Any:
        """Ask for one value."""
        return self.rows(sql, *values)[0][0]

    def texts(self) -> list[str]:
        """Return the texts of all chunks, in the order they were indexed."""
        return [row[0] for row in self.rows("SELECT plain_text(text) FROM texts ORDER BY id")]

    def found(self, words: str) -> list[str]:
        """Return the texts of the chunks that hold words, by the index of words."""
        return [
            row[0]
            for row in self.rows(
                """SELECT plain_text(x.text) FROM search JOIN texts x ON x.id = search.rowid
                    WHERE search MATCH ? ORDER BY x.id""",
                words,
            )
        ]

    def lineage(self) -> dict[str, tuple[str, str]]:
        """Return (parent, kind) of the sessions that came from another one."""
        found = self.rows("SELECT session_id, parent, parent_kind FROM sessions WHERE parent IS NOT NULL")
        return {row[0]: (row[1], row[2]) for row in found}

    def dump(self) -> dict[str, Any]:
        """Return everything that is stored, by content: equal histories dump equal, whatever numbers rows have."""
        return self.writer.write(dump, transaction=False)


@contextmanager
def index(
    database: Path,
    *roots: Path,
    clock: FixedClock | None = None,
    is_excluded: Callable[[str | None], bool] = lambda _cwd: False,
    assistant: Callable[[], Assistant] | None = None,
    screen: Screen | None = None,
) -> Generator[Index]:
    """Give an index over roots that may or may not exist yet. Nothing is read before it is asked to."""
    time = clock or FixedClock(NOON)
    writer = StoreWriter(database)
    writer.start()
    committed: list[int] = []
    has_committed = threading.Event()

    def note(results: tuple[BatchResult, ...]) -> None:
        committed.append(sum(each.messages for each in results))
        has_committed.set()

    ingestor = Ingestor(
        writer,
        lambda: tuple(Root(root, root.name) for root in roots),
        clock=time,
        on_committed=note,
        is_excluded=is_excluded,
        observer=UsageRecorder(),
        assistant=assistant,
        screen=screen,
    )
    try:
        yield Index(writer, ingestor, time, committed, has_committed)
    finally:
        ingestor.close()
        assert writer.close()


_QUERIES = {
    "messages": """SELECT m.uuid, p.uuid, m.parent, m.fingerprint, s.session_id, f.name, m.offset, m.length, m.part,
        f.generation > m.generation, m.time_ms, m.role, m.sidechain, m.copied, m.copy_kind, d.cwd, o.name, m.agent
        FROM messages m JOIN messages p ON p.id = m.exchange_id JOIN sessions s ON s.id = m.session_id
        JOIN named_files f ON f.id = m.file_id LEFT JOIN folders d ON d.id = m.folder_id
        LEFT JOIN models o ON o.id = m.model_id""",
    "chunks": """SELECT m.uuid, c.block, p.uuid, c.kind, c.signal, c.role, c.sidechain, c.failed, c.time_ms, c.cut,
        s.session_id, d.cwd, t.name, plain_text(x.text) FROM chunks c JOIN texts x ON x.id = c.id
        JOIN messages m ON m.id = c.message_id JOIN messages p ON p.id = c.exchange_id
        JOIN sessions s ON s.id = c.session_id LEFT JOIN folders d ON d.id = c.folder_id
        LEFT JOIN tools t ON t.id = c.tool_id""",
    "words": """SELECT m.uuid, c.block, w.col, w.offset, w.term FROM temp.words w JOIN chunks c ON c.id = w.doc
        JOIN messages m ON m.id = c.message_id""",
    "copies": """SELECT m.uuid, c.uuid, f.name, c.offset, c.part, s.session_id, c.key, c.length,
        f.generation > c.generation, c.time_ms, c.copy_kind, c.parent FROM copies c
        JOIN messages m ON m.id = c.message_id JOIN named_files f ON f.id = c.file_id
        JOIN sessions s ON s.id = c.session_id""",
    "sessions": """SELECT s.session_id, d.cwd, s.started_ms, s.last_ms, s.branch, s.version, s.custom_title, s.ai_title,
        s.last_prompt, s.summary, s.summary_ms, s.opening, s.parent, s.parent_kind FROM sessions s
        LEFT JOIN folders d ON d.id = s.folder_id""",
    "accounts": """SELECT f.name, s.session_id, a.main, a.first_ms, a.last_ms, d.cwd, a.branch, a.version,
        a.custom_title, a.ai_title, a.last_prompt, a.summary, a.opening, a.parent, a.parent_kind FROM file_sessions a
        JOIN named_files f ON f.id = a.file_id JOIN sessions s ON s.id = a.session_id
        LEFT JOIN folders d ON d.id = a.folder_id""",
    "files": """SELECT n.name, s.session_id, f.size, f.offset, hex(f.tail), f.lines, f.first_ms, f.parser,
        f.gone_ms IS NULL, f.error, p.uuid, q.uuid FROM files f JOIN named_files n ON n.id = f.id
        LEFT JOIN sessions s ON s.id = f.session_id LEFT JOIN messages p ON p.id = f.exchange_id
        LEFT JOIN messages q ON q.id = f.side_exchange_id""",
    "projects": "SELECT f.cwd, p.path, f.weight FROM folders f JOIN projects p ON p.id = f.project_id",
    "kept": "SELECT f.name, k.type, k.known, k.lines FROM kept_types k JOIN named_files f ON f.id = k.file_id",
    "problems": """SELECT f.name, p.offset, p.line, p.what, p.salvaged FROM problems p
        JOIN named_files f ON f.id = p.file_id""",
    "summaries": "SELECT leaf, text FROM summaries",
    "agents": """SELECT s.session_id, a.agent, a.tool_use, a.kind, a.description, a.parent FROM agents a
        JOIN sessions s ON s.id = a.session_id""",
    "claims": "SELECT c.original, m.uuid FROM claims c JOIN messages m ON m.id = c.message_id",
    "calls": """SELECT c.key, s.session_id, c.first_ms, c.input, c.output, o.session_id, c.counted_ms FROM api_calls c
        JOIN sessions s ON s.id = c.session_id LEFT JOIN sessions o ON o.id = c.counted_session_id""",
}


def dump(connection: Connection) -> dict[str, Any]:
    """Return the content of all tables of the history, names in place of numbers."""
    connection.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, search, instance)")
    connection.execute(
        """CREATE TEMP VIEW named_files AS SELECT f.id, r.path || '/' || f.path AS name, f.generation
           FROM files f JOIN roots r ON r.id = f.root_id"""
    )
    try:
        return {name: sorted(rows(connection, sql), key=repr) for name, sql in _QUERIES.items()}
    finally:
        connection.execute("DROP VIEW temp.named_files")
        connection.execute("DROP TABLE temp.words")
