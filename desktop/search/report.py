"""What is said about the rows: in the footer beside them, and in their place where there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop import words

if TYPE_CHECKING:
    from desktop.errors import Trouble


@dataclass(frozen=True, slots=True)
class Report:
    """What the window says about the rows."""

    is_slow: bool = False
    """"Searching…" is due."""
    total: int | None = None
    """Hits; None while the field is empty."""
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
