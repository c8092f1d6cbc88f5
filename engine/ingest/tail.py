"""Reads what is new in one transcript and turns it into batches. Memory does not grow with the file."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Protocol

import orjson

from engine.store.batches import FileBatch, FilePosition, LineProblem, Noted, Occurrence
from engine.transcripts.discovery import META_SUFFIX, FileKind, session_named_in
from engine.transcripts.facts import described_agent
from engine.transcripts.fields import milliseconds, name_field
from engine.transcripts.lines import LineSplitter, parse_line
from engine.transcripts.parser import ParserState, TranscriptParser
from engine.transcripts.records import ParsedMessage, SessionFact

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

    from engine.core.repository import Grouping
    from engine.store.files import FileRow
    from engine.transcripts.discovery import FileIdentity
    from engine.transcripts.lines import Record
    from engine.transcripts.records import AgentFact

MAX_LINE_BYTES = 64 * 1024 * 1024
"""Longer lines are skipped as a stream and counted: the longest real ones are 12 MB (claude-code#23948)."""

READ_BYTES = 1024 * 1024
BATCH_BYTES = 4 * 1024 * 1024
"""A batch ends after this much of the file, so that one transaction and its texts stay small."""

BATCH_MESSAGES = 2_000
HEAD_BYTES = 64 * 1024
TAIL_BYTES = 1024
"""How many bytes before the offset are hashed to tell an append from a rewrite."""

_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True, slots=True)
class FileStat:
    """What the file system says of a file."""

    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, result: os.stat_result) -> FileStat:
        """Take what matters of a stat result. NTFS numbers files with up to 128 bits; SQLite holds 63."""
        return cls(result.st_size, result.st_mtime_ns, result.st_ino & 0x7FFF_FFFF_FFFF_FFFF)


class ReadingRules(Protocol):
    """What reading asks of its surroundings."""

    def grouping(self, cwd: str) -> Grouping:
        """Return the project of a working directory."""
        ...

    def is_excluded(self, cwd: str | None) -> bool:
        """Return whether nothing that was said in a working directory may be indexed."""
        ...

    def observe(self, record: Record, last_ms: int) -> object | None:
        """Note what else a record says (usage), given the last time seen in its file; None for nothing."""
        ...


def is_unchanged(row: FileRow, stat: FileStat) -> bool:
    """Return whether a file need not be opened: nothing about it changed since it was last read."""
    return (row.size, row.mtime_ns, row.inode) == (stat.size, stat.mtime_ns, stat.inode) and row.error is None


def unread(row: FileRow, size: int) -> int:
    """Return how many bytes of a file are new if it simply goes on where it was left; all of a shorter one."""
    return size - row.offset if size >= row.offset else size


def is_rewritten(path: Path, row: FileRow, stat: FileStat) -> bool:
    """Return whether a file does not simply go on where it was left.

    A grown file is checked by the bytes before the offset; one that was replaced, shortened, or changed without growing
    is read again as a whole, which costs little and finds edits in its middle.

    Raises:
        OSError: The file cannot be read.
    """
    if row.size == 0:
        return False
    if stat.size < row.size or stat.inode != row.inode:
        return True
    if stat.size == row.size and stat.mtime_ns != row.mtime_ns:
        return True
    with path.open("rb", buffering=0) as file:
        return row.offset > 0 and tail_hash(file, row.offset) != row.tail


def tail_hash(file: BinaryIO, offset: int) -> bytes:
    """Return the hash of the bytes before an offset; leaves the file's position behind them."""
    start = max(0, offset - TAIL_BYTES)
    file.seek(start)
    return hashlib.blake2b(file.read(offset - start), digest_size=16).digest()


