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


# Status

STATUS_TITLE: Final = "Status"
REINDEX: Final = "Look again"
BACKLOG: Final = "Backlog"
COVERAGE: Final = "Coverage by project"
DAYS_TITLE: Final = "Activity by day"
CALENDAR: Final = "Messages by day"
TROUBLES: Final = "Last errors"
NO_TROUBLES: Final = "None."
NO_PROJECT: Final = "no project"
FIGURES: Final = ("Sessions", "Messages", "Database", "Archive", "Connected programs")
SIZES: Final = frozenset({"Database", "Archive"})


def active_days(number: int) -> str:
    return f"Messages on {_n(number, 'day', 'days')}"


def on_day(count: str, day: str) -> str:
    return f"{count} on {day}"


def at_most(number: str) -> str:
    return f"{number} at most"


def coverage_line(chunks: str, share: str) -> str:
    found = f"{chunks} passages can be found by their words"
    return f"{found}, {share} of them also by meaning" if share else found


def problem_in(file: str, what: str) -> str:
    return f"{file}: {what}"


def reading(files_: str, size: str) -> str:
    return f"Reading: {files_} ({size}) to go"


def per_second(size: str) -> str:
    return f"{size} a second"


def last_change(when: str) -> str:
    return f"Last message read {when}"


def embedding_left(number: str) -> str:
    return f"{number} passages still to embed"


# Claude Code

CLAUDE_TITLE: Final = "Connect Claude Code"
CLAUDE_WHAT: Final = (
    "Claude Code can then search this memory by itself. One entry is added to your user's configuration; a dated copy "
    "of the file is kept, and one click takes exactly this entry out again."
)
CLAUDE_STATES: Final = {
    "connected": "Claude Code is connected.",
    "other_path": "Claude Code is connected to another path.",
    "not_connected": "Claude Code is not connected.",
    "unreadable": "Claude Code's configuration cannot be read.",
}
CLAUDE_UNKNOWN: Final = "Looking at Claude Code's configuration…"
CONNECT: Final = "Connect"
RECONNECT: Final = "Connect to this one"
DISCONNECT: Final = "Disconnect"
ALLOW_READS: Final = "Let Claude Code use the reading tools without asking each time"
KEEP_LONG: Final = "Let Claude Code keep its transcripts for ten years"
ALLOWED: Final = "Claude Code may use the reading tools without asking."


def kept_days(days: int) -> str:
    return f"Claude Code deletes its transcripts after {_n(days, 'day', 'days')}."


# First run

FIRST_TITLE: Final = "Welcome to Backscroll"
FIRST_HEAD: Final = "Everything you ever said to Claude Code, searchable"
FIRST_LOOKING: Final = "Looking for your history…"
FIRST_NONE: Final = (
    "No history of Claude Code was found on this machine yet. It appears here by itself once there is some."
)
FIRST_WHAT: Final = (
    "It is being read now, newest first: search works at once, and search by meaning fills in behind it. Claude Code "
    "deletes its transcripts after a while; Backscroll keeps what they held. Nothing leaves this machine."
)
FIRST_HOTKEY: Final = "Press these keys anywhere to search"
FIRST_AUTOSTART: Final = "Start Backscroll when I log in"
FIRST_GO: Final = "Start searching"
CHANGE: Final = "Change…"
STEP_FOUND: Final = "Found on this machine"
STEP_SEARCH: Final = "Search"
STEP_CLAUDE: Final = "Claude Code"


def found(sessions_: int, days_: int, roots: int) -> str:
    places = "" if roots < 2 else f" in {roots} places"
    over = "" if days_ < 2 else f" over {_n(days_, 'day', 'days')}"
    return f"{_n(sessions_, 'session', 'sessions')}{over}{places}"


# About

