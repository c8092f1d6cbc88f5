"""What a prune is asked for, and what its reply says in words. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from desktop import format as shown
from desktop import words
from engine.core.models.asking import Caller
from engine.core.models.keeping import OnlyCopy, PruneReply

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TITLES: Final = 6
"""Sessions that are named in the warning; the others are counted."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the first step chooses."""

    days: int
    project: str | None = None
    """Path of a repository; None for all."""
    archive: bool = False
    only_copies: bool = False

    def arguments(self, *, dry_run: bool) -> dict[str, Any]:
        """Return the arguments of `prune`."""
        made: dict[str, Any] = {
            "older_than_days": self.days,
            "archive": self.archive,
            "include_only_copies": self.only_copies,
            "dry_run": dry_run,
        }
        return made if self.project is None else made | {"project": "."}

    @property
    def caller(self) -> Caller:
        """Who asks. A path as `project` would match every path that contains it; a place of one's own is exact."""
        return Caller(project_dir=self.project)


def inside(project: str | None, projects: Iterable[str]) -> tuple[str, ...]:
    """Return the other projects that lie in a project's folder: they go with it."""
    if project is None:
        return ()
    folder = project.rstrip("/\\")
    return tuple(each for each in projects if each.startswith((f"{folder}/", f"{folder}\\")))


def reply_of(answer: Mapping[str, Any]) -> PruneReply:
    """Return an answer of `prune` as a value."""
    copies = tuple(
        OnlyCopy(session_id=each["session_id"], title=each.get("title"), last_at=each.get("last_at"))
        for each in answer["only_copies"]
    )
    rest: dict[str, Any] = {name: value for name, value in answer.items() if name != "only_copies"}
    return PruneReply(only_copies=copies, **rest)


def is_nothing(reply: PruneReply) -> bool:
    """Return whether a prune would change nothing."""
    return not (reply.sessions or reply.calls)


def titles(reply: PruneReply) -> str:
    """Return the sessions that exist nowhere else, a line each."""
    named = [
        words.prune.titled_on(shown.one_line(each.title or words.shared.UNTITLED, 90), (each.last_at or "")[:10])
        for each in reply.only_copies[:TITLES]
    ]
    rest = len(reply.only_copies) - len(named)
    return "\n".join([*named, *([words.prune.and_more(rest)] if rest else [])])


def figures(reply: PruneReply) -> tuple[str, ...]:
    """Return the numbers below `words.PRUNE_FIGURES`."""
    return (
        shown.count(reply.sessions),
        shown.count(reply.chunks),
        shown.count(reply.vectors),
        shown.count(reply.calls),
        shown.size(reply.bytes_freed),
    )


def summary(reply: PruneReply) -> str:
    """Return what would go, in a sentence."""
    return words.prune.summary(
        words.amounts.sessions(reply.sessions), words.prune.passages(reply.chunks), shown.size(reply.bytes_freed)
    )


def result(reply: PruneReply) -> str:
    """Return what went, in a sentence."""
    return words.prune.result(
        words.amounts.sessions(reply.sessions), words.prune.passages(reply.chunks), shown.size(reply.bytes_freed)
    )
