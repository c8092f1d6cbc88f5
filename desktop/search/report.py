"""What is said about the rows: in the footer beside them, and in their place where there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from desktop import words

if TYPE_CHECKING:
    from desktop.errors import Trouble
    from engine.core.models.asking import SearchRequest
    from engine.core.models.hits import SearchReply

Mode = Literal["hybrid", "keyword", "semantic"]


@dataclass(frozen=True, slots=True)
class Report:
    """What the window says about the rows."""

    is_slow: bool = False
    """"Searching…" is due."""
    total: int | None = None
    """Hits; None while the field is empty."""
    total_is: str | None = None
    """What the total counts when that is not every hit: as in the engine's answer."""
    records: int | None = None
    """Records of Knowledge that were found, in place of hits."""
    empty: str | None = None
    """What stands in place of the rows, when something better than "nothing found" is known."""
    note: str | None = None
    """How the answer was made, when not as asked."""
    problem: Trouble | None = None
    needs_doctor: bool = False
    """The problem is the engine's, not a filter's."""
    offer_everything: int = 0
    """Low-signal hits that are not shown, when nothing else matches."""
    corrected: str | None = None
    is_empty: bool = False
    """An answer has come and holds nothing."""
    has_history: bool = True
    """False when the engine has no session at all."""


def report_of(
    request: SearchRequest, reply: SearchReply, mode: Mode, *, can_search_so: bool, everything: bool
) -> Report:
    """Return what is said about an answer.

    Args:
        request: What was asked for.
        reply: What came.
        mode: How the person wants to search.
        can_search_so: The engine does.
        everything: Low-signal hits are wanted, too.
    """
    return Report(
        total=reply.total,
        total_is=reply.total_is,
        note=_mode_note(request, reply, mode, can_search_so=can_search_so),
        corrected=reply.corrected_query,
        offer_everything=(reply.low_signal_matches or 0) if not reply.hits and not everything else 0,
        is_empty=not reply.hits,
    )


def _mode_note(request: SearchRequest, reply: SearchReply, mode: Mode, *, can_search_so: bool) -> str | None:
    """Say how the answer was made when that is less than what was asked for."""
    if mode == "keyword":
        return None
    if not can_search_so:
        return words.search.MEANING_LATER
    if reply.mode.realised != request.mode and reply.mode.reason:
        return reply.mode.reason
    if request.mode != "keyword" and reply.coverage.percent < 100:
        return words.search.meaning_covers(reply.coverage.percent)
    return None


@dataclass(frozen=True, slots=True)
class Emptiness:
    """What stands in place of the rows."""

    icon: str
    text: str
    """A title, and after an empty line what it means."""
    offer: str = ""
    """The button's text; no button where it is empty."""
    action: str = ""
    """What the button does: an action's name, or a window's."""


def emptiness(report: Report, *, is_running: bool) -> Emptiness | None:
    """Return what stands in place of the rows, None where there should be rows."""
    if not is_running:
        return Emptiness("search", words.shared.STARTING)
    if report.problem is not None:
        text = "\n\n".join(part for part in (report.problem.title, report.problem.text) if part)
        offer = (words.search.RUN_DOCTOR, "doctor") if report.needs_doctor else ("", "")
        return Emptiness("warning", text, *offer)
    if not report.has_history:
        return Emptiness("session", words.search.NO_HISTORY, words.shared.TRY_SAMPLE, "sample")
    if report.offer_everything:
        offer = words.search.search_everything(report.offer_everything)
        return Emptiness("tool", words.search.ONLY_LOW_SIGNAL, offer, "everything")
    if report.empty is not None or report.is_empty:
        return Emptiness("search", report.empty or words.search.NOTHING_FOUND)
    return None