ABOUT_TITLE: Final = "About Backscroll"
ABOUT_WHAT: Final = "A memory for Claude Code, on your own machine."
ABOUT_NEW: Final = (
    "New versions are published where you got this one. Backscroll itself never goes on the network: it neither looks "
    "for updates nor reports anything."
)
ABOUT_LICENCE: Final = "Backscroll is free software under the MIT licence. It uses:"
ABOUT_PARTS: Final = (
    "Qt and PySide6 (LGPL 3)", "SQLite and APSW", "sqlite-vec (MIT or Apache 2)", "PyTorch (BSD 3-Clause)",
    "sentence-transformers (Apache 2)", "all-MiniLM-L6-v2 (Apache 2)", "MCP SDK (MIT)", "Python (PSF)",
)  # fmt: skip
COPY_VERSION: Final = "Copy version"


def version(number: str) -> str:
    return f"Version {number}"


# Settings

SETTINGS_TITLE: Final = "Settings"
PAGE_GENERAL: Final = "General"
PAGE_HISTORY: Final = "History"
PAGE_SEARCH: Final = "Search"
PAGE_EMBEDDING: Final = "Search by meaning"
PAGE_CLAUDE: Final = "Claude Code"
PAGE_PRIVACY: Final = "Privacy"
PAGE_DATA: Final = "Data"
SETTING_NAMES: Final = {
    "transcripts.roots": "More folders of transcripts",
    "transcripts.exclude_projects": "Projects that are left out",
    "time_zone": "Time zone",
    "search.semantic_wait_s": "Wait for a cold model",
    "embedding.enabled": "Search by meaning",
    "embedding.threads": "Threads",
    "embedding.idle_unload_minutes": "Unload after idle minutes",
    "embedding.on_battery": "Embed on battery",
    "embedding.model": "Model",
    "archive.enabled": "Keep a copy of each transcript",
    "privacy.redact": "Leave secrets out",
    "privacy.projects_apart": "Projects that answer only from inside",
    "usage.prices": "Own prices",
    "hotkey": "Hotkey",
    "autostart": "Start at login",
    "theme": "Theme",
}
CHOICES: Final = {"system": "As the system", "light": "Light", "dark": "Dark"}
SECONDS_SUFFIX: Final = " s"
SYSTEM_ZONE: Final = "system"
ONE_A_LINE: Final = "One a line, for example ~/scratch/*"
ROOTS_HINT: Final = "One a line, for example laptop = ~/backups/laptop/.claude/projects"
PRESS_KEYS: Final = "Press the keys… (Esc: keep)"
NO_HOTKEY: Final = "none"
HOTKEY_HELP: Final = "Shows and hides the search window, anywhere. Click, then press the keys you want."
NEEDS_RESTART: Final = "What you changed takes effect when the engine starts again. That takes a second."
RESTART_ENGINE: Final = "Apply now"
OPEN_SETTINGS_FILE: Final = "Open the settings file"
OPEN: Final = "Open"
FOLDER_DATA: Final = "Data"
FOLDER_SETTINGS: Final = "Settings"
FOLDER_LOG: Final = "Log"
REBUILD: Final = "Rebuild the index"
REBUILD_HELP: Final = "Rebuilding reads every transcript again. The archive and Knowledge are not touched by it."
BACKUP: Final = "Back up…"
DELETE_ALL: Final = "Delete everything…"
DELETE_HELP: Final = (
    "Deletes the index, the archive, Knowledge, the settings and the log from this machine, and ends Backscroll. "
    "Claude Code's own transcripts stay. Disconnect Claude Code first."
)
DELETE_TITLE: Final = "Delete everything Backscroll has?"
DELETE_SURE: Final = (
    "Sessions that Claude Code has already deleted, and decisions kept in Knowledge, exist nowhere else. This cannot "
    "be undone."
)


def hotkey_stays(keys: str) -> str:
    return f"{keys} stays."


def not_written(why: str) -> str:
    return f"Not saved: {why}"


def queued(number: int) -> str:
    return f"{_n(number, 'transcript', 'transcripts')} will be read again; the status window shows how far it is."