def session_by_content(path: Path) -> str:
    """Return the session that most lines at a file's head name; the file's name when none does (foreign exports).

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb", buffering=0) as file:
        return session_named_in(file.read(READ_BYTES)) or path.stem


@dataclass(slots=True)
class _Collected:
    """What the present batch holds so far."""

    occurrences: list[Occurrence] = field(default_factory=list[Occurrence])
    facts: list[SessionFact] = field(default_factory=list[SessionFact])
    agents: list[AgentFact] = field(default_factory=list["AgentFact"])
    kept: Counter[tuple[str, bool]] = field(default_factory=Counter[tuple[str, bool]])
    problems: list[LineProblem] = field(default_factory=list[LineProblem])
    said: list[Noted] = field(default_factory=list[Noted])
    bytes: int = 0

    @property
    def is_full(self) -> bool:
        return self.bytes >= BATCH_BYTES or len(self.occurrences) >= BATCH_MESSAGES


class FileTail:
    """One reading of one file, from its offset to its end.

    Args:
        path: The file.
        row: What is known of it. A rewritten file comes here with offset 0 and its new generation.
        identity: What its path says.
        stat: Its state when reading began: bytes written later are read next time.
        session_id: The session it belongs to.
        rules: What reading asks of its surroundings.
        refresh: Known messages are indexed again.
        max_line: Longest line that is parsed, in bytes.
    """

    def __init__(
        self,
        path: Path,
        row: FileRow,
        identity: FileIdentity,
        stat: FileStat,
        *,
        session_id: str,
        rules: ReadingRules,
        refresh: bool = False,
        max_line: int = MAX_LINE_BYTES,
    ) -> None:
        self._path = path
        self._row = row
        self._identity = identity
        self._stat = stat
        self._rules = rules
        self._refresh = refresh
        self._max_line = max_line
        self._first_ms = row.first_ms
        self._lines = row.lines
        self._start = row.offset
        self._parser = TranscriptParser(
            session_id,
            is_agent_file=identity.agent_id is not None,
            trust_line_session=identity.kind is FileKind.OLD_AGENT,
            agent_id=identity.agent_id,
            state=ParserState.load(row.parser),
        )

    def batches(self) -> Iterator[FileBatch]:
        """Yield what is new, in file order.

        Raises:
            OSError: The file cannot be read.
        """
        with self._path.open("rb", buffering=0) as file:
            collected = self._begin(file)
            file.seek(self._row.offset)
            splitter = LineSplitter(self._row.offset, self._max_line)
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
                if collected.is_full:
                    yield self._batch(collected, file, splitter.line_start, self._parser.state, done=False)
                    file.seek(splitter.offset)
                    collected = _Collected()
            state = self._parser.state
            self._take_unfinished(collected, splitter)
            yield self._batch(collected, file, splitter.line_start, state, done=True)

    def _begin(self, file: BinaryIO) -> _Collected:
        """Take back what was counted of an unfinished last line, and note what is known at the beginning of a file."""
        collected = _Collected()
        state = self._parser.state
        for name, known in state.unfinished:
            collected.kept[name, known] -= 1
        state.unfinished = ()
        if self._row.offset == 0 or state.cwd is None:
            # Also when what was read before named none: it may be in the line that was not whole then.
            state.cwd = _first_cwd(file)
        if self._row.offset > 0:
            return collected
        if self._identity.kind is FileKind.AGENT and self._identity.agent_id is not None:
            meta = _meta_of(self._path)
            if meta is not None:
                collected.agents.append(described_agent(meta, self._parser.session_id, self._identity.agent_id))
        return collected

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
            self._take_record(collected, record, line, (offset, length, part))

    def _take_unfinished(self, collected: _Collected, splitter: LineSplitter) -> None:
        """Index a last line without a line feed when it is whole (exporters write none); it is read again next time."""
        rest = splitter.rest()
        content = None if not rest else parse_line(rest)
        if rest is None or content is None or content.damage is not None:
            return
        before = collected.kept.copy()
        state = self._parser.state
        self._parser.state = state.copy()
        for part, record in enumerate(content.records):
            self._take_record(collected, record, rest, (splitter.line_start, len(rest), part))
        state.unfinished = tuple((collected.kept - before).elements())

    def _take_record(self, collected: _Collected, record: Record, line: bytes, place: tuple[int, int, int]) -> None:
        state = self._parser.state
        if self._first_ms is None:
            self._first_ms = milliseconds(record.get("timestamp"))
        state.cwd = name_field(record, "cwd", limit=4096) or state.cwd
        if self._rules.is_excluded(state.cwd):
            return
        parsed = self._parser.parse(record, line)
        said = self._rules.observe(record, state.last_timestamp_ms or 0)
        if said is not None:
            named = parsed.session_id if isinstance(parsed, ParsedMessage) else self._parser.session_id
            collected.said.append(Noted(named, said))
        if isinstance(parsed, ParsedMessage):
            collected.occurrences.append(Occurrence(parsed, *place))
            for name in parsed.unknown_blocks:
                collected.kept[f"block/{name}", False] += 1
            agent = self._parser.started_agent(record)
            if agent is not None:
                collected.agents.append(agent)
        elif isinstance(parsed, SessionFact):
            collected.facts.append(parsed)
        else:
            collected.kept[parsed.type, parsed.known] += 1

    def _batch(
        self, collected: _Collected, file: BinaryIO, offset: int, state: ParserState, *, done: bool
    ) -> FileBatch:
        folders = {each.message.cwd for each in collected.occurrences if each.message.cwd}
        folders.update(fact.text for fact in collected.facts if fact.kind == "worktree")
        batch = FileBatch(
            file_id=self._row.id,
            start=self._start,
            session_id=self._parser.session_id,
            generation=self._row.generation,
            occurrences=tuple(collected.occurrences),
            facts=tuple(collected.facts),
            agents=tuple(collected.agents),
            kept=collected.kept,
            problems=tuple(collected.problems),
            position=FilePosition(
                offset=offset,
                # A half-read file must not look like a read one after a crash.
                size=self._stat.size if done else offset,
                mtime_ns=self._stat.mtime_ns if done else 0,
                inode=self._stat.inode,
                tail=tail_hash(file, offset),
                lines=self._lines,
                parser=state.dump(),
            ),
            first_ms=self._first_ms,
            projects={cwd: self._rules.grouping(cwd) for cwd in folders},
            is_sidechain=self._identity.agent_id is not None,
            refresh=self._refresh,
            said=tuple(collected.said),
        )
        self._start = offset
        return batch


def _first_cwd(file: BinaryIO) -> str | None:
    """Return the working directory a file's head names first: lines before it belong to it, too."""
    file.seek(0)
    found = _CWD.search(file.read(HEAD_BYTES))
    if found is None:
        return None
    try:
        value = orjson.loads(found[1])
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, str) else None


def _meta_of(path: Path) -> Record | None:
    """Return the description beside a sub-agent's transcript, None where there is none to read."""
    try:
        content = parse_line(path.with_name(path.stem + META_SUFFIX).read_bytes())
    except OSError:
        return None
    return content.records[0] if content.records else None
