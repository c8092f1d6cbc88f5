"""Every visible string of the desktop, in one place and ready for translation. Functions where a number decides.

Words for things are those of the README: session, message, hit, project, coverage, backlog.
"""

from __future__ import annotations

from typing import Final

APP: Final = "Backscroll"


def _n(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


# Times and numbers

JUST_NOW: Final = "just now"
YESTERDAY: Final = "yesterday"
LESS_THAN_ONE_PERCENT: Final = "under 1 %"


def percent(number: int) -> str:
    return f"{number} %"


def seconds(number: int) -> str:
    return f"{number} s"


def minutes(number: int) -> str:
    return f"{number} min"


def hours(number: int) -> str:
    return f"{number} h"


def days(number: int) -> str:
    return _n(number, "day", "days")


def minutes_ago(number: int) -> str:
    return f"{number} min ago"


def hours_ago(number: int) -> str:
    return f"{number} h ago"


def days_ago(number: int) -> str:
    return f"{number} days ago"


def day_and_time(day: str, time: str) -> str:
    return f"{day}, {time}"


def messages(number: int) -> str:
    return _n(number, "message", "messages")


def sessions(number: int) -> str:
    return _n(number, "session", "sessions")


def projects(number: int) -> str:
    return _n(number, "project", "projects")


def files(number: int) -> str:
    return _n(number, "file", "files")


# Errors

BUG_TITLE: Final = "Something went wrong inside Backscroll"
BUG_MESSAGE: Final = "This is a defect of the program. Your history is not harmed."
BUG_HINT: Final = "The log has the details; you can also copy them here."
COPY_DETAILS: Final = "Copy details"
CLOSE: Final = "Close"
CANCEL: Final = "Cancel"
COPIED: Final = "Copied"

# Search window

SEARCH_HINT: Final = "Search everything you ever said to Claude Code"
SEARCH_NAME: Final = "Search"
HITS: Final = "Hits"
PREVIEW: Final = "Preview"
PREVIEW_EMPTY: Final = "The exchange around a hit appears here"
MESSAGES: Final = "Messages"
LOADING: Final = "Loading…"
SEARCHING: Final = "Searching…"
STARTING: Final = "Backscroll is starting…"
STATE: Final = "State of the search"
CONFIRMATION: Final = "Confirmation"
RECENT: Final = "Recent sessions"
PINNED: Final = "Pinned"
UNTITLED: Final = "Untitled session"
ONLY_HERE: Final = "Claude Code has deleted this transcript; only Backscroll still has it."
ONLY_HERE_SHORT: Final = "only in Backscroll"
NOTHING_FOUND: Final = "Nothing found.\n\nFewer or other words may help, or a filter less."
ONLY_LOW_SIGNAL: Final = "Only tool output and injected text match."
NO_HISTORY: Final = (
    "No history of Claude Code was found on this machine yet.\n\n"
    "Use Claude Code once and it will appear here by itself. Until then you can look around in an invented history."
)
TRY_SAMPLE: Final = "Try the sample history"
KNOWLEDGE_LATER: Final = "Knowledge cannot be searched from here yet"
MEANING_LATER: Final = "Searching by words only: search by meaning is not there yet"
YOU: Final = "You"
CLAUDE: Final = "Claude"
SUBAGENT: Final = "Subagent"
SUMMARY: Final = "Summary"
INJECTED: Final = "Context"
TOOL: Final = "Tool"
THINKING: Final = "Thinking"
FAILED_RESULT: Final = "Failed"
IMAGE: Final = "[picture]"
BACK: Final = "‹ Back"
NOT_A_TAG: Final = "‹"
"""Stands for a less-than sign where Qt would look for HTML."""
REMOVE: Final = "×"
FIND_HINT: Final = "Find in this session"
NO_MATCH: Final = "no match"
STEP_HINT: Final = "F3 and Shift+F3 step through the matches"
CITATION_COPIED: Final = "Citation copied"
ID_COPIED: Final = "Session id copied"
PINNED_NOW: Final = "Pinned"
UNPINNED_NOW: Final = "No longer pinned"
EXPORTED: Final = "Exported"
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
EVERYTHING_HELP: Final = "Tool output, injected text and subagents, too"


def speaker(role: str, tool: str | None) -> str:
    names = {"user": YOU, "assistant": CLAUDE, "tool": TOOL, "summary": SUMMARY, "injected": INJECTED}
    name = names.get(role, role)
    return f"{name} ({tool})" if tool else name


def more_in_session(number: int) -> str:
    return f"{number} more in this session"


def remove_filter(text: str) -> str:
    return f"Remove the filter {text}"


def hits(number: int) -> str:
    return _n(number, "hit", "hits")


def search_everything(number: int) -> str:
    return f"Search everything ({_n(number, 'hit', 'hits')})"


def corrected(query: str) -> str:
    return f"Nothing matched as typed; these are for “{query}”"


def meaning_covers(share: float) -> str:
    return f"Meaning search covers {int(share)} % so far"


def match_of(number: int, total: int) -> str:
    return f"{number} of {total}"


def characters_more(number: str) -> str:
    return f"… {number} more characters; the transcript has them all"


def result(lines: int) -> str:
    return f"Result, {_n(lines, 'line', 'lines')}"


def picture(name: str) -> str:
    return f"picture: {name}" if name else "picture"


def with_key(text: str, key: str) -> str:
    return f"{text} ({key})"


def footer_hint(enter: str, actions: str, keys: str) -> str:
    return f"{enter} open    {actions} actions    {keys} keys"


def citation(quote: str, place: str, session: str, message: str) -> str:
    return f"“{quote}”\n({place}; session {session}, message {message})"


def not_a_date(text: str) -> str:
    return f"{text}: a date is 2026-03-01, 2026-03, 7d, 24h, today or yesterday"


def not_a_role(text: str, known: str) -> str:
    return f"{text}: a role is one of {known}"


def not_a_kind(text: str, known: str) -> str:
    return f"{text}: a kind is one of {known}"


def not_a_place(text: str, known: str) -> str:
    return f"{text}: a place is one of {known}"


ACT_OPEN: Final = "Open the session at the hit"
ACT_RESUME: Final = "Resume the session in a terminal"
ACT_COPY: Final = "Copy the text"
ACT_CITE: Final = "Copy a citation"
ACT_PIN: Final = "Pin the session, or take the pin out"
ACT_EXPAND: Final = "Show more hits of the session"
ACT_FOLD: Final = "Fold them"
ACT_NEXT_MATCH: Final = "Next match"
ACT_PREVIOUS_MATCH: Final = "Previous match"
ACT_FIND: Final = "Find in the session"
ACT_EXPORT: Final = "Export the session as Markdown…"
ACT_RAW: Final = "Open the raw transcript"
ACT_COPY_ID: Final = "Copy the session id"
ACT_PREVIEW: Final = "Show or hide the preview"
ACT_HYBRID: Final = "Search by words and meaning"
ACT_KEYWORD: Final = "Search by words"
ACT_SEMANTIC: Final = "Search by meaning"
ACT_EVERYTHING: Final = "Search everything, low signal too"
ACT_OLDER_QUERY: Final = "Older query"
ACT_NEWER_QUERY: Final = "Newer query"
ACT_DOWN: Final = "Next row"
ACT_UP: Final = "Previous row"
ACT_PAGE_DOWN: Final = "A page down"
ACT_PAGE_UP: Final = "A page up"
ACT_NTH: Final = "Open the first to ninth row"
ACT_ACTIONS: Final = "All actions"
ACT_KEYS: Final = "Keys"
ACT_ESCAPE: Final = "Clear, then hide"

# Tray

MENU_SEARCH: Final = "Search…"
MENU_STATUS: Final = "Status…"
MENU_USAGE: Final = "Usage…"
MENU_KNOWLEDGE: Final = "Knowledge…"
MENU_PAUSE: Final = "Pause indexing"
MENU_PAUSE_HOUR: Final = "For 1 hour"
MENU_PAUSE_RESTART: Final = "Until restart"
MENU_RESUME: Final = "Resume indexing"
MENU_DOCTOR: Final = "Run doctor"
MENU_PRUNE: Final = "Prune…"
MENU_CONNECT: Final = "Connect Claude Code"
MENU_CONNECTED: Final = "Connected ✓"
MENU_SETTINGS: Final = "Settings…"
MENU_ABOUT: Final = "About"
MENU_QUIT: Final = "Quit Backscroll"
NOT_THERE_YET: Final = "This is not there yet in this version."
NO_TRAY: Final = (
    "This desktop has no place for tray icons, so Backscroll is an ordinary window here. Closing it ends Backscroll; "
    "everything else is under Ctrl+K."
)
TRAY_STARTING: Final = "starting"
TRAY_PAUSED: Final = "indexing is paused"
TRAY_STOPPED: Final = "the engine is not running"
QUITTING: Final = "Closing…"


def tooltip(state: str) -> str:
    return f"{APP}: {state}"


def tray_up_to_date(count: str) -> str:
    return f"{count} messages, up to date"


def tray_indexing(count: str, left: str) -> str:
    return f"{count} messages, reading {left}"


def tray_embedding(count: str, share: str) -> str:
    return f"{count} messages, embedding {share}"


def time_left(duration: str) -> str:
    return f"about {duration} left"


def files_left(number: int) -> str:
    return _n(number, "file", "files")


def with_left(state: str, left: str) -> str:
    return f"{state} ({left})"


def search_with_key(key: str) -> str:
    return f"{MENU_SEARCH}\t{key}"


# Starting

OTHER_RUNS_TITLE: Final = "Backscroll is already running"
OTHER_RUNS_MESSAGE: Final = "Another program of this installation owns the history and does not give way."
OTHER_RUNS_HINT: Final = "End it (`backscroll status` shows its process), then start the app again."
NO_START: Final = "Backscroll cannot start"

# Hotkey

HOTKEY_EXAMPLE: Final = "Try Ctrl+Shift+Space, Ctrl+Alt+S or F9."
HOTKEY_OTHER: Final = "Choose other keys in the settings."
HOTKEY_TAKEN: Final = "Another program uses these keys."
HOTKEY_NONE: Final = "No program can claim a key on this desktop"
HOTKEY_NO_DISPLAY: Final = "There is no display server that gives keys to programs."
HOTKEY_NO_LIBRARY: Final = "The libraries libxcb and libxcb-keysyms are missing"
HOTKEY_TOGGLE: Final = "Bind the command `backscroll toggle` to a key in your desktop's own keyboard settings."
HOTKEY_NO_PORTAL: Final = "This desktop does not offer global shortcuts to programs."
HOTKEY_DENIED: Final = "The desktop did not give Backscroll these keys."
HOTKEY_DESCRIPTION: Final = "Show or hide the search window"


def hotkey_not_keys(text: str) -> str:
    return f"“{text}” names no keys"


def hotkey_too_plain(text: str) -> str:
    return f"“{text}” would get in the way of typing"


def hotkey_no_such_key(text: str) -> str:
    return f"This keyboard has no {text}"


def hotkey_refused(text: str) -> str:
    return f"{text} could not be claimed"


def hotkey_x_error(code: int) -> str:
    return f"The system answered with error {code}."
