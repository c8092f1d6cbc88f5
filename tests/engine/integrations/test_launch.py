from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.core.errors import ConfigurationRefused
from engine.core.paths import Paths
from engine.integrations.launch import Installation, ServerCommand, server_command, this_installation

if TYPE_CHECKING:
    from collections.abc import Callable

NOWHERE = Paths(*(Path("/nowhere"),) * 5)


@pytest.fixture
def installation(tmp_path: Path) -> Callable[..., Installation]:
    def make(*programs: str, frozen: bool = False, appimage: Path | None = None) -> Installation:
        folder = tmp_path / "bin"
        folder.mkdir()
        for name in programs:
            (folder / name).touch()
        return Installation(folder / "python", frozen, (folder,), tmp_path / "src", appimage)

    return make


def test_an_installed_copy_registers_its_script(installation: Callable[..., Installation], tmp_path: Path) -> None:
    found = server_command(installation("backscroll-mcp"), NOWHERE)
    assert found == ServerCommand(str(tmp_path / "bin" / "backscroll-mcp"))


def test_on_windows_the_script_has_its_suffix(installation: Callable[..., Installation], tmp_path: Path) -> None:
    copy = dataclasses.replace(installation("backscroll-mcp.exe"), windows=True)
    assert server_command(copy, NOWHERE).command == str(tmp_path / "bin" / "backscroll-mcp.exe")


def test_a_home_of_its_own_is_passed_on(installation: Callable[..., Installation], tmp_path: Path) -> None:
    found = server_command(installation("backscroll-mcp"), Paths.below(tmp_path / "home"))
    assert found.env == (("BACKSCROLL_HOME", str(tmp_path / "home")),)


def test_a_frozen_copy_registers_the_shim_beside_it(installation: Callable[..., Installation], tmp_path: Path) -> None:
    found = server_command(installation("backscroll", "backscroll-mcp", frozen=True), NOWHERE)
    assert found == ServerCommand(str(tmp_path / "bin" / "backscroll-mcp"))


def test_an_appimage_registers_the_file_and_not_its_mount(installation: Callable[..., Installation]) -> None:
    copy = installation("backscroll-mcp", frozen=True, appimage=Path("/home/u/Backscroll.AppImage"))
    assert server_command(copy, NOWHERE) == ServerCommand("/home/u/Backscroll.AppImage", ("mcp",))


def test_an_interpreter_that_runs_below_another_appimage_is_not_mistaken_for_it(
    installation: Callable[..., Installation], tmp_path: Path
) -> None:
    copy = installation("backscroll-mcp", appimage=Path("/home/u/Editor.AppImage"))
    assert server_command(copy, NOWHERE).command == str(tmp_path / "bin" / "backscroll-mcp")


def test_a_translocated_app_is_refused(installation: Callable[..., Installation]) -> None:
    place = Path("/private/var/folders/x/AppTranslocation/1/d/Backscroll.app/Contents/MacOS/backscroll")
    copy = dataclasses.replace(installation(frozen=True), executable=place)
    with pytest.raises(ConfigurationRefused, match="Applications"):
        server_command(copy, NOWHERE)


def test_a_checkout_that_was_never_installed_can_still_be_started(tmp_path: Path) -> None:
    here = this_installation()
    bare = dataclasses.replace(here, scripts=(tmp_path,))
    found = server_command(bare, NOWHERE)
    assert found.args == ("-m", "engine", "mcp")
    assert found.command == sys.executable
    code = "import engine; print(engine.__version__)"
    env = {**os.environ, **dict(found.env)}
    shown = subprocess.run(
        [found.command, "-c", code], env=env, cwd=tmp_path, check=True, capture_output=True, timeout=60
    )
    assert shown.stdout.strip()
