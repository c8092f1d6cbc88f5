"""The rows of the list: hits grouped by session, recent and pinned sessions, records. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from engine.core.models.hits import Hit
    from engine.core.models.sessions import SessionRow


@dataclass(frozen=True, slots=True)
class HitRow:
    """One hit."""

    hit: Hit
    more: int = 0
    """Further hits of the same session, on the first of them."""
    expanded: bool = False
    inner: bool = False
    """One of the further hits."""

    @property
    def key(self) -> str:
        """The same for the same hit, whatever list it is in."""
        return f"hit:{self.hit.chunk_id}"

    @property
    def session_id(self) -> str:
        """Its session."""
        return self.hit.session_id


@dataclass(frozen=True, slots=True)
class SessionItem:
    """One session of the empty field."""

    session: SessionRow
    pinned: bool = False

    @property
    def key(self) -> str:
        """The same for the same session."""
        return f"session:{self.session.session_id}"

    @property
    def session_id(self) -> str:
        """Itself."""
        return self.session.session_id


@dataclass(frozen=True, slots=True)
class RecordItem:
    """One record of Knowledge. It belongs to no session."""

    id: str
    title: str
    about: str
    """What it is and how it stands: "decision · superseded"."""
    when: str | None
    text: str

    @property
    def key(self) -> str:
        """The same for the same record."""
        return f"record:{self.id}"

    @property
    def session_id(self) -> str:
        """None."""
        return ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A line above rows. It cannot be selected."""

    text: str

    @property
    def key(self) -> str:
        """Its text."""
        return f"heading:{self.text}"

    @property
    def session_id(self) -> str:
        """None."""
        return ""


Row = HitRow | SessionItem | RecordItem | Heading


def grouped(hits: Iterable[Hit], expanded: Collection[str]) -> tuple[HitRow, ...]:
    """Return hits with those of one session together, where its first one stands; folded unless expanded."""
    sessions: dict[str, list[Hit]] = {}
    for hit in hits:
        sessions.setdefault(hit.session_id, []).append(hit)
    rows: list[HitRow] = []
    for session, members in sessions.items():
        first, *others = members
        is_open = session in expanded and bool(others)
        rows.append(HitRow(first, len(others), is_open))
        if is_open:
            rows += [HitRow(each, inner=True) for each in others]
    return tuple(rows)


def merged(shown: Sequence[Hit], incoming: Sequence[Hit], keep: str | None) -> tuple[Hit, ...]:
    """Return hits of a better ranking without moving the row under the cursor.

    Everything down to the session of `keep` stays as it is; below it comes the new order. Hits that only the old list
    had stay, at the end.

    Args:
        shown: What is on the screen.
        incoming: The new ranking.
        keep: The session that holds the selected row, None when nothing is selected.
    """
    order = list(dict.fromkeys(hit.session_id for hit in shown))
    fixed = set(order[: order.index(keep) + 1]) if keep in order else set[str]()
    head = [hit for hit in shown if hit.session_id in fixed]
    known = {hit.chunk_id for hit in head}
    tail = [hit for hit in incoming if hit.chunk_id not in known]
    known |= {hit.chunk_id for hit in tail}
    rest = [hit for hit in shown if hit.chunk_id not in known]
    return (*head, *tail, *rest)


def sessions(pinned: Sequence[SessionRow], recent: Sequence[SessionRow], headings: tuple[str, str]) -> tuple[Row, ...]:
    """Return the rows of the empty field: pinned sessions, then recent ones that are not pinned."""
    fresh = {session.session_id: session for session in recent}
    rows: list[Row] = []
    if pinned:
        rows.append(Heading(headings[0]))
        rows += [SessionItem(fresh.get(each.session_id, each), pinned=True) for each in pinned]
    known = {each.session_id for each in pinned}
    others = [each for each in recent if each.session_id not in known]
    if others:
        rows.append(Heading(headings[1]))
        rows += [SessionItem(each) for each in others]
    return tuple(rows)
