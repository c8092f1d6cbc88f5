"""The hotkey under X11: a passive grab of exactly one key on the root window, over a connection of its own.

The server sends this one key to us and to nobody else; no other key ever comes here. libxcb is used through ctypes: it
reports a refused grab as a value, where Xlib would call a handler that belongs to the whole process.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from ctypes import POINTER, Structure, c_char_p, c_int, c_uint8, c_uint16, c_uint32, c_void_p
from typing import Any, Final

from PySide6.QtCore import QSocketNotifier

from desktop import words
from desktop.hotkey.base import HotkeyRefused, HotkeySignals, Keys

_KEY_PRESS: Final = 2
_KEY_RELEASE: Final = 3
_MAPPING_NOTIFY: Final = 34
_GRAB_ASYNC: Final = 1
_BAD_ACCESS: Final = 10
"""Another client has the grab (X protocol, GrabKey)."""

_SHIFT, _LOCK, _CONTROL, _MOD1, _MOD2, _MOD4 = 1, 2, 4, 8, 16, 64
_MASKS: Final = {"shift": _SHIFT, "ctrl": _CONTROL, "alt": _MOD1, "meta": _MOD4}
_LOCKS: Final = (0, _LOCK, _MOD2, _LOCK | _MOD2)
"""CapsLock and NumLock count as modifiers: the key must work with each of them on."""

_KEYSYMS: Final = {
    "Space": 0x20, "Tab": 0xFF09, "Return": 0xFF0D, "Backspace": 0xFF08, "Escape": 0xFF1B, "Insert": 0xFF63,
    "Delete": 0xFFFF, "Home": 0xFF50, "End": 0xFF57, "PageUp": 0xFF55, "PageDown": 0xFF56, "Left": 0xFF51,
    "Up": 0xFF52, "Right": 0xFF53, "Down": 0xFF54, "Grave": 0x60,
}  # fmt: skip
"""X11/keysymdef.h; letters and digits are their own code, F1 is 0xFFBE."""


class _Cookie(Structure):
    _fields_ = [("sequence", ctypes.c_uint)]


class _Error(Structure):
    _fields_ = [("response_type", c_uint8), ("error_code", c_uint8), ("sequence", c_uint16)]


class _KeyEvent(Structure):
    _fields_ = [
        ("response_type", c_uint8), ("detail", c_uint8), ("sequence", c_uint16), ("time", c_uint32), ("root", c_uint32),
        ("event", c_uint32), ("child", c_uint32), ("root_x", ctypes.c_int16), ("root_y", ctypes.c_int16),
        ("event_x", ctypes.c_int16), ("event_y", ctypes.c_int16), ("state", c_uint16), ("same_screen", c_uint8),
    ]  # fmt: skip


class _Screen(Structure):
    _fields_ = [("root", c_uint32)]


class _Screens(Structure):
    _fields_ = [("data", POINTER(_Screen)), ("rem", c_int), ("index", c_int)]


class X11Hotkey(HotkeySignals):
    """Grabs a key.

    Args:
        display: Name of the display; None is the environment's.

    Raises:
        HotkeyRefused: There is no X server, or its libraries are missing.
    """

    def __init__(self, display: str | None = None) -> None:
        super().__init__()
        self._xcb, self._symbols_library = _libraries()
        self._connection: int | None = self._xcb.xcb_connect(display.encode() if display else None, None)
        if self._xcb.xcb_connection_has_error(self._connection):
            self._xcb.xcb_disconnect(self._connection)
            self._connection = None
            raise HotkeyRefused(words.hotkey.NO_DISPLAY)
        setup = self._xcb.xcb_get_setup(self._connection)
        self._root: int = self._xcb.xcb_setup_roots_iterator(setup).data.contents.root
        self._symbols: int = self._symbols_library.xcb_key_symbols_alloc(self._connection)
        self._grabbed: tuple[tuple[int, int], ...] = ()
        self._keys: Keys | None = None
        self._is_down = False
        self._released_at = -1
        self._notifier = QSocketNotifier(
            self._xcb.xcb_get_file_descriptor(self._connection), QSocketNotifier.Type.Read, self
        )
        self._notifier.activated.connect(self._read)

    def replace(self, keys: Keys) -> None:
        """Take other keys, and only then let go of the old ones.

        Raises:
            HotkeyRefused: Another program has them, or this keyboard has no such key.
        """
        if self._connection is None:
            raise HotkeyRefused(words.hotkey.NO_DISPLAY)
        wanted = self._grabs_of(keys)
        if not wanted:
            raise HotkeyRefused(words.hotkey.no_such_key(keys.shown()), "", words.hotkey.OTHER)
        new = [grab for grab in wanted if grab not in self._grabbed]
        taken: list[tuple[int, int]] = []
        for code, mask in new:
            error = self._grab(code, mask)
            if error:
                self._ungrab(taken)
                why = words.hotkey.TAKEN if error == _BAD_ACCESS else words.hotkey.x_error(error)
                raise HotkeyRefused(words.hotkey.refused(keys.shown()), why, words.hotkey.OTHER)
            taken.append((code, mask))
        self._ungrab(grab for grab in self._grabbed if grab not in wanted)
        self._grabbed, self._keys = tuple(wanted), keys

    def release(self) -> None:
        """Let go of the keys and close the connection. Idempotent."""
        if self._connection is None:
            return
        self._notifier.setEnabled(False)
        self._ungrab(self._grabbed)
        self._grabbed = ()
        self._symbols_library.xcb_key_symbols_free(self._symbols)
        self._xcb.xcb_disconnect(self._connection)
        self._connection = None

    def _grabs_of(self, keys: Keys) -> list[tuple[int, int]]:
        mask = 0
        for each in keys.modifiers:
            mask |= _MASKS[each]
        found = self._symbols_library.xcb_key_symbols_get_keycode(self._symbols, _keysym(keys.key))
        codes: list[int] = []
        index = 0
        while found and found[index] and index < 8:
            codes.append(int(found[index]))
            index += 1
        if found:
            _libc().free(found)
        return [(code, mask | lock) for code in codes for lock in _LOCKS]

    def _grab(self, code: int, mask: int) -> int:
        """Grab one combination and return the server's error code, 0 for none."""
        cookie = self._xcb.xcb_grab_key_checked(self._connection, 0, self._root, mask, code, _GRAB_ASYNC, _GRAB_ASYNC)
        error = self._xcb.xcb_request_check(self._connection, cookie)
        if not error:
            return 0
        code_of_error = int(error.contents.error_code)
        _libc().free(error)
        return code_of_error

    def _ungrab(self, grabs: Any) -> None:
        for code, mask in tuple(grabs):
            self._xcb.xcb_ungrab_key(self._connection, code, self._root, mask)
        self._xcb.xcb_flush(self._connection)

    def _read(self) -> None:
        if self._connection is None:
            return
        if self._xcb.xcb_connection_has_error(self._connection):
            self._notifier.setEnabled(False)  # the server has gone, and with it every window
            return
        while event := self._xcb.xcb_poll_for_event(self._connection):
            kind = event.contents.response_type & 0x7F
            time = int(event.contents.time)
            if kind == _MAPPING_NOTIFY:
                self._remap(event)
            elif kind == _KEY_RELEASE:
                self._is_down, self._released_at = False, time
            elif kind == _KEY_PRESS and not self._is_down:
                self._is_down = True
                # A key held down repeats as release and press at the same moment; that is one press.
                if time != self._released_at:
                    self.pressed.emit()
            _libc().free(event)

    def _remap(self, event: Any) -> None:
        """Another keyboard layout: the key may have another code now."""
        self._symbols_library.xcb_refresh_keyboard_mapping(self._symbols, event)
        if self._keys is not None:
            try:
                self.replace(self._keys)
            except HotkeyRefused as refused:
                self.refused.emit(f"{refused.title}. {refused.message}")


