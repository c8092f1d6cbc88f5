"""Chooses the backend of the global hotkey by what the system can do, not by its name."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from desktop import words
from desktop.hotkey.base import HotkeyRefused, NoHotkey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from desktop.hotkey.base import HotkeyBackend

logger = logging.getLogger(__name__)


def choose_backend(platform: str, qt_platform: str, env: Mapping[str, str]) -> HotkeyBackend:
    """Return the backend of this desktop; one that says why where there is none.

    Args:
        platform: `sys.platform`.
        qt_platform: `QGuiApplication.platformName()`.
        env: Of this process.
    """
    # Each backend loads libraries that exist on its own system only.
    try:
        if platform == "win32":
            from desktop.hotkey.windows import WindowsHotkey  # noqa: PLC0415 - see above

            return WindowsHotkey()
        if platform == "darwin":
            from desktop.hotkey.macos import MacHotkey  # noqa: PLC0415 - see above

            return MacHotkey()
        if env.get("WAYLAND_DISPLAY"):
            # An X11 grab through XWayland only sees keys that are typed into X11 windows.
            from desktop.hotkey.wayland import PortalHotkey  # noqa: PLC0415 - see above

            return PortalHotkey()
        if qt_platform == "xcb" or env.get("DISPLAY"):
            from desktop.hotkey.x11 import X11Hotkey  # noqa: PLC0415 - see above

            return X11Hotkey(env.get("DISPLAY"))
    except HotkeyRefused as refused:
        logger.info("No global hotkey: %s", refused.title)
        return NoHotkey(refused.message or refused.title)
    return NoHotkey(words.hotkey.NO_DISPLAY)
