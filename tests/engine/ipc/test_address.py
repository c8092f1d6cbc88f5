from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.ipc.address import (
    KEY_BYTES,
    PACKAGE_ROOT,
    NoKey,
    engine_commands,
    engine_environment,
    has_display,
    pipe_name,
    read_key,
)

if TYPE_CHECKING:
    from engine.core.paths import Paths


def test_the_pipe_is_named_after_the_installation(paths: Paths, tmp_path: Path) -> None:
    other = type(paths).below(tmp_path / "other")
    assert pipe_name(paths) == rf"\\.\pipe\backscroll-{paths.token}"
    assert pipe_name(paths) != pipe_name(other)


def test_the_key_is_read_whole_or_not_at_all(paths: Paths) -> None:
    with pytest.raises(NoKey, match="no key yet"):
        read_key(paths)
    paths.key_file.write_bytes(b"k" * KEY_BYTES)
    assert read_key(paths) == b"k" * KEY_BYTES
    paths.key_file.write_bytes(b"k")
    with pytest.raises(NoKey, match="damaged"):
        read_key(paths)


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ""}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("darwin", {}, True),
        ("darwin", {"SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}, False),
        ("win32", {}, True),
    ],
)
def test_a_display_is_there_where_the_person_would_see_a_window(
    platform: str, environment: dict[str, str], *, expected: bool
) -> None:
    assert has_display(environment, platform) is expected


def test_from_source_the_interpreter_starts_the_package_and_never_the_folder_it_is_called_in() -> None:
    commands = engine_commands(display=False, desktop=True, frozen=False, executable="/venv/bin/python")
    assert commands == [["/venv/bin/python", "-P", "-m", "engine", "serve", "--on-demand"]]


def test_where_there_is_a_display_the_tray_comes_first_and_the_engine_alone_behind_it() -> None:
    commands = engine_commands(display=True, desktop=True, frozen=False, executable="py")
    assert [command[4:] for command in commands] == [["run", "--background"], ["serve", "--on-demand"]]
    without_desktop = engine_commands(display=True, desktop=False, frozen=False, executable="py")
    assert [command[4:] for command in without_desktop] == [["serve", "--on-demand"]]


@pytest.mark.parametrize(
    ("executable", "app", "engine"),
    [
        ("/opt/b/backscroll-mcp", "/opt/b/backscroll", "/opt/b/backscroll"),
        ("/opt/b/backscroll-mcp.exe", "/opt/b/BackscrollTray.exe", "/opt/b/backscroll.exe"),
    ],
)
def test_a_bundled_shim_starts_the_app_beside_it(executable: str, app: str, engine: str) -> None:
    commands = engine_commands(display=True, frozen=True, executable=executable)
    assert commands == [[str(Path(app)), "run", "--background"], [str(Path(engine)), "serve", "--on-demand"]]


@pytest.mark.skipif(os.name == "nt", reason="Windows replaces the programs in their place")
class TestVersionsSideBySide:
    @pytest.fixture
    def versions(self, tmp_path: Path) -> Path:
        for name in ("installed/1.0", "installed/1.1", "elsewhere"):
            (tmp_path / name).mkdir(parents=True)
            for program in ("backscroll", "backscroll-mcp"):
                (tmp_path / name / program).touch()
        return tmp_path / "installed"

    @pytest.mark.parametrize("running", ["1.0", "1.1"])
    def test_the_one_installed_last_is_started_by_a_path_that_stays(self, versions: Path, running: str) -> None:
        (versions / "current").symlink_to("1.1")
        commands = engine_commands(display=False, frozen=True, executable=str(versions / running / "backscroll-mcp"))
        assert commands == [[str(versions / "current" / "backscroll"), "serve", "--on-demand"]]

    @pytest.mark.parametrize("link", [None, "gone", "../elsewhere"])
    def test_a_copy_that_was_only_unpacked_starts_what_lies_beside_it(self, versions: Path, link: str | None) -> None:
        if link is not None:
            (versions / "current").symlink_to(link)
        executable = versions / "1.0" / "backscroll-mcp"
        commands = engine_commands(display=False, frozen=True, executable=str(executable))
        assert commands == [[str(executable.with_name("backscroll")), "serve", "--on-demand"]]


def test_the_engine_does_not_inherit_which_session_started_it(tmp_path: Path) -> None:
    environment = {"CLAUDE_CODE_SESSION_ID": "s", "CLAUDE_PROJECT_DIR": "/p", "CLAUDECODE": "1", "PATH": "/bin"}
    assert engine_environment(environment, home=None, root=tmp_path) == {"PATH": "/bin"}


def test_the_engine_gets_the_home_as_a_path_that_holds_in_any_folder(tmp_path: Path) -> None:
    inherited = engine_environment({"BACKSCROLL_HOME": "here"}, home=tmp_path, root=tmp_path)
    assert inherited == {"BACKSCROLL_HOME": str(tmp_path)}


def test_a_checkout_that_is_not_installed_is_found_by_the_engine_it_starts(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    first = engine_environment({"PYTHONPATH": "/x"}, home=None, root=tmp_path)
    assert first == {"PYTHONPATH": f"{tmp_path}{os.pathsep}/x"}
    assert engine_environment(first, home=None, root=tmp_path) == first


def test_the_package_root_is_the_folder_that_holds_this_engine() -> None:
    assert (PACKAGE_ROOT / "engine" / "ipc" / "address.py").is_file()
