"""Turns what a caller asks for (project, dates, session, kinds) into numbers the store can filter by."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core import when
from engine.core.errors import Ambiguous, InvalidArgument, NotFound
from engine.core.models.asking import DateRange
from engine.core.models.kinds import Kind, Role
from engine.core.repository import repository_of
from engine.store import filters as store_filters
from engine.store import named
from engine.store import names as store_names
from engine.store.filters import ChunkFilter
from engine.transcripts.signals import is_own_tool

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from engine.core.models.asking import Caller, SearchFilters
    from engine.core.when import TimeSpan
    from engine.store.connection import Connection

_LOW_ROLES = frozenset({Role.TOOL, Role.INJECTED, Role.SUMMARY})
_TOOL_KINDS = (Kind.TOOL_USE, Kind.TOOL_RESULT)


@dataclass(frozen=True, slots=True)
class InView:
    """What the caller still has before its eyes: its own session after the last compaction."""

    session: int
    after: int
    """Number of the last compaction summary."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A question's filters, resolved."""

    chunks: ChunkFilter
    range: DateRange | None
    no_such_project: bool = False
    """The project filter fits no working directory at all."""
    is_narrowed: bool = False
    """Some filter was asked for that leaves things out."""


def date_range(span: TimeSpan, zone: ZoneInfo) -> DateRange | None:
    """Return a span as replies echo it; the end is its last second."""
    if span.is_open:
        return None
    end = None if span.end_ms is None else span.end_ms - 1
    return DateRange(date_from=when.iso(span.start_ms, zone), date_to=when.iso(end, zone))


def project_folders(
    connection: Connection, project: str | None, caller: Caller
) -> tuple[tuple[int, ...] | None, str | None]:
    """Return (working directories, the caller's repository when asked by `"."`); None for all of them.

    Raises:
        InvalidArgument: `"."` from a caller that has no working directory.
    """
    if project is None:
        return None, None
    if project != ".":
        return store_filters.folders_matching(connection, project), None
    places = repositories_here(caller)
    if not places:
        raise InvalidArgument(
            'project "." means the caller\'s repository, and this caller has none',
            "",
            "Call again with a part of the project's path.",
        )
    return folders_here(connection, caller), places[-1]


def folders_here(connection: Connection, caller: Caller) -> tuple[int, ...]:
    """Return the working directories of the repository the caller works in, its worktrees included."""
    below = (store_filters.folders_below(connection, place) for place in repositories_here(caller))
    return tuple(dict.fromkeys(chain.from_iterable(below)))


def repositories_here(caller: Caller) -> tuple[str, ...]:
    """Return the repository the caller works in: as it is named and, last, without links; empty when it is unknown.

    Claude Code writes working directories without links (transcripts.md, section 1), and starts us with any.
    """
    place = caller.project_dir or caller.cwd
    if not place:
        return ()
    return tuple(dict.fromkeys(repository_of(each) or each for each in (place, _without_links(place))))


def _without_links(place: str) -> str:
    path = Path(place)
    try:
        return str(path.resolve()) if path.is_absolute() else place
    except (OSError, RuntimeError, ValueError):  # links in a circle, or no path at all
        return place


def apart_folders(
    connection: Connection, patterns: tuple[str, ...], allowed: tuple[int, ...] | None, caller: Caller
) -> tuple[int, ...]:
    """Return the working directories that answer only when asked from inside them, or by name.

    The setting `privacy.projects_apart` lists them.
    """
    if not patterns:
        return ()
    kept = {*folders_here(connection, caller), *(allowed or ())}
    apart = {number for pattern in patterns for number in store_filters.folders_matching(connection, pattern)}
    return tuple(sorted(apart - kept))


