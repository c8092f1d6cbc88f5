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
    Action("open", words.actions.OPEN, ("Return",), "list", is_field_key=True),
    Action("resume", words.actions.RESUME, ("Ctrl+Return",)),
    Action("copy", words.actions.COPY, ("Ctrl+C",), is_field_key=True),
    Action("cite", words.actions.CITE, ("Ctrl+Shift+C",)),
    Action("pin", words.actions.PIN, ("Ctrl+D",)),
    Action("expand", words.actions.EXPAND, ("Right",), "list", is_field_key=True),
    Action("fold", words.actions.FOLD, ("Left",), "list", is_field_key=True),
    Action("next_match", words.actions.NEXT_MATCH, ("F3",)),
    Action("previous_match", words.actions.PREVIOUS_MATCH, ("Shift+F3",)),
    Action("folds", words.actions.FOLDS, ("Ctrl+T",)),
    Action("find", words.actions.FIND, ("Ctrl+F",), "session"),
    Action("export", words.actions.EXPORT, ("Ctrl+E",)),
    Action("raw", words.actions.RAW, ("Ctrl+O",)),
    Action("copy_id", words.actions.COPY_ID, ("Ctrl+Shift+I",)),
    Action("preview", words.actions.PREVIEW, ("Ctrl+Shift+P",), "list"),
    Action("only_project", words.actions.ONLY_PROJECT, (), "list"),
    Action("hybrid", words.actions.HYBRID, ("Alt+1",), "list"),
    Action("keyword", words.actions.KEYWORD, ("Alt+2",), "list"),
    Action("semantic", words.actions.SEMANTIC, ("Alt+3",), "list"),
    Action("everything", words.actions.EVERYTHING, ("Alt+4",), "list"),
    Action("older_query", words.actions.OLDER_QUERY, ("Alt+Up",), "list"),
    Action("newer_query", words.actions.NEWER_QUERY, ("Alt+Down",), "list"),
    Action("down", words.actions.DOWN, ("Down", "Ctrl+N"), "list", is_field_key=True),
    Action("up", words.actions.UP, ("Up", "Ctrl+P"), "list", is_field_key=True),
    Action("page_down", words.actions.PAGE_DOWN, ("PgDown",), "list", is_field_key=True),
    Action("page_up", words.actions.PAGE_UP, ("PgUp",), "list", is_field_key=True),
    Action("nth", words.actions.NTH, tuple(f"Ctrl+{number}" for number in range(1, 10)), "list"),
    Action("actions", words.actions.ACTIONS, ("Ctrl+K",)),
    Action("keys", words.actions.KEYS, ("F1",)),
    Action("escape", words.actions.ESCAPE, ("Esc",), is_field_key=True),
    Action("status", words.menu.STATUS, ()),
    Action("usage", words.menu.USAGE, ()),
    Action("knowledge", words.menu.KNOWLEDGE, ()),
    Action("doctor", words.menu.DOCTOR, ()),
    Action("prune", words.menu.PRUNE, ()),
    Action("connect", words.menu.CONNECT, ()),
    Action("about", words.menu.ABOUT, ()),
    Action("settings", words.menu.SETTINGS, ("Ctrl+,",)),
    Action("quit", words.menu.QUIT, ("Ctrl+Q",)),
)


_SIGNS: Final = {"Return": "↵", "Up": "↑", "Down": "↓", "Left": "←", "Right": "→"}


def shown_keys(action: Action) -> str:
    """Return an action's keys as this system writes them."""
    if action.name == "nth":
        return f"{native('Ctrl+1')}…9"
    return "  ".join(native(key) for key in action.keys)


def native(key: str) -> str:
    """Return a key as this system writes it: symbols on macOS, names elsewhere."""
    text = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
    *modifiers, last = text.split("+") if text != "+" else [text]
    return "+".join((*modifiers, _SIGNS.get(last, last)))


def combined(key: str) -> int:
    """Return a key with its modifiers as Qt's key events have them."""
    sequence: Any = QKeySequence(key)  # the stub lacks QKeySequence.__getitem__
    return int(sequence[0].toCombined())
