"""Fills a database with as many invented chunks as a benchmark wants, with the mix of kinds of a real history.

Rows go straight into the tables, in the writer's own order (newest session first, as after a first start), so that a
million chunks take minutes and no gigabytes of transcripts. Vectors are real ones, moved: each is the vector of a real
passage plus a part of the difference between two others, which keeps the shape of the cloud. Random vectors would have
none.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from engine.core.models.kinds import Kind, Role, Signal
from engine.core.text import index_parts, index_words
from engine.store import generations
from engine.store.codes import KINDS, ROLES, SIGNALS
from engine.store.connection import one_row, open_writer
from engine.store.migrations import migrate
from engine.store.packing import pack
from engine.store.texts import Packer
from tests.helpers.speech import Speech

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from engine.core.vectors import ModelIdentity
    from engine.store.connection import Connection
    from engine.store.packing import Floats

NEWEST_MS = int(datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp() * 1000)
SESSION_CHUNKS = 170
EXCHANGE_CHUNKS = 25
BLOCK = 5_000
FOLDERS = 40
TOOLS = ("Bash", "Read", "Edit", "Grep", "Write", "TodoWrite", "Agent", "mcp__tracker__get_issue")
INDEXED_CHARACTERS = 4_000
"""The longest text of a chunk, about."""

MIX: tuple[tuple[int, Role, Kind, Signal], ...] = (
    (2163, Role.ASSISTANT, Kind.TEXT, Signal.HIGH),
    (514, Role.INJECTED, Kind.TEXT, Signal.LOW),
    (812, Role.ASSISTANT, Kind.THINKING, Signal.MEDIUM),
    (44, Role.ASSISTANT, Kind.TOOL_USE, Signal.HIGH),
    (2553, Role.ASSISTANT, Kind.TOOL_USE, Signal.MEDIUM),
    (1838, Role.ASSISTANT, Kind.TOOL_USE, Signal.LOW),
    (294, Role.TOOL, Kind.TOOL_RESULT, Signal.MEDIUM),
    (4071, Role.TOOL, Kind.TOOL_RESULT, Signal.LOW),
)
"""Chunks of each sort in 81 MB of real transcripts; prompts begin each exchange."""

PERTURBATION = 0.35
"""Of the difference of two real vectors: a moved one has a cosine of about 0.9 with where it came from."""


@dataclass(frozen=True, slots=True)
class RealVectors:
    """What a model made of real texts."""

    identity: ModelIdentity
    folder: str
    """Where the model lies."""
    vectors: Floats

    def moved(self, chunks: int, seed: int) -> Iterator[Floats]:
        """Yield as many vectors as there are chunks, a block at a time; the same seed gives the same ones."""
        rng = np.random.default_rng(seed)
        for start in range(0, chunks, BLOCK):
            origin, one, other = rng.integers(0, len(self.vectors), (3, min(BLOCK, chunks - start)))
            made = self.vectors[origin] + PERTURBATION * (self.vectors[one] - self.vectors[other])
            yield (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def fill(path: Path, chunks: int, real: RealVectors | None = None, *, seed: int = 1) -> None:
    """Write a database of so many chunks.

    Args:
        path: Where; nothing may be there.
        chunks: How many.
        real: Vectors to be moved, so that each chunk gets one; None for none.
        seed: The same seed gives the same texts and vectors.
    """
    connection = open_writer(path)
    migrate(connection)
    chance = random.Random(seed)
    speech = Speech(chance)
    _names(connection)
    if real is not None:
        generations.open_generation(connection, real.identity, real.folder, "float32")
    trigger = one_row(connection, "SELECT sql FROM sqlite_master WHERE name = 'chunk_waits'")[0]
    connection.execute("DROP TRIGGER chunk_waits")  # every chunk gets its vector at once
    moved = None if real is None else real.moved(chunks, seed)
    sessions = -(-chunks // SESSION_CHUNKS)
    rows = _rows(speech, chance, sessions)
    for start in range(0, chunks, BLOCK):
        block = [next(rows) for _ in range(min(BLOCK, chunks - start))]
        connection.execute("BEGIN IMMEDIATE")
        _write(connection, block)
        if moved is not None:
            _write_vectors(connection, block, next(moved))
        connection.execute("COMMIT")
    connection.execute(trigger)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _names(connection: Connection) -> None:
    connection.execute("INSERT INTO roots VALUES (1, '/home/dev/.claude/projects', 'claude')")
    for number in range(1, FOLDERS + 1):
        connection.execute("INSERT INTO projects VALUES (?, ?)", (number, f"/home/dev/project{number}"))
        connection.execute("INSERT INTO folders VALUES (?1, ?2, ?1, 3)", (number, f"/home/dev/project{number}"))
    connection.executemany("INSERT INTO tools (name) VALUES (?)", [(tool,) for tool in TOOLS])
    connection.execute("INSERT INTO models VALUES (1, 'claude-opus-4-6')")


class _Row:
    """One chunk, with the message of its own."""

    __slots__ = ("exchange", "folder", "kind", "number", "role", "session", "signal", "text", "time_ms", "tool")

    def __init__(self, number: int, sort: tuple[Role, Kind, Signal], text: str, session: int, exchange: int) -> None:
        self.number, self.session, self.exchange = number, session, exchange
        self.role, self.kind, self.signal = ROLES[sort[0]], KINDS[sort[1]], SIGNALS[sort[2]]
        self.text = text[:INDEXED_CHARACTERS]
        self.folder = session % FOLDERS + 1
        self.time_ms = NEWEST_MS - session * 5_400_000 + (number % SESSION_CHUNKS) * 20_000
        self.tool = number % len(TOOLS) + 1 if sort[1] in (Kind.TOOL_USE, Kind.TOOL_RESULT) else None


def _rows(speech: Speech, chance: random.Random, sessions: int) -> Iterator[_Row]:
    texts: dict[Kind, Callable[[], str]] = {
        Kind.TEXT: speech.answer, Kind.THINKING: speech.thought, Kind.TOOL_USE: speech.code,
        Kind.TOOL_RESULT: speech.result,
    }  # fmt: skip
    shares, sorts = [each[0] for each in MIX], [each[1:] for each in MIX]
    number = 0
    for session in range(1, sessions + 1):
        drawn = chance.choices(sorts, shares, k=SESSION_CHUNKS)
        exchange = number + 1
        for place, sort in enumerate(drawn):
            number += 1
            if place % EXCHANGE_CHUNKS == 0:
                exchange = number
                yield _Row(number, (Role.USER, Kind.TEXT, Signal.HIGH), speech.prompt(), session, exchange)
            else:
                make = speech.injected if sort[0] is Role.INJECTED else texts[sort[1]]
                yield _Row(number, sort, make(), session, exchange)


def _write(connection: Connection, block: list[_Row]) -> None:
    sessions = {row.session: row for row in reversed(block)}
    for number, row in sessions.items():
        name = f"{number:08x}-0000-4000-8000-000000000000"
        last_ms = row.time_ms + SESSION_CHUNKS * 20_000
        connection.execute(
            "INSERT OR IGNORE INTO sessions (id, session_id, folder_id, started_ms, last_ms, opening)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (number, name, row.folder, row.time_ms, last_ms, row.text[:200]),
        )
        connection.execute(
            "INSERT OR IGNORE INTO files (id, root_id, path, session_id) VALUES (?, 1, ?, ?)",
            (number, f"project/{name}.jsonl", number),
        )
    connection.executemany(
        """INSERT INTO messages (id, key, uuid, parent, fingerprint, session_id, file_id, offset, length, part,
             generation, time_ms, role, sidechain, copied, copy_kind, folder_id, model_id, agent, exchange_id)
           VALUES (?1, ?1 * 1099511, ?2, (?1 - 1) * 1099511, ?1 * 7919, ?3, ?3, ?1 * 3000, 3000, 0, 0, ?4, ?5, 0, 0, 0,
             ?6, 1, NULL, ?7)""",
        [
            (r.number, r.number.to_bytes(16, "big"), r.session, r.time_ms, r.role, r.folder, r.exchange)
            for r in block
        ],
    )  # fmt: skip
    connection.executemany(
        """INSERT INTO chunks (id, message_id, block, kind, signal, role, sidechain, failed, tool_id, session_id,
             folder_id, time_ms, exchange_id, cut) VALUES (?1, ?1, 0, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, 0)""",
        [(r.number, r.kind, r.signal, r.role, r.tool, r.session, r.folder, r.time_ms, r.exchange) for r in block],
    )
    packer = Packer()
    connection.executemany("INSERT INTO texts VALUES (?, ?)", [(r.number, packer.stored(r.text)) for r in block])
    connection.executemany(
        "INSERT INTO search (rowid, words, parts) VALUES (?, ?, ?)",
        [(r.number, index_words(r.text), index_parts(r.text)) for r in block],
    )


def _write_vectors(connection: Connection, block: list[_Row], vectors: Floats) -> None:
    packed = pack(vectors)
    connection.executemany(
        "INSERT INTO embedded (generation, chunk_id, state, hash) VALUES (1, ?1, 0, ?1)", [(r.number,) for r in block]
    )
    first = block[0].number
    connection.executemany(
        "INSERT INTO passages VALUES (?, 1, ?, 0, ?, ?, ?)",
        [
            (first + at, row.number, len(row.text), each.scale, each.codes)
            for at, (row, each) in enumerate(zip(block, packed, strict=True))
        ],
    )
    connection.executemany(
        "INSERT INTO bits_1 (rowid, bits) VALUES (?, vec_bit(?))",
        [(first + at, each.bits) for at, each in enumerate(packed)],
    )
