from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.hotkey import dbus_wire as wire
from desktop.hotkey.base import HotkeyRefused, NoHotkey, parse
from desktop.hotkey.choose import choose_backend
from desktop.hotkey.dbus_bus import BUS, SessionBus
from desktop.hotkey.dbus_wire import Message, Variant
from desktop.hotkey.wayland import PORTAL, REQUEST, SHORTCUTS, PortalHotkey, trigger_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

texts = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)


@given(
    st.lists(st.tuples(texts, st.dictionaries(texts, texts, max_size=3)), max_size=4), texts, st.integers(0, 2**32 - 1)
)
def test_what_is_written_is_read_back(shortcuts: list[tuple[str, dict[str, str]]], text: str, number: int) -> None:
    given_ = [(name, {key: Variant("s", value) for key, value in options.items()}) for name, options in shortcuts]
    message = Message(
        kind=wire.CALL, serial=7, path="/a", member="M", destination="x.y", signature="a(sa{sv})su",
        body=(given_, text, number),
    )  # fmt: skip
    data = wire.encode(message)
    assert wire.length_of(data) == len(data)
    read = wire.decode(data)
    assert read.body == (shortcuts, text, number)
    assert (read.kind, read.serial, read.path, read.member, read.destination) == (1, 7, "/a", "M", "x.y")


@given(st.binary(max_size=200))
def test_bytes_that_are_no_message_are_an_error_and_no_crash(data: bytes) -> None:
    try:
        read = wire.decode(data)
    except ValueError:
        return
    assert read == wire.decode(wire.encode(read))


def test_a_signature_is_split_into_whole_types() -> None:
    assert wire.split("oa(sa{sv})sa{sv}") == ["o", "a(sa{sv})", "s", "a{sv}"]


def test_keys_are_named_as_the_portal_names_them() -> None:
    assert trigger_of(parse("Ctrl+Shift+Space")) == "CTRL+SHIFT+space"
    assert trigger_of(parse("Meta+K")) == "LOGO+k"


def test_without_a_session_bus_it_is_refused_in_words(qapp: QApplication) -> None:
    assert qapp is not None
    for address in ("", "tcp:host=x", "unix:path=/nowhere/bus"):
        with pytest.raises(HotkeyRefused):
            PortalHotkey(address)


def test_under_wayland_no_x11_grab_is_tried(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    assert qapp is not None
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")
    backend = choose_backend("linux", "wayland", {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"})
    assert isinstance(backend, NoHotkey)


class FakePortal:
    """A portal that gives the keys, or does not."""

    def __init__(self, bus: SessionBus, *, code: int = 0) -> None:
        self._bus = bus
        self._code = code
        self.wanted: list[Any] = []
        self.sessions: list[str] = []
        self.closed: list[str] = []
        bus.called.connect(self._called)
        bus.call(BUS, "/org/freedesktop/DBus", BUS, "RequestName", "su", (PORTAL, 0))

    def press(self, shortcut: str) -> None:
        body: tuple[Any, ...] = (self.sessions[-1], shortcut, 1, {})
        self._bus.signal("/org/freedesktop/portal/desktop", SHORTCUTS, "Activated", "osta{sv}", body)

    def _called(self, message: Message) -> None:
        match message.member:
            case "CreateSession":
                (options,) = message.body
                self.sessions.append(f"/session/{options['session_handle_token']}")
                found = {"session_handle": Variant("s", self.sessions[-1])}
                self._respond(message, options["handle_token"], 0, found)
            case "BindShortcuts":
                session, shortcuts, _, options = message.body
                self.wanted.append((session, shortcuts))
                self._respond(message, options["handle_token"], self._code, {})
            case "Close":
                self.closed.append(message.path)
                self._bus.answer(message)
            case _:
                self._bus.answer(message)

    def _respond(self, asked: Message, token: str, code: int, found: dict[str, Variant]) -> None:
        path = f"/org/freedesktop/portal/desktop/request/x/{token}"
        self._bus.answer(asked, "o", (path,))
        self._bus.signal(path, REQUEST, "Response", "ua{sv}", (code, found))


@pytest.fixture
def address(qapp: QApplication) -> Iterator[str]:
    """Give a session bus of one's own."""
    assert qapp is not None
    if shutil.which("dbus-daemon") is None:
        pytest.skip("needs dbus-daemon (packaging/linux/apt.txt)")
    with subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--print-address=1"],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def test_the_portal_gives_the_keys_and_tells_when_they_are_pressed(address: str, qtbot: QtBot) -> None:
    bus = SessionBus(address)
    portal = FakePortal(bus)
    qtbot.waitUntil(lambda: bool(bus.name))
    hotkey = PortalHotkey(address)
    pressed: list[None] = []
    hotkey.pressed.connect(lambda: pressed.append(None))
    hotkey.replace(parse("Ctrl+Shift+Space"))
    qtbot.waitUntil(lambda: bool(portal.wanted))
    ((name, options),) = portal.wanted[0][1]
    assert (name, options["preferred_trigger"]) == ("toggle", "CTRL+SHIFT+space")
    qtbot.waitUntil(lambda: hotkey.session != "")
    portal.press("another")
    portal.press("toggle")
    qtbot.waitUntil(lambda: bool(pressed))
    assert len(pressed) == 1
    hotkey.replace(parse("Ctrl+Alt+S"))
    qtbot.waitUntil(lambda: bool(portal.closed))
    assert portal.closed == [portal.sessions[0]]
    hotkey.release()
    bus.close()


def test_a_desktop_that_says_no_is_said(address: str, qtbot: QtBot) -> None:
    bus = SessionBus(address)
    portal = FakePortal(bus, code=1)
    qtbot.waitUntil(lambda: bool(bus.name))
    hotkey = PortalHotkey(address)
    refused: list[str] = []
    hotkey.refused.connect(refused.append)
    hotkey.replace(parse("Ctrl+Shift+Space"))
    qtbot.waitUntil(lambda: bool(refused))
    assert len(portal.wanted) == 1
    hotkey.release()
    bus.close()


def test_a_desktop_without_the_portal_is_said(address: str, qtbot: QtBot) -> None:
    hotkey = PortalHotkey(address)
    refused: list[str] = []
    hotkey.refused.connect(refused.append)
    hotkey.replace(parse("Ctrl+Shift+Space"))
    qtbot.waitUntil(lambda: bool(refused))
    assert "does not offer" in refused[0]
    hotkey.release()