# Usage

USAGE_TITLE: Final = "Backscroll: usage"
USAGE_PERIODS: Final = {
    "7d": "Last 7 days",
    "30d": "Last 30 days",
    "90d": "Last 90 days",
    "month": "This month",
    "last_month": "Last month",
    "year": "This year",
    "all": "Everything",
    "own": "From … to …",
}
USAGE_GROUPS: Final = {"day": "Day", "model": "Model", "project": "Project", "session": "Session"}
USAGE_UNITS: Final = {"cost": "Cost", "tokens": "Tokens"}
USAGE_COLUMNS: Final = (
    "", "Input", "Output", "Cache written", "Cache read", "All tokens", "Calls", "Cost (US$)", "Remarks",
)  # fmt: skip
USAGE_FIGURES: Final = {
    "cost": "Cost",
    "tokens": "Tokens",
    "output": "Output tokens",
    "calls": "Calls",
    "cache": "Read from the cache",
}
USAGE_CHART: Final = "Usage over time by model"
USAGE_CHART_HELP: Final = "Left and Right choose a bar"
USAGE_TABLE: Final = "Usage"
USAGE_PERIOD: Final = "Period"
USAGE_FROM: Final = "First day"
USAGE_TO: Final = "Last day"
USAGE_UNIT: Final = "What the bars show"
USAGE_GROUP: Final = "What a row is"
USAGE_COPY: Final = "Copy numbers"
USAGE_EXPORT: Final = "Export CSV…"
USAGE_NONE: Final = "Nothing was recorded in this period."
USAGE_OTHERS: Final = "others"
BETWEEN: Final = "  ·  "
UNPRICED: Final = "unpriced"
TOTAL: Final = "Total"
CSV_FILES: Final = "CSV (*.csv)"
NOT_WRITTEN: Final = "The file could not be written"


def unpriced_calls(number: int) -> str:
    return f"{number:,} unpriced"


def incomplete_calls(number: int) -> str:
    return f"{number:,} incomplete"


def first_rows(shown_: int, total: int) -> str:
    return f"The first {shown_:,} of {total:,} are shown; the CSV has them all."


def at_least(money: str) -> str:
    return f"≥ {money}"


def money(amount: str) -> str:
    return f"${amount}"


def bar_of(day: str, total: str) -> str:
    return f"{day}: {total}"


def bar_part(name: str, amount: str) -> str:
    return f"{name}  {amount}"


def week_of(day: str) -> str:
    return f"Week of {day}"


def chart_summary(bars: str, total: str) -> str:
    return f"{bars}, {total} in all"


def bars(number: int) -> str:
    return _n(number, "bar", "bars")


def thousands(number: str) -> str:
    return f"{number} K"


def millions(number: str) -> str:
    return f"{number} M"


def billions(number: str) -> str:
    return f"{number} G"


# Doctor

DOCTOR_TITLE: Final = "Backscroll: doctor"
DOCTOR_LOOKING: Final = "Looking at everything…"
DOCTOR_MENDING: Final = "Mending…"
DOCTOR_WELL: Final = "Everything is well"
DOCTOR_MENDED: Final = "Mended. Everything is well"
DOCTOR_STOPPED: Final = "The doctor did not finish"
DOCTOR_NO_ENGINE: Final = "The engine is not running yet. The doctor looks as soon as it is."
DOCTOR_AGAIN: Final = "Look again"
DOCTOR_FIX: Final = "Fix"
DOCTOR_FIX_ALL: Final = "Fix all…"
DOCTOR_FIX_NOW: Final = "Fix now"
DOCTOR_ASK: Final = "This will be done"
DOCTOR_TOGETHER: Final = (
    "The doctor mends everything it can in one go, in an order that is safe. The index is copied before it is changed."
)
DOCTOR_SOUND: Final = "In order"
DOCTOR_FINDINGS: Final = "Findings"
DOCTOR_PROGRESS: Final = "Progress of the doctor"
DOCTOR_FIXED: Final = "Mended"
DOCTOR_NOT_FIXED: Final = "Could not be mended"
MARKS: Final = {"ok": "✓", "info": "i", "warning": "!", "error": "✗", "fixed": "✓"}
MARK_NAMES: Final = {"ok": "in order", "info": "note", "warning": "warning", "error": "error", "fixed": "mended"}
HOTKEY_CHECK: Final = "Hotkey"
HOTKEY_WORKS: Final = "It is claimed."
TRAY_CHECK: Final = "Tray icon"
TRAY_MISSING: Final = "This desktop has no place for tray icons."
TRAY_MEANS: Final = "Backscroll is an ordinary window here; everything is under Ctrl+K."


