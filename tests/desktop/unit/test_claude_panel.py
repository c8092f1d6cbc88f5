from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.claude_panel import ConnectWindow

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tests.desktop.rooms import World


@pytest.fixture
def window(world: World, qtbot: QtBot) -> ConnectWindow:
    made = ConnectWindow(world.services)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: not made.panel.connect_button.isHidden())
    return made


def test_one_click_connects_and_one_takes_it_out_again(
    window: ConnectWindow, world: World, qtbot: QtBot, tmp_path: Path
) -> None:
    panel, file = window.panel, tmp_path / "claude" / ".claude.json"
    panel.connect_button.click()
    qtbot.waitUntil(lambda: not panel.disconnect_button.isHidden())
    assert "backscroll" in file.read_text(encoding="utf-8")
    assert world.services.pulse.pulse.connection == "connected"
    assert "restart" in panel.said.text()
    panel.allow.click()
    qtbot.waitUntil(panel.allow.isHidden)
    assert "mcp__backscroll__" in (tmp_path / "claude" / "settings.json").read_text(encoding="utf-8")
    panel.keep.click()
    qtbot.waitUntil(panel.keep.isHidden)
    panel.disconnect_button.click()
    qtbot.waitUntil(lambda: not panel.connect_button.isHidden())
    assert not file.exists()


def test_a_refusal_is_said_and_nothing_is_blocked(
    world: World, window: ConnectWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "claude" / ".claude.json").write_text("{", encoding="utf-8")
    window.panel.connect_button.click()
    qtbot.waitUntil(lambda: not window.panel.said.isHidden())
    assert "cannot be parsed" in window.panel.said.text()
    assert window.panel.connect_button.isEnabled()
    assert world.opened == []