def session_number(connection: Connection, session: str) -> int:
    """Return the number of the session with this id or unique prefix.

    Raises:
        NotFound: No session's id begins like this.
        Ambiguous: Several do.
    """
    wanted = session.strip().lower()
    found: tuple[tuple[int, str], ...] = named.find_sessions(connection, wanted) if wanted else ()
    exact = [number for number, name in found if name.lower() == wanted]
    if exact:
        return exact[0]
    if len(found) == 0:
        raise _no_session(connection, session)
    if len(found) > 1:
        names = tuple(name for _, name in found)
        raise Ambiguous(
            f"Several sessions begin with {session[:60]!r}",
            "",
            "Call again with more of the id: " + ", ".join(names) + ".",
            candidates=names,
        )
    return found[0][0]


def _no_session(connection: Connection, wanted: str) -> NotFound:
    title = f"There is no session {wanted[:60]!r}"
    message = named.message_named(connection, wanted.strip())
    if message is None:
        return NotFound(title, "", "list_sessions lists the sessions with their ids.")
    session = named.session_of(connection, message)
    return NotFound(
        title,
        f"It is the id of a message of session {session}.",
        "get_context reads around the message, get_session with that id its session.",
        candidates=(session,),
    )


def resolve(
    connection: Connection,
    filters: SearchFilters,
    caller: Caller,
    *,
    zone: ZoneInfo,
    now_s: float,
    apart: tuple[str, ...],
    in_view: InView | None,
) -> Scope:
    """Return a question's filters as the store takes them.

    Raises:
        InvalidArgument: A date, word or combination that is not understood.
        NotFound: The session does not exist.
        Ambiguous: The session's prefix fits several.
    """
    span = when.resolve(when=filters.when, date_from=filters.date_from, date_to=filters.date_to, zone=zone, now_s=now_s)
    folders, _ = project_folders(connection, filters.project, caller)
    session = None
    if filters.session == "current":
        if in_view is None:
            raise NotFound(
                "The current session cannot be told",
                "No transcript of this project holds the present call yet.",
                "Call again with the session's id; list_sessions lists them.",
            )
        session = in_view.session
    elif filters.session is not None:
        session = session_number(connection, filters.session)
    kinds = _kinds(filters.kind)
    tools = None
    own: tuple[int, ...] = ()
    known = store_names.tool_names(connection)
    if filters.tool is not None:
        wanted = filters.tool.casefold()
        exact = tuple(number for number, name in known if name.casefold() == wanted)
        # `mcp__server__tool` is also found by the part that people remember.
        tools = exact or tuple(number for number, name in known if wanted in name.casefold())
    else:
        own = tuple(number for number, name in known if is_own_tool(name))
    low = (
        filters.include_low_signal
        or filters.role in _LOW_ROLES
        or filters.tool is not None
        or (kinds is not None and not {Kind.TEXT, Kind.THINKING} & set(kinds))
    )
    hide_view = in_view is not None and session is None and not filters.include_current
    chunk_filter = ChunkFilter(
        span=span,
        folders=folders,
        session=session,
        role=filters.role,
        kinds=kinds,
        tools=tools,
        hidden_tools=own,
        hidden_folders=apart_folders(connection, apart, folders, caller),
        low_signal=low,
        sidechains=filters.include_sidechains,
        in_view_session=in_view.session if in_view is not None and hide_view else None,
        in_view_after=in_view.after if in_view is not None else 0,
    )
    asked = (folders, session, filters.role, filters.kind, filters.tool)
    narrowed = not span.is_open or any(each is not None for each in asked)
    return Scope(chunk_filter, date_range(span, zone), no_such_project=folders == (), is_narrowed=narrowed)


def _kinds(kind: str | None) -> tuple[Kind, ...] | None:
    if kind is None:
        return None
    if kind == "tool":
        return _TOOL_KINDS
    try:
        return (Kind(kind),)
    except ValueError as exc:
        raise InvalidArgument(
            f"kind does not know {kind[:40]!r}", "", "It takes: tool, " + ", ".join(each.value for each in Kind) + "."
        ) from exc
