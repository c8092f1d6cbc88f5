"""Reads what is new in one transcript and turns it into batches. Memory does not grow with the file."""

from __future__ import annotations

import copy
import hashlib
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.store.batches import FileBatch, FilePosition, LineProblem, Occurrence
from engine.transcripts.lines import LineSplitter, parse_line
from engine.transcripts.parser import ParserState, TranscriptParser, milliseconds
from engine.transcripts.records import ParsedMessage, SessionFact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from engine.store.files import FileRow
    from engine.transcripts.discovery import FileIdentity
    from engine.transcripts.lines import Record

MAX_LINE_BYTES = 64 * 1024 * 1024
"""Longer lines are skipped as a stream and counted: the longest real ones are 12 MB (claude-code#23948)."""

READ_BYTES = 1024 * 1024
BATCH_BYTES = 8 * 1024 * 1024
"""A batch ends after this much of the file, so that one transaction and its texts stay small."""

BATCH_MESSAGES = 2_000
TAIL_BYTES = 1024
"""How many bytes before the offset are hashed to tell an append from a rewrite."""

_SESSION_ID = re.compile(rb'"sessionId"\s*:\s*"([^"\\]{1,200})"')


@dataclass(frozen=True, slots=True)
class FileStat:
    """What the file system says of a file."""

    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, result: os.stat_result) -> FileStat:
        """Take what matters of a stat result."""
        return cls(result.st_size, result.st_mtime_ns, result.st_ino)


def is_unchanged(row: FileRow, stat: FileStat) -> bool:
    """True when a file need not be opened: nothing about it changed since it was last read."""
    return (row.size, row.mtime_ns, row.inode) == (stat.size, stat.mtime_ns, stat.inode) and row.error is None


def is_rewritten(path: Path, row: FileRow, stat: FileStat) -> bool:
    """True when the bytes before the offset are not the ones that were read.

    A grown file is checked by its last bytes; one that was replaced, shortened, or changed without growing is read
    again as a whole, which costs little and finds edits in its middle.

    Raises:
        OSError: The file cannot be read.
    """
    if row.offset == 0:
        return False
    if stat.size < row.size or stat.size < row.offset or (stat.inode != row.inode):
        return True
    if stat.size == row.size and stat.mtime_ns != row.mtime_ns:
        return True
    with path.open("rb", buffering=0) as file:
        return tail_hash(file, row.offset) != row.tail


def tail_hash(file: Any, offset: int) -> bytes:
    """Return the hash of the bytes before an offset; leaves the file's position behind them."""
    start = max(0, offset - TAIL_BYTES)
    file.seek(start)
    return hashlib.blake2b(file.read(offset - start), digest_size=16).digest()


@dataclass(slots=True)
class _Collected:
    """What the present batch holds so far."""

    occurrences: list[Occurrence] = field(default_factory=lambda: list[Occurrence]())
    facts: list[SessionFact] = field(default_factory=lambda: list[SessionFact]())
    kept: Counter[tuple[str, bool]] = field(default_factory=lambda: Counter[tuple[str, bool]]())
    problems: list[LineProblem] = field(default_factory=lambda: list[LineProblem]())
    said: list[object] = field(default_factory=list[object])
    bytes: int = 0


