from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.hotkey.base import HotkeyRefused, Keys, NoHotkey, parse
from desktop.hotkey.choose import choose_backend
from desktop.hotkey.keeper import HotkeyKeeper
from desktop.hotkey.macos import key_code
from desktop.hotkey.macos import modifier_mask as mac_mask
from desktop.hotkey.windows import modifier_mask as windows_mask
from desktop.hotkey.windows import virtual_key
from engine.core.settings import default_hotkey
from tests.desktop.fake_system import FakeHotkey

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Ctrl+Shift+Space", Keys(frozenset({"ctrl", "shift"}), "Space")),
        ("ctrl + alt + s", Keys(frozenset({"ctrl", "alt"}), "S")),
        ("Ctrl+Option+Space", Keys(frozenset({"ctrl", "alt"}), "Space")),
        ("Cmd+K", Keys(frozenset({"meta"}), "K")),
        ("F9", Keys(frozenset(), "F9")),
        ("Meta+PgUp", Keys(frozenset({"meta"}), "PageUp")),
    ],
)
def test_keys_are_read_as_people_write_them(text: str, keys: Keys) -> None:
    assert parse(text) == keys
    assert parse(keys.text) == keys


@pytest.mark.parametrize("text", ["", "Ctrl", "Space", "Shift+A", "Ctrl+A+B", "Ctrl+Ü", "Hyper+X"])
def test_what_is_no_hotkey_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(HotkeyRefused) as refused:
        parse(text)
    assert "Ctrl+Shift+Space" in refused.value.hint


@pytest.mark.parametrize("platform", ["linux", "win32", "darwin"])
def test_the_default_of_every_system_can_be_registered(platform: str) -> None:
    keys = parse(default_hotkey(platform))
    assert keys.key == "Space"
    assert (key_code(keys.key), virtual_key(keys.key)) == (49, 0x20)


def test_keys_are_shown_as_the_system_writes_them() -> None:
    keys = parse("Ctrl+Option+Meta+Space")
    assert keys.shown("darwin") == "⌃⌥⌘Space"
    assert keys.shown("win32") == "Ctrl+Alt+Win+Space"
    assert keys.shown("linux") == "Ctrl+Alt+Super+Space"


def test_masks_and_codes_are_the_systems_own() -> None:
    keys = parse("Ctrl+Alt+F12")
    assert windows_mask(keys) == 0x4000 | 1 | 2
    assert virtual_key("F12") == 0x7B
    assert mac_mask(keys) == 1 << 11 | 1 << 12
    assert key_code("F12") == 111


def test_keys_that_are_taken_leave_the_old_ones_and_say_so(qapp: QApplication) -> None:
    assert qapp is not None
    backend = FakeHotkey(taken=("Ctrl+Alt+S",))
    keeper = HotkeyKeeper(backend)
    changes: list[None] = []
    keeper.changed.connect(lambda: changes.append(None))
    assert keeper.try_keys("Ctrl+Shift+Space")
    assert not keeper.try_keys("Ctrl+Alt+S")
    assert keeper.problem is not None
    assert "Ctrl+Alt+S" in keeper.problem.title
    assert keeper.shown == "Ctrl+Shift+Space"
    assert backend.keys == parse("Ctrl+Shift+Space")
    assert keeper.try_keys("F9")
    assert keeper.problem is None
    assert len(changes) == 3
    keeper.release()
    assert backend.keys is None


def test_a_refusal_that_comes_later_is_said(qapp: QApplication) -> None:
    assert qapp is not None
    backend = FakeHotkey()
    keeper = HotkeyKeeper(backend)
    keeper.try_keys("F9")
    backend.refused.emit("The desktop said no")
    assert keeper.shown == ""
    assert keeper.problem is not None


@pytest.mark.parametrize(
    ("platform", "qt_platform", "env"),
    [
        ("linux", "offscreen", {}),
        ("linux", "xcb", {"DISPLAY": ":9876"}),
        ("win32", "windows", {}),
        ("darwin", "cocoa", {}),
    ],
)
def test_where_no_key_can_be_had_the_app_starts_and_names_the_command(
    qapp: QApplication, platform: str, qt_platform: str, env: dict[str, str]
) -> None:
    assert qapp is not None
    backend = choose_backend(platform, qt_platform, env)
    assert isinstance(backend, NoHotkey)
    keeper = HotkeyKeeper(backend)
    assert not keeper.try_keys("Ctrl+Shift+Space")
    assert keeper.problem is not None
    assert "backscroll toggle" in keeper.problem.hint
    backend.release()
