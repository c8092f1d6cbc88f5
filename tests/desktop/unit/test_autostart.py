from __future__ import annotations

import plistlib
import shlex
from typing import TYPE_CHECKING

import pytest

from desktop.autostart.base import start_command, this_autostart
from desktop.autostart.launchagent import LaunchAgentAutostart
from desktop.autostart.registry import RegistryAutostart
from desktop.autostart.xdg import XdgAutostart, quoted

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.autostart.base import Autostart

COMMAND = ("/opt/with space/python", "-m", "engine", "run", "--background")


@pytest.fixture(params=["xdg", "launchagent"])
def autostart(request: pytest.FixtureRequest, tmp_path: Path) -> Autostart:
    kinds = {"xdg": XdgAutostart, "launchagent": LaunchAgentAutostart}
    return kinds[str(request.param)](tmp_path / "folder", COMMAND)


def test_asking_writes_nothing(autostart: Autostart, tmp_path: Path) -> None:
    assert not autostart.is_enabled()
    assert [*tmp_path.iterdir()] == []


def test_it_is_switched_on_and_off_as_often_as_one_likes(autostart: Autostart) -> None:
    for _ in range(2):
        autostart.enable()
        assert autostart.is_enabled()
    for _ in range(2):
        autostart.disable()
        assert not autostart.is_enabled()


def test_an_entry_switched_off_by_the_desktop_is_off(tmp_path: Path) -> None:
    autostart = XdgAutostart(tmp_path, COMMAND)
    autostart.enable()
    file = tmp_path / "backscroll.desktop"
    file.write_text(file.read_text(encoding="utf-8") + "Hidden = true\n", encoding="utf-8")
    assert not autostart.is_enabled()


def test_the_desktop_entry_starts_the_same_command(tmp_path: Path) -> None:
    entry = XdgAutostart(tmp_path, COMMAND, working_directory=tmp_path / "check out").entry()
    line = next(line for line in entry.splitlines() if line.startswith("Exec="))
    words = shlex.split(line.removeprefix("Exec="))
    assert words == ["env", f"PYTHONPATH={tmp_path}/check out", *COMMAND]


@pytest.mark.parametrize(
    ("word", "written"),
    [("plain", "plain"), ("50%", "50%%"), ("a b", '"a b"'), ("$x", '"\\\\$x"'), ('"', '"\\\\""'), ("", '""')],
)
def test_words_are_quoted_as_the_specification_says(word: str, written: str) -> None:
    assert quoted(word) == written


def test_the_launch_agent_runs_at_load(tmp_path: Path) -> None:
    LaunchAgentAutostart(tmp_path, COMMAND).enable()
    agent = plistlib.loads((tmp_path / "org.backscroll.app.plist").read_bytes())
    assert agent["ProgramArguments"] == list(COMMAND)
    assert agent["RunAtLoad"] is True


def test_a_damaged_launch_agent_counts_as_off(tmp_path: Path) -> None:
    (tmp_path / "org.backscroll.app.plist").write_bytes(b"{")
    assert not LaunchAgentAutostart(tmp_path, COMMAND).is_enabled()


def test_each_system_has_its_own_way(tmp_path: Path) -> None:
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert isinstance(this_autostart("linux", env, COMMAND), XdgAutostart)
    assert isinstance(this_autostart("darwin", env, COMMAND), LaunchAgentAutostart)
    registry = this_autostart("win32", env, COMMAND)
    assert isinstance(registry, RegistryAutostart)
    assert not registry.is_enabled()


def test_the_app_is_started_in_the_background() -> None:
    assert start_command({})[-2:] == ("run", "--background")