def doctor_found(number: int) -> str:
    return f"{_n(number, 'thing needs', 'things need')} attention"


def fix_of(title: str) -> str:
    return f"{DOCTOR_FIX}: {title}"


def finding_name(mark: str, title: str, found_: str) -> str:
    return f"{title}: {mark}. {found_}"


def will_be_done(title: str, what: str) -> str:
    return f"{title}: {what}"


# Prune

PRUNE_TITLE: Final = "Backscroll: prune"
PRUNE_WHAT: Final = (
    "Takes whole sessions out of Backscroll in which nothing was said for a long time. Claude Code's own files are "
    "never touched."
)
PRUNE_AGE: Final = "Nothing was said for"
PRUNE_PROJECT: Final = "In"
PRUNE_EVERYWHERE: Final = "all projects"
PRUNE_ARCHIVE: Final = "Their archived copies, too"
PRUNE_ONLY: Final = "Also sessions that exist nowhere else"
PRUNE_GOES: Final = "This would go"
PRUNE_COUNTING: Final = "Counting…"
PRUNE_FIGURES: Final = ("Sessions", "Passages", "Vectors", "Usage records", "Space")
PRUNE_NOTHING: Final = "Nothing is that old."
PRUNE_NEXT: Final = "Go on…"
PRUNE_SURE: Final = "Take this out of Backscroll?"
PRUNE_FOREVER: Final = "What only Backscroll has is lost for ever. This cannot be undone."
PRUNE_UNDERSTOOD: Final = "I know that these sessions cannot be brought back"
PRUNE_BACK: Final = "Back"
PRUNE_NOW: Final = "Take out now"
PRUNE_RUNNING: Final = "Taking out…"
PRUNE_PROGRESS: Final = "Progress of pruning"
PRUNE_DONE: Final = "Done"
PRUNE_FAILED: Final = "Pruning did not finish"
PRUNE_MORE: Final = "Prune more"
PRUNE_TITLES: Final = "Sessions that exist nowhere else"
PRUNE_NO_ENGINE: Final = "The engine is not running yet."


def days_suffix(number: int) -> str:
    return " day" if number == 1 else " days"


def only_copies(number: int, *, go: bool) -> str:
    which = _n(number, "session exists", "sessions exist")
    return f"{which} nowhere else: Claude Code has deleted {'its' if number == 1 else 'their'} transcripts. " + (
        "They would be lost for ever." if go else "They stay."
    )


def projects_inside(names: str) -> str:
    return f"Other projects lie in this folder and go with it: {names}"


def and_more(number: int) -> str:
    return f"and {number:,} more"


def titled_on(title: str, day: str) -> str:
    return f"{title} ({day})" if day else title


def prune_summary(sessions_: str, passages: str, size: str) -> str:
    return f"{sessions_} with {passages}, about {size}"


def prune_result(sessions_: str, passages: str, size: str) -> str:
    return f"{sessions_} with {passages} went; {size} are free again."


def passages(number: int) -> str:
    return _n(number, "passage", "passages")


# Knowledge

