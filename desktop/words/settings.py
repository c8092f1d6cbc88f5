"""The settings window: the names of the settings and its page of data."""

from __future__ import annotations

from typing import Final

from desktop.words.amounts import number_of

TITLE: Final = "Settings"
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
BACKUP: Final = "Back up the index now"
DELETE_ALL: Final = "Delete everything…"
DELETE_HELP: Final = (
    "Disconnects Claude Code and takes Backscroll out of the login, then deletes the index, the archive, Knowledge, "
    "the settings and the log from this machine, and ends Backscroll. Claude Code's own transcripts stay."
)
DELETE_TITLE: Final = "Delete everything Backscroll has?"
DELETE_SURE: Final = (
    "Claude Code is disconnected first. Sessions that Claude Code has already deleted, and decisions kept in "
    "Knowledge, exist nowhere else. This cannot be undone."
)
DISCONNECTING: Final = "Disconnecting Claude Code…"
NOT_DELETED: Final = "Nothing was deleted: Claude Code could not be disconnected."
DELETED: Final = "Everything is deleted"
DELETED_REST: Final = "Backscroll ends now. What is left is the program itself."
DISCONNECTED: Final = "Claude Code is disconnected."
WAS_NOT_CONNECTED: Final = "Claude Code was not connected."
ROOTS: Final = "Where transcripts are read"
COUNTING: Final = "Counting…"
NO_ROOTS: Final = "No folder of transcripts was found yet."


def hotkey_stays(keys: str) -> str:
    return f"{keys} stays."


def not_written(why: str) -> str:
    return f"Not saved: {why}"


def backed_up(file: str, size: str) -> str:
    return f"Copied to {file} ({size})."


def left_over(folders: str) -> str:
    return f"These could not be deleted: {folders}"


def transcripts(number: int) -> str:
    return number_of(number, "transcript", "transcripts")


def archive_holds(size: str) -> str:
    return f"The archive holds {size}."


def queued(number: int) -> str:
    return (
        f"{number_of(number, 'transcript', 'transcripts')} will be read again; the status window shows how far it is."
    )
