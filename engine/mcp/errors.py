"""The words of a refusal. Claude Code shows a model nothing of a failed call but this text, so everything stands in it.

Quoted history never enters: these texts are ours, and what they repeat is what the caller sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.mcp.measure import head, printable

if TYPE_CHECKING:
    from engine.core.errors import EngineError

TEXT_CAP: Final = 2_000
"""Characters of an error's text (interface.md, "What the model sees")."""
INTERNAL_ERROR: Final = "internal_error"
"""The code of every exception that is a defect of ours. Its traceback stays in the log."""

_CANDIDATES_CAP: Final = 600
_HINT_CAP: Final = 400


def error_text(error: EngineError) -> str:
    """Return an error as `code: what happened. What it means. What to do.`, and a line of candidates."""
    candidates = ", ".join(error.candidates)
    lines = [f"Candidates: {head(candidates, _CANDIDATES_CAP)}"] if candidates else []
    hint = head(error.hint, _HINT_CAP)
    title = error.title if error.title.endswith((".", "!", "?", ":")) else f"{error.title}."
    room = TEXT_CAP - 1 - sum(len(each) + 1 for each in (error.code, hint, *lines))
    said = head(f"{title} {error.message}".strip(), room - 1)
    text = "\n".join([f"{error.code}: {said} {hint}".strip(), *lines])
    return str(printable(text))


def defect_text(tool: str) -> str:
    """Return what is said of an exception nobody foresaw: that it is ours, and what may still help."""
    return (
        f"{INTERNAL_ERROR}: Backscroll failed while answering {tool}. This is a defect of Backscroll, not of the call. "
        "What happened is in its log; `backscroll doctor` in a terminal says where that is. Calling again may work."
    )
