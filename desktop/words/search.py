"""The search window: its field, its hits, the preview and the session, and the filters that may be typed."""

from __future__ import annotations

from typing import Final

from desktop.words.amounts import number_of

HINT: Final = "Search everything you ever said to Claude Code"
NAME: Final = "Search"
HITS: Final = "Hits"
PREVIEW: Final = "Preview"
PREVIEW_EMPTY: Final = "The exchange around a hit appears here"
MESSAGES: Final = "Messages"
SEARCHING: Final = "Searching…"
STATE: Final = "State of the search"
CONFIRMATION: Final = "Confirmation"
RECENT: Final = "Recent sessions"
PINNED: Final = "Pinned"
ONLY_HERE: Final = "Claude Code has deleted this transcript; only Backscroll still has it."
ONLY_HERE_SHORT: Final = "only in Backscroll"
NOTHING_FOUND: Final = "Nothing found\n\nFewer or other words may help, or a filter less."
ONLY_LOW_SIGNAL: Final = "Only tool output and injected text match"
RUN_DOCTOR: Final = "Run doctor"
NO_HISTORY: Final = (
    "No history of Claude Code on this machine yet\n\n"
    "Use Claude Code once and it will appear here by itself. Until then you can look around in an invented history."
)
MEANING_LATER: Final = "Searching by words only: search by meaning is not there yet"
YOU: Final = "You"
CLAUDE: Final = "Claude"
SUBAGENT: Final = "Subagent"
SUMMARY: Final = "Summary"
INJECTED: Final = "Context"
TOOL: Final = "Tool"
RECORD: Final = "Record"
THINKING: Final = "Thinking"
FAILED_RESULT: Final = "Failed"
IMAGE: Final = "[picture]"
REMOVE: Final = "×"
FIND_HINT: Final = "Find in this session"
NO_MATCH: Final = "no match"
STEP_HINT: Final = "F3 and Shift+F3 step through the matches"
CITATION_COPIED: Final = "Citation copied"
ID_COPIED: Final = "Session id copied"
PINNED_NOW: Final = "Pinned"
UNPINNED_NOW: Final = "No longer pinned"
NO_TERMINAL: Final = "No terminal was found; the command is on the clipboard"
RAW_GONE: Final = "The transcript is gone; only Backscroll still has this session"
RAW_NOT_OPENED: Final = "No program opens it; its path is on the clipboard"
LINK_REFUSED: Final = "This link cannot be opened"
MARKDOWN_FILES: Final = "Markdown (*.md)"
ACTIONS_HINT: Final = "What do you want to do?"
MODE_HYBRID: Final = "Hybrid"
MODE_KEYWORD: Final = "Keyword"
MODE_MEANING: Final = "Meaning"
MODE_EVERYTHING: Final = "Everything"
MODE_HELP: Final = {
    "hybrid": "By words and by meaning",
    "keyword": "Every word must occur",
    "semantic": "Nearest by meaning",
}
TOTAL_IS: Final = {
    "candidates": "Search by meaning ranks the nearest passages, however little they have in common with the question",
    "newest": "Nearly everything matches: only the newest hits were looked at",
}
EVERYTHING_HELP: Final = "Tool output, injected text and subagents, too"


def speaker(role: str, tool: str | None) -> str:
    names = {"user": YOU, "assistant": CLAUDE, "tool": TOOL, "summary": SUMMARY, "injected": INJECTED}
    name = names.get(role, role)
    return f"{name} ({tool})" if tool else name


def more_in_session(number: int) -> str:
    return f"{number} more in this session"


def remove_filter(text: str) -> str:
    return f"Remove the filter {text}"


def records(number: int) -> str:
    return number_of(number, "record", "records")


def hits(number: int) -> str:
    return number_of(number, "hit", "hits")


def total(number: int, total_is: str | None) -> str:
    if total_is == "candidates":
        return number_of(number, "candidate", "candidates")
    return f"at least {hits(number)}" if total_is == "newest" else hits(number)


def search_everything(number: int) -> str:
    return f"Search everything ({number_of(number, 'hit', 'hits')})"


def corrected(query: str) -> str:
    return f"Nothing matched as typed; these are for “{query}”"


def meaning_covers(share: float) -> str:
    return f"Meaning search covers {int(share)} % so far"


def match_of(number: int, total: int, *, or_more: bool = False) -> str:
    return f"{number:,} of {total:,} or more" if or_more else f"{number:,} of {total:,}"


def characters_more(number: str) -> str:
    return f"… {number} more characters; the transcript has them all"


def result(lines: int) -> str:
    return f"Result, {number_of(lines, 'line', 'lines')}"


def picture(name: str) -> str:
    return f"picture: {name}" if name else "picture"


def with_key(text: str, key: str) -> str:
    return f"{text} ({key})"


def footer_hint(enter: str, actions: str, keys: str) -> str:
    return f"{enter} open    {actions} actions    {keys} keys"


def citation(quote: str, place: str, session: str, message: str) -> str:
    return f"“{quote}”\n({place}; session {session}, message {message})"


def record_citation(title: str, id_: str) -> str:
    return f"{title} ({id_})"


def not_a_date(text: str) -> str:
    return f"{text}: a date is 2026-03-01, 2026-03, 7d, 24h, today or yesterday"


def not_a_role(text: str, known: str) -> str:
    return f"{text}: a role is one of {known}"


def not_a_kind(text: str, known: str) -> str:
    return f"{text}: a kind is one of {known}"


def not_a_place(text: str, known: str) -> str:
    return f"{text}: a place is one of {known}"
