"""The hotkey under Wayland: the desktop's GlobalShortcuts portal asks the person, and tells us when it is pressed.

The desktop may give other keys than were asked for; the person chooses them in its own dialog. Where there is no such
portal, `backscroll toggle` can be bound by hand.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from desktop import words
from desktop.hotkey.base import HotkeyRefused, HotkeySignals, Keys
from desktop.hotkey.dbus_bus import NoBus, SessionBus
from desktop.hotkey.dbus_wire import ERROR, Message, Variant

if TYPE_CHECKING:
    from collections.abc import Callable

PORTAL: Final = "org.freedesktop.portal.Desktop"
PATH: Final = "/org/freedesktop/portal/desktop"
SHORTCUTS: Final = "org.freedesktop.portal.GlobalShortcuts"
REQUEST: Final = "org.freedesktop.portal.Request"
APP_ID: Final = "backscroll"
SHORTCUT: Final = "toggle"

_MODIFIERS: Final = {"ctrl": "CTRL", "alt": "ALT", "shift": "SHIFT", "meta": "LOGO"}
_KEYSYMS: Final = {"Space": "space", "Backspace": "BackSpace", "PageUp": "Page_Up", "PageDown": "Page_Down",
                   "Grave": "grave"}  # fmt: skip


def trigger_of(keys: Keys) -> str:
    """Return a combination as the portal has it (XDG shortcuts specification)."""
    modifiers = [name for each, name in _MODIFIERS.items() if each in keys.modifiers]
    key = _KEYSYMS.get(keys.key, keys.key.lower() if len(keys.key) == 1 else keys.key)
    return "+".join([*modifiers, key])


class PortalHotkey(HotkeySignals):
    """Asks the portal.

    Args:
        address: Of the session bus; None is the environment's.

    Raises:
        HotkeyRefused: There is no session bus.
    """

    def __init__(self, address: str | None = None) -> None:
        super().__init__()
        address = address or os.environ.get("DBUS_SESSION_BUS_ADDRESS", "")
        try:
            self._bus = SessionBus(address)
        except NoBus as error:
            raise HotkeyRefused(words.hotkey.NO_PORTAL) from error
        self._count = 0
        self.session = ""
        """The portal's, once it has given keys."""
        self._answers: dict[str, Callable[[int, dict[str, Any]], None]] = {}
        self._bus.signalled.connect(self._signalled)
        self._bus.match(f"type='signal',interface='{REQUEST}',member='Response'")
        self._bus.match(f"type='signal',interface='{SHORTCUTS}',member='Activated'")
        # Newer portals want to know which program of the host asks; older ones answer with an error that means nothing.
        registry = "org.freedesktop.host.portal.Registry"
        self._bus.call(PORTAL, PATH, registry, "Register", "sa{sv}", (APP_ID, {}))

    def replace(self, keys: Keys) -> None:
        """Ask the desktop for keys. It answers later: `refused` follows when it says no."""
        self._count += 1
        token = f"backscroll{os.getpid()}_{self._count}"
        options = {"handle_token": Variant("s", token), "session_handle_token": Variant("s", f"{token}s")}
        self._ask("CreateSession", "a{sv}", (options,), token, lambda code, found: self._created(keys, code, found))

    def release(self) -> None:
        """Let go of the keys: the session ends with its connection. Idempotent."""
        self._bus.close()

    def _created(self, keys: Keys, code: int, found: dict[str, Any]) -> None:
        session = str(found.get("session_handle", ""))
        if code or not session:
            self.refused.emit(words.hotkey.DENIED)
            return
        self._count += 1
        token = f"backscroll{os.getpid()}_{self._count}"
        wanted = {
            "description": Variant("s", words.hotkey.DESCRIPTION),
            "preferred_trigger": Variant("s", trigger_of(keys)),
        }
        options = {"handle_token": Variant("s", token)}
        body = (session, [(SHORTCUT, wanted)], "", options)
        self._ask("BindShortcuts", "oa(sa{sv})sa{sv}", body, token, lambda code, _found: self._bound(session, code))

    def _bound(self, session: str, code: int) -> None:
        if code:
            self.refused.emit(words.hotkey.DENIED)
            return
        old, self.session = self.session, session
        if old:
            self._bus.call(PORTAL, old, "org.freedesktop.portal.Session", "Close")

    def _ask(
        self,
        member: str,
        signature: str,
        body: tuple[Any, ...],
        token: str,
        then: Callable[[int, dict[str, Any]], None],
    ) -> None:
        """Call a method of the portal; its answer comes as a signal on the path that the token names."""
        self._answers[token] = then

        def replied(reply: Message) -> None:
            if reply.kind == ERROR and self._answers.pop(token, None) is not None:
                self.refused.emit(words.hotkey.NO_PORTAL)

        self._bus.call(PORTAL, PATH, SHORTCUTS, member, signature, body, then=replied)

    def _signalled(self, message: Message) -> None:
        if message.member == "Response" and message.interface == REQUEST:
            then = self._answers.pop(message.path.rpartition("/")[2], None)
            if then is not None:
                then(int(message.body[0]), dict(message.body[1]))
        elif message.member == "Activated" and message.body[:2] == (self.session, SHORTCUT):
            self.pressed.emit()
