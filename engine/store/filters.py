"""SQL conditions for filters, built once for every kind of search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.core.models.kinds import Kind, Role, Signal
from engine.core.text import clean
from engine.store.codes import KINDS, ROLES, SIGNALS
from engine.store.connection import Value

if TYPE_CHECKING:
    import apsw

    from engine.core.when import TimeSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkFilter:
    """Which chunks may be found, with names resolved to the database's numbers."""

    span: TimeSpan
    folders: tuple[int, ...] | None = None
    """Working directories; None for all."""
    session: int | None = None
    role: Role | None = None
    kinds: tuple[Kind, ...] | None = None
    tools: tuple[int, ...] | None = None
    hidden_tools: tuple[int, ...] = ()
    """Backscroll's own calls."""
    hidden_folders: tuple[int, ...] = ()
    """Projects that answer only when asked from inside or by name."""
    low_signal: bool = False
    sidechains: bool = False
    in_view_session: int | None = None
    in_view_after: int = 0
    """Messages of `in_view_session` with a greater id are still in the caller's view."""


@dataclass(slots=True)
class Conditions:
    """SQL text and its values."""

    parts: list[str] = field(default_factory=list[str])
    values: list[Value] = field(default_factory=list[Value])

    def add(self, sql: str, *values: Value) -> None:
        """Add a condition that must hold."""
        self.parts.append(sql)
        self.values.extend(values)

    def one_of(self, column: str, numbers: tuple[int, ...], *, negate: bool = False) -> None:
        """Add a condition on membership. The numbers are ours, so they stand in the text."""
        listed = ", ".join(str(int(each)) for each in numbers)
        if negate:
            self.parts.append(f"({column} IS NULL OR {column} NOT IN ({listed}))")
        else:
            self.parts.append(f"{column} IN ({listed})")

    @property
    def sql(self) -> str:
        """The conditions joined, `1` when there is none."""
        return " AND ".join(self.parts) or "1"


def conditions(chunk_filter: ChunkFilter, *, with_signal: bool = True) -> Conditions:
    """Return the filter as SQL over table `chunks` named `c`.

    Args:
        chunk_filter: What may be found.
        with_signal: False leaves the signal and the caller's view out, for counting what they hide.
    """
    where = Conditions()
    _place(where, chunk_filter)
    _content(where, chunk_filter)
    if with_signal:
        _shown(where, chunk_filter)
    return where


def _place(where: Conditions, chunk_filter: ChunkFilter) -> None:
    """When, where and in which session."""
    if chunk_filter.span.start_ms is not None:
        where.add("c.time_ms >= ?", chunk_filter.span.start_ms)
    if chunk_filter.span.end_ms is not None:
        where.add("c.time_ms < ?", chunk_filter.span.end_ms)
    if chunk_filter.folders is not None:
        where.one_of("c.folder_id", chunk_filter.folders)
    if chunk_filter.hidden_folders:
        where.one_of("c.folder_id", chunk_filter.hidden_folders, negate=True)
    if chunk_filter.session is not None:
        where.add(
            "(c.session_id = ? OR c.message_id IN (SELECT message_id FROM copies WHERE session_id = ?))",
            chunk_filter.session,
            chunk_filter.session,
        )


def _content(where: Conditions, chunk_filter: ChunkFilter) -> None:
    """Who said it, and as what."""
    if chunk_filter.role is not None:
        where.add("c.role = ?", ROLES[chunk_filter.role])
    if chunk_filter.kinds is not None:
        where.one_of("c.kind", tuple(KINDS[each] for each in chunk_filter.kinds))
    if chunk_filter.tools is not None:
        where.one_of("c.tool_id", chunk_filter.tools)
    if chunk_filter.hidden_tools:
        where.one_of("c.tool_id", chunk_filter.hidden_tools, negate=True)
    if not chunk_filter.sidechains:
        where.add("c.sidechain = 0")


def _shown(where: Conditions, chunk_filter: ChunkFilter) -> None:
    """What is worth showing to this caller."""
    if not chunk_filter.low_signal:
        where.add(f"c.signal < {SIGNALS[Signal.LOW]}")
    if chunk_filter.in_view_session is not None:
        where.add(
            "NOT (c.session_id = ? AND c.message_id > ?)", chunk_filter.in_view_session, chunk_filter.in_view_after
        )


def folders_matching(connection: apsw.Connection, text: str) -> tuple[int, ...]:
    """Return the working directories whose path, or whose repository's path, contains a text, whatever its case.

    Paths are stored composed (NFC); macOS hands out decomposed ones.
    """
    wanted = clean(text).casefold()
    return tuple(
        row[0]
        for row in connection.execute(
            "SELECT f.id, f.cwd, p.path FROM folders f JOIN projects p ON p.id = f.project_id"
        )
        if wanted in row[1].casefold() or wanted in row[2].casefold()
    )


def folders_below(connection: apsw.Connection, repository: str) -> tuple[int, ...]:
    """Return the working directories of a repository: grouped under it, or inside its folder."""
    inside = _comparable(repository.rstrip("/\\"))
    found: list[int] = []
    for number, folder, project in connection.execute(
        "SELECT f.id, f.cwd, p.path FROM folders f JOIN projects p ON p.id = f.project_id"
    ):
        cwd = _comparable(folder)
        if inside in (cwd, _comparable(project)) or cwd.startswith((f"{inside}/", f"{inside}\\")):
            found.append(number)
    return tuple(found)


def _comparable(path: str) -> str:
    """Return a path so that two spellings of one folder are equal: composed, and without case where it has a drive."""
    path = clean(path)
    return path.casefold() if path[1:2] == ":" else path


def folder_names(connection: apsw.Connection) -> dict[int, tuple[str, str]]:
    """Return (repository, working directory) of every working directory, by number."""
    return {
        row[0]: (row[1], row[2])
        for row in connection.execute(
            "SELECT f.id, p.path, f.cwd FROM folders f JOIN projects p ON p.id = f.project_id"
        )
    }
