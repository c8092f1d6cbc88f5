"""The hotkey on Windows: RegisterHotKey, whose message a native event filter of Qt picks up."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Final

from PySide6.QtCore import QAbstractNativeEventFilter, QByteArray, QCoreApplication

from desktop import words
from desktop.hotkey.base import HotkeyRefused, HotkeySignals, Keys

_WM_HOTKEY: Final = 0x0312
_MOD_NOREPEAT: Final = 0x4000
"""Held down it counts once (RegisterHotKey, Microsoft Learn)."""
_MASKS: Final = {"alt": 1, "ctrl": 2, "shift": 4, "meta": 8}
_ALREADY_REGISTERED: Final = 1409
_IDS: Final = (0xB5C1, 0xB5C2)
"""Two, so that the new keys can be taken before the old ones are let go (0x0000 to 0xBFFF is for applications)."""

_CODES: Final = {
    "Space": 0x20, "Tab": 0x09, "Return": 0x0D, "Backspace": 0x08, "Escape": 0x1B, "Insert": 0x2D, "Delete": 0x2E,
    "Home": 0x24, "End": 0x23, "PageUp": 0x21, "PageDown": 0x22, "Left": 0x25, "Up": 0x26, "Right": 0x27, "Down": 0x28,
    "Grave": 0xC0,
}  # fmt: skip
"""Virtual-key codes (winuser.h); letters and digits are their own code, F1 is 0x70."""


def virtual_key(key: str) -> int:
    """Return Windows' code of a key."""
    if key in _CODES:
        return _CODES[key]
    if key[0] == "F" and len(key) > 1:
        return 0x70 + int(key[1:]) - 1
    return ord(key)


def modifier_mask(keys: Keys) -> int:
    """Return Windows' mask of a combination."""
    mask = _MOD_NOREPEAT
    for each in keys.modifiers:
        mask |= _MASKS[each]
    return mask


class _Message(ctypes.Structure):
    _fields_ = [
        ("window", ctypes.c_void_p), ("message", ctypes.c_uint), ("wparam", ctypes.c_size_t),
        ("lparam", ctypes.c_ssize_t), ("time", ctypes.c_uint32), ("x", ctypes.c_long), ("y", ctypes.c_long),
    ]  # fmt: skip


class _Filter(QAbstractNativeEventFilter):
    def __init__(self, hotkey: WindowsHotkey) -> None:
        super().__init__()
        self._hotkey = hotkey

    def nativeEventFilter(self, kind: QByteArray | bytes | bytearray | memoryview, message: int) -> Any:
        name = kind.data() if isinstance(kind, QByteArray) else bytes(kind)
        if name in {b"windows_generic_MSG", b"windows_dispatcher_MSG"}:
            found = _Message.from_address(int(message))
            if found.message == _WM_HOTKEY and found.wparam in _IDS:
                self._hotkey.pressed.emit()
                return True, 0
        return False, 0


class WindowsHotkey(HotkeySignals):
    """Registers a key with the system."""

    _user: Any
    """The library, whose type exists on Windows only."""
    _filter: _Filter
    _id: int | None
    _keys: Keys | None

    def __init__(self) -> None:
        super().__init__()
        if sys.platform != "win32":
            raise HotkeyRefused(words.hotkey.NONE)
        self._user = ctypes.WinDLL("user32", use_last_error=True)
        self._id = self._keys = None
        self._filter = _Filter(self)
        application = QCoreApplication.instance()
        if application is not None:
            application.installNativeEventFilter(self._filter)

    def replace(self, keys: Keys) -> None:
        """Take other keys, and only then let go of the old ones.

        Raises:
            HotkeyRefused: Another program has them.
        """
        if keys == self._keys or sys.platform != "win32":
            return
        number = _IDS[1] if self._id == _IDS[0] else _IDS[0]
        if not self._user.RegisterHotKey(None, number, modifier_mask(keys), virtual_key(keys.key)):
            code = ctypes.get_last_error()
            why = words.hotkey.TAKEN if code == _ALREADY_REGISTERED else ctypes.FormatError(code)
            raise HotkeyRefused(words.hotkey.refused(keys.shown()), why, words.hotkey.OTHER)
        if self._id is not None:
            self._user.UnregisterHotKey(None, self._id)
        self._id, self._keys = number, keys

    def release(self) -> None:
        """Let go of the keys. Idempotent."""
        if self._id is not None:
            self._user.UnregisterHotKey(None, self._id)
            self._id = self._keys = None
        application = QCoreApplication.instance()
        if application is not None:
            application.removeNativeEventFilter(self._filter)
