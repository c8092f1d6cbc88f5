"""The hotkey on macOS: Carbon's RegisterEventHotKey, the one call that needs no accessibility permission."""

from __future__ import annotations

import ctypes
import sys
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_int32, c_uint32, c_void_p
from typing import Final

from desktop import words
from desktop.hotkey.base import HotkeyRefused, HotkeySignals, Keys

_CARBON: Final = "/System/Library/Frameworks/Carbon.framework/Carbon"
_SIGNATURE: Final = int.from_bytes(b"bksc")
_CLASS_KEYBOARD: Final = int.from_bytes(b"keyb")
_HOT_KEY_PRESSED: Final = 5
_EXISTS: Final = -9878
"""eventHotKeyExistsErr (CarbonEvents.h)."""
_MASKS: Final = {"meta": 1 << 8, "shift": 1 << 9, "alt": 1 << 11, "ctrl": 1 << 12}
"""cmdKey, shiftKey, optionKey, controlKey (Events.h)."""

_CODES: Final = {
    "A": 0, "S": 1, "D": 2, "F": 3, "H": 4, "G": 5, "Z": 6, "X": 7, "C": 8, "V": 9, "B": 11, "Q": 12, "W": 13, "E": 14,
    "R": 15, "Y": 16, "T": 17, "1": 18, "2": 19, "3": 20, "4": 21, "6": 22, "5": 23, "9": 25, "7": 26, "8": 28, "0": 29,
    "O": 31, "U": 32, "I": 34, "P": 35, "Return": 36, "L": 37, "J": 38, "K": 40, "N": 45, "M": 46, "Tab": 48,
    "Space": 49, "Grave": 50, "Backspace": 51, "Escape": 53, "F5": 96, "F6": 97, "F7": 98, "F3": 99, "F8": 100,
    "F9": 101, "F11": 103, "F13": 105, "F16": 106, "F14": 107, "F10": 109, "F12": 111, "F15": 113, "Insert": 114,
    "Home": 115, "PageUp": 116, "Delete": 117, "F4": 118, "End": 119, "F2": 120, "PageDown": 121, "F1": 122,
    "Left": 123, "Right": 124, "Down": 125, "Up": 126, "F17": 64, "F18": 79, "F19": 80, "F20": 90,
}  # fmt: skip
"""kVK_ codes (HIToolbox/Events.h): places on an ANSI keyboard, not letters."""


def key_code(key: str) -> int | None:
    """Return the code of a key, None where macOS has none."""
    return _CODES.get(key)


def modifier_mask(keys: Keys) -> int:
    """Return Carbon's mask of a combination."""
    mask = 0
    for each in keys.modifiers:
        mask |= _MASKS[each]
    return mask


class _EventType(Structure):
    _fields_ = [("class_", c_uint32), ("kind", c_uint32)]


class _HotKeyId(Structure):
    _fields_ = [("signature", c_uint32), ("id", c_uint32)]


_Handler = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)


class MacHotkey(HotkeySignals):
    """Registers a key with the system.

    Raises:
        HotkeyRefused: Carbon is not there.
    """

    _carbon: ctypes.CDLL
    _target: c_void_p
    _reference: c_void_p | None
    _keys: Keys | None
    _count: int

    def __init__(self) -> None:
        super().__init__()
        if sys.platform != "darwin":
            raise HotkeyRefused(words.hotkey.NONE)
        self._carbon = ctypes.CDLL(_CARBON)
        self._carbon.GetApplicationEventTarget.restype = c_void_p
        self._carbon.InstallEventHandler.argtypes = [
            c_void_p, _Handler, c_uint32, POINTER(_EventType), c_void_p, POINTER(c_void_p),
        ]  # fmt: skip
        self._carbon.RegisterEventHotKey.argtypes = [
            c_uint32, c_uint32, _HotKeyId, c_void_p, c_uint32, POINTER(c_void_p),
        ]  # fmt: skip
        self._carbon.UnregisterEventHotKey.argtypes = [c_void_p]
        self._target = c_void_p(self._carbon.GetApplicationEventTarget())
        self._handler = _Handler(self._handle)  # kept: Carbon holds only a pointer
        kind = _EventType(_CLASS_KEYBOARD, _HOT_KEY_PRESSED)
        self._carbon.InstallEventHandler(self._target, self._handler, 1, byref(kind), None, None)
        self._reference = self._keys = None
        self._count = 0

    def replace(self, keys: Keys) -> None:
        """Take other keys, and only then let go of the old ones.

        Raises:
            HotkeyRefused: Another program has them, or there is no such key.
        """
        if keys == self._keys:
            return
        code = key_code(keys.key)
        if code is None:
            raise HotkeyRefused(words.hotkey.no_such_key(keys.shown()), "", words.hotkey.OTHER)
        reference = c_void_p()
        self._count += 1
        identity = _HotKeyId(_SIGNATURE, self._count)
        status = self._carbon.RegisterEventHotKey(
            code, modifier_mask(keys), identity, self._target, 0, byref(reference)
        )
        if status:
            why = words.hotkey.TAKEN if status == _EXISTS else words.hotkey.x_error(status)
            raise HotkeyRefused(words.hotkey.refused(keys.shown()), why, words.hotkey.OTHER)
        if self._reference is not None:
            self._carbon.UnregisterEventHotKey(self._reference)
        self._reference, self._keys = reference, keys

    def release(self) -> None:
        """Let go of the keys. Idempotent."""
        if self._reference is not None:
            self._carbon.UnregisterEventHotKey(self._reference)
            self._reference = self._keys = None

    def _handle(self, _next: int, _event: int, _data: int) -> int:
        self.pressed.emit()
        return 0