class FileTail:
    """One reading of one file, from its offset to its end.

    Args:
        path: The file.
        row: What is known of it. A rewritten file comes here with offset 0 and its new generation.
        identity: What its path says.
        stat: Its state when reading began: bytes written later are read next time.
        projects_of: Repositories of working directories.
        is_excluded: True for working directories that must not be indexed.
        observe: Notes what else a record says (usage), given the last time seen; None for nothing.
        max_line: Longest line that is parsed, in bytes.
    """

    def __init__(
        self,
        path: Path,
        row: FileRow,
        identity: FileIdentity,
        stat: FileStat,
        *,
        projects_of: Callable[[set[str]], dict[str, str]],
        is_excluded: Callable[[str | None], bool],
        observe: Callable[[Record, int], object | None],
        max_line: int = MAX_LINE_BYTES,
    ) -> None:
        self._path = path
        self._row = row
        self._identity = identity
        self._stat = stat
        self._projects_of = projects_of
        self._is_excluded = is_excluded
        self._observe = observe
        self._max_line = max_line
        self._first_ms = row.first_ms
        self._lines = row.lines

    def batches(self) -> Iterator[FileBatch]:
        """Yield what is new, in file order.

        Raises:
            OSError: The file cannot be read.
        """
        with self._path.open("rb", buffering=0) as file:
            session_id = self._row.session_id or self._identity.session_id or self._session_by_content(file)
            self._parser = TranscriptParser(
                session_id,
                is_agent_file=self._identity.agent_id is not None,
                trust_line_session=self._identity.kind == "old_agent",
                agent_id=self._identity.agent_id,
                state=ParserState.load(self._row.parser),
            )
            file.seek(self._row.offset)
            splitter = LineSplitter(self._row.offset, self._max_line)
            collected = _Collected()
            remaining = self._stat.size - self._row.offset
            while remaining > 0:
                data = file.read(min(READ_BYTES, remaining))
                if not data:
                    break
                remaining -= len(data)
                for offset, line, length in splitter.feed(data):
                    self._lines += 1
                    self._take(collected, offset, line, length)
                collected.bytes += len(data)
                if collected.bytes >= BATCH_BYTES or len(collected.occurrences) >= BATCH_MESSAGES:
                    yield self._batch(collected, file, splitter.line_start, self._parser.state.dump(), done=False)
                    file.seek(splitter.offset)
                    collected = _Collected()
            state = self._parser.state.dump()
            self._take_unfinished(collected, splitter)
            yield self._batch(collected, file, splitter.line_start, state, done=True)

    def _session_by_content(self, file: Any) -> str:
        """The session that most lines at the head name; the file's name when none does (foreign exports)."""
        file.seek(0)
        head: bytes = file.read(READ_BYTES)
        named = Counter(_SESSION_ID.findall(head))
        if not named:
            return self._path.stem
        return named.most_common(1)[0][0].decode("utf-8", "replace")

    def _take(self, collected: _Collected, offset: int, line: bytes | None, length: int) -> None:
        if line is None:
            what = f"longer than {self._max_line // (1024 * 1024)} MiB, skipped"
            collected.problems.append(LineProblem(offset, self._lines, what, salvaged=False))
            return
        content = parse_line(line)
        if content.damage is not None:
            salvaged = bool(content.records)
            collected.problems.append(LineProblem(offset, self._lines, content.damage, salvaged=salvaged))
        for part, record in enumerate(content.records):
            if self._first_ms is None:
                self._first_ms = milliseconds(record.get("timestamp"))
            parsed = self._parser.parse(record, line)
            self._observe_record(collected, record)
            if isinstance(parsed, ParsedMessage):
                if self._is_excluded(parsed.cwd):
                    continue
                collected.occurrences.append(Occurrence(parsed, offset, length, part))
            elif isinstance(parsed, SessionFact):
                collected.facts.append(parsed)
            else:
                collected.kept[parsed.type, parsed.known] += 1

    def _take_unfinished(self, collected: _Collected, splitter: LineSplitter) -> None:
        """Index a last line without a line feed when it is whole (exporters write none), but read it again next time."""
        rest = splitter.rest()
        if not rest:
            return
        content = parse_line(rest)
        if content.damage is not None:
            return
        self._parser.state = copy.deepcopy(self._parser.state)
        offset = splitter.line_start
        for part, record in enumerate(content.records):
            if self._first_ms is None:
                self._first_ms = milliseconds(record.get("timestamp"))
            parsed = self._parser.parse(record, rest)
            self._observe_record(collected, record)
            if isinstance(parsed, ParsedMessage):
                if self._is_excluded(parsed.cwd):
                    continue
                collected.occurrences.append(Occurrence(parsed, offset, len(rest), part))
            elif isinstance(parsed, SessionFact):
                collected.facts.append(parsed)

    def _observe_record(self, collected: _Collected, record: Record) -> None:
        said = self._observe(record, self._parser.state.last_timestamp_ms or 0)
        if said is not None:
            collected.said.append(said)

    def _batch(self, collected: _Collected, file: Any, offset: int, state: str, *, done: bool) -> FileBatch:
        folders = {each.message.cwd for each in collected.occurrences if each.message.cwd}
        folders.update(fact.text for fact in collected.facts if fact.kind == "worktree")
        return FileBatch(
            file_id=self._row.id,
            session_id=self._parser.session_id,
            generation=self._row.generation,
            occurrences=tuple(collected.occurrences),
            facts=tuple(collected.facts),
            kept=collected.kept,
            problems=tuple(collected.problems),
            position=FilePosition(
                offset=offset,
                # A half-read file must not look like a read one after a crash.
                size=self._stat.size if done else offset,
                mtime_ns=self._stat.mtime_ns,
                inode=self._stat.inode,
                tail=tail_hash(file, offset),
                lines=self._lines,
                parser=state,
            ),
            first_ms=self._first_ms,
            projects=self._projects_of(folders),
            is_sidechain=self._identity.agent_id is not None,
            said=tuple(collected.said),
        )
