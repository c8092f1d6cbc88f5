from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from desktop.claude import Claude
from desktop.hotkey.keeper import HotkeyKeeper
from engine.core.clock import FixedClock
from engine.integrations.claude_code import ClaudeCode
from engine.integrations.launch import ServerCommand
from tests.desktop.fake_system import FakeAutostart, FakeHotkey, FakeOpener
from tests.desktop.fakes import FakeHistory
from tests.desktop.rooms import World

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.services import Services
    from engine.core.paths import Paths


@pytest.fixture
def world(services: Services, paths: Paths, tmp_path: Path) -> World:
    """Give the app's parts with an engine, a Claude Code of their own, and keys of which some are taken."""
    hotkey = HotkeyKeeper(FakeHotkey(taken=("Ctrl+Alt+T",)))
    hotkey.try_keys("Ctrl+Shift+Space")
    opened: list[str] = []
    autostart, opener = FakeAutostart(), FakeOpener()

    def claude_code(places: Paths) -> ClaudeCode:
        env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude"), "PATH": str(tmp_path)}
        server = ServerCommand("/opt/backscroll-mcp")
        return ClaudeCode(server=server, paths=places, env=env, home=tmp_path, cwd=tmp_path, clock=FixedClock(0))

    (tmp_path / "claude").mkdir()
    parts = replace(
        services,
        paths=paths,
        hotkey=hotkey,
        autostart=autostart,
        claude=Claude(paths, claude_code),
        opener=opener,
        history=FakeHistory.small,
        open=opened.append,
    )
    return World(parts, autostart, opener, opened)