KNOWLEDGE_TITLE: Final = "Backscroll: Knowledge"
KNOWLEDGE_VIEWS: Final = {"search": "Search", "timeline": "Timeline", "day": "Day"}
KNOWLEDGE_VIEW: Final = "What the list shows"
KNOWLEDGE_HINT: Final = "Words, an id, a title or an alias"
KNOWLEDGE_ENTITY: Final = "A person, project or thing: its id or exact name"
KNOWLEDGE_LIST: Final = "Records"
KNOWLEDGE_RECORD: Final = "Record"
KNOWLEDGE_CHOOSE: Final = "Choose a record to read it here"
KNOWLEDGE_NONE: Final = "Nothing found."
KNOWLEDGE_EMPTY: Final = (
    "No records yet.\n\nKnowledge holds decisions, commitments and facts that were kept on purpose. Claude Code "
    "records them when it is asked to, with the words they rest on."
)
KNOWLEDGE_NOTHING_ON: Final = "Nothing is recorded for this time."
KNOWLEDGE_WHOSE: Final = "Type whose timeline you want to see."
KNOWLEDGE_NOBODY: Final = "Nothing is called exactly so, and no page speaks of it."
DID_YOU_MEAN: Final = "Did you mean"
KNOWLEDGE_NO_ENGINE: Final = "The engine is not running yet."
KNOWLEDGE_RECENT: Final = "Recorded last"
KNOWLEDGE_WEEK: Final = "Whole week"
KNOWLEDGE_DATE: Final = "Day"
KNOWLEDGE_EARLIER: Final = "Earlier"
KNOWLEDGE_LATER_DAY: Final = "Later"
STEP_BACK: Final = "‹"
STEP_ON: Final = "›"
KNOWLEDGE_EDITOR: Final = "Open in editor"
KNOWLEDGE_TIMELINE: Final = "Timeline"
KNOWLEDGE_COPY: Final = "Copy citation"
EVIDENCE: Final = "Evidence"
FINDINGS: Final = "Findings"
KNOWN_ABOUT_IT: Final = "Recorded about it"
EVIDENCE_STATES: Final = {
    "verified": "verified",
    "no_descriptor": "not verified: its description is missing",
    "no_file": "not verified: the retained original is missing",
    "changed": "not verified: the retained original was changed",
    "no_lines": "not verified: the original has no such lines",
    "no_quote": "not verified: the original does not say this",
}
TRANSCRIPT_STATES: Final = {
    "verified": "the transcript still says so",
    "changed": "the transcript says something else now",
    "gone": "the transcript is gone; this copy remains",
}
LIFECYCLES: Final = {"superseded": "superseded", "withdrawn": "withdrawn", "merged": "merged"}
EXPIRED: Final = "expired"
RECORD_FIELDS: Final = {
    "supersededBy": "Superseded by",
    "mergedInto": "Merged into",
    "supersedes": "Supersedes",
    "occurredAt": "Occurred",
    "dueAt": "Due",
    "validUntil": "Valid until",
    "from": "From",
    "to": "To",
    "owner": "Owner",
    "said": "Said by",
    "entities": "About",
    "sources": "Sources",
    "dependencies": "Depends on",
    "aliases": "Aliases",
    "tags": "Tags",
    "change": "Why",
    "recordedAt": "Recorded",
    "path": "File",
}


def record_citation(title: str, id_: str, path: str) -> str:
    return f"{title} ({id_}, {path})"


def found_by_earlier(wording: str) -> str:
    return f"found by an earlier wording: {wording}"


def said_how(by: str, how: str) -> str:
    return f"{by} ({how})"


def quoted(text: str) -> str:
    return f"“{text}”"


def lines_of(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"


def records_of(shown_: int, total: int) -> str:
    return _n(total, "record", "records") if shown_ >= total else f"{shown_:,} of {_n(total, 'record', 'records')}"


def incomplete_store(number: int) -> str:
    return f"{_n(number, 'finding', 'findings')} in the store: this may be incomplete. Run doctor says more."


def tag(name: str) -> str:
    return f"#{name}"
