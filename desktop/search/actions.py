"""Every action of the search window with its key: one table for the shortcuts, the action list and the key help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from PySide6.QtGui import QKeySequence

from desktop import words

Where = Literal["list", "session", "both"]


@dataclass(frozen=True, slots=True)
class Action:
    """Something a person can do here."""

    name: str
    """How code calls it."""
    label: str
    keys: tuple[str, ...]
    """Portable names of Qt; Ctrl is Cmd on macOS. Empty: only in the list."""
    where: Where = "both"
    is_field_key: bool = False
    """Handled by the field itself, which must see it first."""


ACTIONS: Final = (
    Action("open", words.ACT_OPEN, ("Return",), "list", is_field_key=True),
    Action("resume", words.ACT_RESUME, ("Ctrl+Return",)),
    Action("copy", words.ACT_COPY, ("Ctrl+C",), is_field_key=True),
    Action("cite", words.ACT_CITE, ("Ctrl+Shift+C",)),
    Action("pin", words.ACT_PIN, ("Ctrl+D",)),
    Action("expand", words.ACT_EXPAND, ("Right",), "list", is_field_key=True),
    Action("fold", words.ACT_FOLD, ("Left",), "list", is_field_key=True),
    Action("next_match", words.ACT_NEXT_MATCH, ("F3",)),
    Action("previous_match", words.ACT_PREVIOUS_MATCH, ("Shift+F3",)),
    Action("find", words.ACT_FIND, ("Ctrl+F",), "session"),
    Action("export", words.ACT_EXPORT, ("Ctrl+E",)),
    Action("raw", words.ACT_RAW, ("Ctrl+O",)),
    Action("copy_id", words.ACT_COPY_ID, ("Ctrl+Shift+I",)),
    Action("preview", words.ACT_PREVIEW, ("Ctrl+Shift+P",), "list"),
    Action("hybrid", words.ACT_HYBRID, ("Alt+1",), "list"),
    Action("keyword", words.ACT_KEYWORD, ("Alt+2",), "list"),
    Action("semantic", words.ACT_SEMANTIC, ("Alt+3",), "list"),
    Action("everything", words.ACT_EVERYTHING, ("Alt+4",), "list"),
    Action("older_query", words.ACT_OLDER_QUERY, ("Alt+Up",), "list"),
    Action("newer_query", words.ACT_NEWER_QUERY, ("Alt+Down",), "list"),
    Action("down", words.ACT_DOWN, ("Down", "Ctrl+N"), "list", is_field_key=True),
    Action("up", words.ACT_UP, ("Up", "Ctrl+P"), "list", is_field_key=True),
    Action("page_down", words.ACT_PAGE_DOWN, ("PgDown",), "list", is_field_key=True),
    Action("page_up", words.ACT_PAGE_UP, ("PgUp",), "list", is_field_key=True),
    Action("nth", words.ACT_NTH, tuple(f"Ctrl+{number}" for number in range(1, 10)), "list"),
    Action("actions", words.ACT_ACTIONS, ("Ctrl+K",)),
    Action("keys", words.ACT_KEYS, ("F1",)),
    Action("escape", words.ACT_ESCAPE, ("Esc",), is_field_key=True),
    Action("status", words.MENU_STATUS, ()),
    Action("usage", words.MENU_USAGE, ()),
    Action("knowledge", words.MENU_KNOWLEDGE, ()),
    Action("doctor", words.MENU_DOCTOR, ()),
    Action("prune", words.MENU_PRUNE, ()),
    Action("connect", words.MENU_CONNECT, ()),
    Action("about", words.MENU_ABOUT, ()),
    Action("settings", words.MENU_SETTINGS, ("Ctrl+,",)),
    Action("quit", words.MENU_QUIT, ("Ctrl+Q",)),
)


def shown_keys(action: Action) -> str:
    """Return an action's keys as this system writes them."""
    if action.name == "nth":
        return f"{native('Ctrl+1')}…9"
    return "  ".join(native(key) for key in action.keys)


def native(key: str) -> str:
    """Return a key as this system writes it: symbols on macOS, names elsewhere."""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText).replace("Return", "↵")


def combined(key: str) -> int:
    """Return a key with its modifiers as Qt's key events have them."""
    sequence: Any = QKeySequence(key)  # the stub lacks QKeySequence.__getitem__
    return int(sequence[0].toCombined())
