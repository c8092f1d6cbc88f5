"""What one reading of a transcript hands to the writer: occurrences of messages, facts, counts, the new position."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.core.repository import Grouping
    from engine.transcripts.records import AgentFact, ParsedMessage, SessionFact


class Occurrence(NamedTuple):
    """A message where it stands."""

    message: ParsedMessage
    offset: int
    length: int
    part: int = 0


class Noted(NamedTuple):
    """What an observer noted of a record."""

    session_id: str
    """The session of its line: an old sub-agent's file may hold lines of several."""
    what: object


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
    start: int
    """Offset at which it begins: where the file was left."""
    session_id: str
    generation: int
    occurrences: tuple[Occurrence, ...]
    facts: tuple[SessionFact, ...]
    agents: tuple[AgentFact, ...]
    kept: Mapping[tuple[str, bool], int]
    """Records and blocks that are not indexed, by type and whether it is known. Negative numbers take back the last
    line's, which had been counted before it was whole."""
    problems: tuple[LineProblem, ...]
    position: FilePosition
    first_ms: int | None = None
    projects: Mapping[str, Grouping] = field(default_factory=dict[str, "Grouping"])
    """What is known of the projects of this batch's working directories."""
    is_sidechain: bool = False
    """A sub-agent's file."""
    refresh: bool = False
    """Index the words of known messages again: the way they are made may have changed."""
    redacted: Mapping[str, int] = field(default_factory=dict[str, int])
    """Secrets that were replaced in it, by kind."""
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    """What enters the word index of some texts (`engine.core.text.index_columns`), where it was made ready before."""
    said: tuple[Noted, ...] = ()
    """What an observer of the records noted (`engine.ingest.commits.RecordObserver`)."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What a batch changed."""

    messages: int
    chunks: int
    sessions: tuple[int, ...]
