"""What one reading of a transcript hands to the writer: occurrences of messages, facts, counts, and the new position."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.transcripts.records import ParsedMessage, SessionFact


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A message where it stands."""

    message: ParsedMessage
    offset: int
    length: int
    part: int = 0


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A line that was not one healthy record."""

    offset: int
    line: int
    what: str
    salvaged: bool


@dataclass(frozen=True, slots=True)
class FilePosition:
    """How far a file was read. Committed in the same transaction as what was read."""

    offset: int
    size: int
    mtime_ns: int
    inode: int
    tail: bytes
    lines: int
    parser: str


@dataclass(frozen=True, slots=True)
class FileBatch:
    """A stretch of one file, ready to be written."""

    file_id: int
    session_id: str
    generation: int
    occurrences: tuple[Occurrence, ...]
    facts: tuple[SessionFact, ...]
    kept: Mapping[tuple[str, bool], int]
    problems: tuple[LineProblem, ...]
    position: FilePosition
    first_ms: int | None = None
    projects: Mapping[str, str] = field(default_factory=lambda: dict[str, str]())
    """Repository of each working directory that is new in this batch."""
    is_sidechain: bool = False
    """A sub-agent's file."""
    said: tuple[object, ...] = ()
    """What an observer of the records noted (`engine.ingest.pipeline.RecordObserver`)."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What a batch changed."""

    messages: int
    chunks: int
    sessions: tuple[int, ...]