def _keysym(key: str) -> int:
    if key in _KEYSYMS:
        return _KEYSYMS[key]
    if key[0] == "F" and len(key) > 1:
        return 0xFFBE + int(key[1:]) - 1
    return ord(key.lower())


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [c_void_p]
    libc.free.restype = None
    return libc


def _libraries() -> tuple[ctypes.CDLL, ctypes.CDLL]:
    try:
        xcb = ctypes.CDLL(ctypes.util.find_library("xcb") or "libxcb.so.1")
        symbols = ctypes.CDLL(ctypes.util.find_library("xcb-keysyms") or "libxcb-keysyms.so.1")
    except OSError as error:
        raise HotkeyRefused(words.hotkey.NO_LIBRARY, str(error)) from error
    xcb.xcb_connect.argtypes, xcb.xcb_connect.restype = [c_char_p, c_void_p], c_void_p
    xcb.xcb_connection_has_error.argtypes = [c_void_p]
    xcb.xcb_disconnect.argtypes, xcb.xcb_disconnect.restype = [c_void_p], None
    xcb.xcb_get_setup.argtypes, xcb.xcb_get_setup.restype = [c_void_p], c_void_p
    xcb.xcb_setup_roots_iterator.argtypes, xcb.xcb_setup_roots_iterator.restype = [c_void_p], _Screens
    xcb.xcb_get_file_descriptor.argtypes = [c_void_p]
    xcb.xcb_grab_key_checked.argtypes = [c_void_p, c_uint8, c_uint32, c_uint16, c_uint8, c_uint8, c_uint8]
    xcb.xcb_grab_key_checked.restype = _Cookie
    xcb.xcb_request_check.argtypes, xcb.xcb_request_check.restype = [c_void_p, _Cookie], POINTER(_Error)
    xcb.xcb_ungrab_key.argtypes = [c_void_p, c_uint8, c_uint32, c_uint16]
    xcb.xcb_ungrab_key.restype = _Cookie
    xcb.xcb_flush.argtypes = [c_void_p]
    xcb.xcb_poll_for_event.argtypes, xcb.xcb_poll_for_event.restype = [c_void_p], POINTER(_KeyEvent)
    symbols.xcb_key_symbols_alloc.argtypes, symbols.xcb_key_symbols_alloc.restype = [c_void_p], c_void_p
    symbols.xcb_key_symbols_free.argtypes, symbols.xcb_key_symbols_free.restype = [c_void_p], None
    symbols.xcb_key_symbols_get_keycode.argtypes = [c_void_p, c_uint32]
    symbols.xcb_key_symbols_get_keycode.restype = POINTER(c_uint8)
    symbols.xcb_refresh_keyboard_mapping.argtypes = [c_void_p, c_void_p]
    return xcb, symbols
