"""What a backend is, and how keys are written: "Ctrl+Shift+Space", with Option and Command for macOS."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Final, Protocol

from PySide6.QtCore import QObject, Signal

from desktop import words
from engine.core.errors import EngineError

MODIFIERS: Final = ("ctrl", "alt", "shift", "meta")
"""In the order they are written."""

_NAMES: Final = {
    "ctrl": "ctrl", "control": "ctrl", "strg": "ctrl", "shift": "shift", "alt": "alt", "option": "alt", "opt": "alt",
    "meta": "meta", "super": "meta", "win": "meta", "windows": "meta", "cmd": "meta", "command": "meta",
}  # fmt: skip
_KEYS: Final = {
    "space": "Space", "tab": "Tab", "return": "Return", "enter": "Return", "backspace": "Backspace", "esc": "Escape",
    "escape": "Escape", "insert": "Insert", "ins": "Insert", "delete": "Delete", "del": "Delete", "home": "Home",
    "end": "End", "pgup": "PageUp", "pageup": "PageUp", "pgdown": "PageDown", "pagedown": "PageDown", "up": "Up",
    "down": "Down", "left": "Left", "right": "Right", "`": "Grave", "grave": "Grave",
}  # fmt: skip


class HotkeyRefused(EngineError):
    """The keys cannot be had; the text says why and what to do."""

    code = "hotkey_refused"


@dataclass(frozen=True, slots=True)
class Keys:
    """A combination."""

    modifiers: frozenset[str]
    key: str
    """A letter, digit, `F1` to `F24`, or a name such as `Space`."""

    @property
    def text(self) -> str:
        """As the settings file has it."""
        return "+".join([*(each.capitalize() for each in MODIFIERS if each in self.modifiers), self.key])

    def shown(self, platform: str = sys.platform) -> str:
        """As the system's own menus write it."""
        if platform != "darwin":
            names = {"meta": "Win" if platform == "win32" else "Super"}
            return "+".join([*(names.get(m, m.capitalize()) for m in MODIFIERS if m in self.modifiers), self.key])
        symbols = {"ctrl": "⌃", "alt": "⌥", "shift": "⇧", "meta": "⌘"}
        return "".join([*(symbols[each] for each in MODIFIERS if each in self.modifiers), self.key])


def parse(text: str) -> Keys:
    """Return the combination a text names.

    Raises:
        HotkeyRefused: It names none, or one without Ctrl, Alt or Meta, which would swallow ordinary typing.
    """
    parts = [part.strip() for part in re.split(r"[+\-](?=.)", text.strip()) if part.strip()]
    modifiers: set[str] = set()
    key = ""
    for part in parts:
        lowered = part.lower()
        if lowered in _NAMES:
            modifiers.add(_NAMES[lowered])
        elif not key:
            key = _key(part)
        else:
            raise HotkeyRefused(words.hotkey.not_keys(text), "", words.hotkey.EXAMPLE)
    if not key:
        raise HotkeyRefused(words.hotkey.not_keys(text), "", words.hotkey.EXAMPLE)
    if not modifiers - {"shift"} and not re.fullmatch(r"F\d+", key):
        raise HotkeyRefused(words.hotkey.too_plain(text), "", words.hotkey.EXAMPLE)
    return Keys(frozenset(modifiers), key)


def _key(part: str) -> str:
    lowered = part.lower()
    if lowered in _KEYS:
        return _KEYS[lowered]
    if re.fullmatch(r"f([1-9]|1\d|2[0-4])", lowered) or (len(part) == 1 and part.isascii() and part.isalnum()):
        return part.upper()
    return ""


class HotkeyBackend(Protocol):
    """Registers one combination with the system."""

    @property
    def signals(self) -> HotkeySignals:
        """By which it tells what happens."""
        ...

    @property
    def can_choose(self) -> bool:
        """False where the desktop decides which keys it gives."""
        ...

    def replace(self, keys: Keys) -> None:
        """Take other keys, and only then let go of the old ones.

        Raises:
            HotkeyRefused: They cannot be had. The old ones stay.
        """
        ...

    def release(self) -> None:
        """Let go of the keys. Idempotent."""
        ...


class HotkeySignals(QObject):
    """What every backend has in common: it is its own signals, and keys can be chosen unless it says otherwise."""

    pressed = Signal()
    refused = Signal(str)
    """The system said no, and why, after `replace` had returned (a portal asks the person)."""
    can_choose = True

    @property
    def signals(self) -> HotkeySignals:
        """Itself."""
        return self


class NoHotkey(HotkeySignals):
    """Where no program may have a key: says how the person can bind one.

    Args:
        reason: One sentence.
    """

    can_choose = False

    def __init__(self, reason: str) -> None:
        super().__init__()
        self._reason = reason

    def replace(self, keys: Keys) -> None:  # noqa: ARG002 - the seam's signature
        """Refuse."""
        raise HotkeyRefused(words.hotkey.NONE, self._reason, words.hotkey.TOGGLE)

    def release(self) -> None:
        """There is nothing to let go."""
