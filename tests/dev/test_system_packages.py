from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import dev
from tests.dev.fake_shell import FakeShell

APT_LIST = """\
# Two groups.

# run: what Qt links to
libegl1
libglib2.0-0

# test: a screen
xvfb                   # the display
xdotool
"""

INSTALLED = """\
libegl1\tinstalled\tlibegl1-x11
libglib2.0-0t64\tinstalled\tlibglib2.0-0 (= 2.80.0-6ubuntu3), libglib2.0-0-dev
xvfb\tconfig-files\txserver
"""

LINUX_ONLY = pytest.mark.skipif(os.name == "nt", reason="asks for the user id, which Windows has not")


def test_groups_are_read_from_their_headings() -> None:
    assert dev.read_apt_list(APT_LIST, ["run"]) == ["libegl1", "libglib2.0-0"]
    assert dev.read_apt_list(APT_LIST, ["run", "test"]) == ["libegl1", "libglib2.0-0", "xvfb", "xdotool"]
    assert dev.read_apt_list(APT_LIST, []) == []


def test_removed_package_is_missing_and_renamed_package_is_not() -> None:
    wanted = dev.read_apt_list(APT_LIST, ["run", "test"])
    assert dev.missing_packages(wanted, INSTALLED) == ["xvfb", "xdotool"]


def test_provided_name_counts_and_its_version_does_not() -> None:
    assert dev.missing_packages(["libglib2.0-0-dev", "libegl1-x11", "2.80.0-6ubuntu3)"], INSTALLED) == [
        "2.80.0-6ubuntu3)"
    ]


def test_committed_list_names_each_package_once_in_a_known_group() -> None:
    text = dev.Checkout(Path(dev.__file__).parent).apt_list.read_text(encoding="utf-8")
    known = dev.read_apt_list(text, ["run", "test"])
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    assert known == [line for line in lines if line]
    assert len({*known}) == len(known)


def found(name: str) -> str:
    return f"/usr/bin/{name}"


def nothing(_name: str) -> None:
    return None


@pytest.fixture
def debian(checkout: dev.Checkout, monkeypatch: pytest.MonkeyPatch) -> dev.Checkout:
    checkout.apt_list.write_text(APT_LIST, encoding="utf-8")
    monkeypatch.setattr(dev.sys, "platform", "linux")
    monkeypatch.setattr(shutil, "which", found)
    monkeypatch.setattr(dev, "installed_packages", lambda: INSTALLED)
    return checkout


@LINUX_ONLY
def test_root_installs_what_is_missing(debian: dev.Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev.os, "geteuid", lambda: 0)
    shell = FakeShell(debian.root)
    dev.prepare_system(debian, shell, ["run", "test"])
    update, install = shell.commands
    assert update[-1] == "update"
    assert install[:6] == ["apt-get", "install", "-y", "--no-install-recommends", "xvfb", "xdotool"]


@LINUX_ONLY
def test_failing_apt_is_shown_and_does_not_end_the_start(
    debian: dev.Checkout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev.os, "geteuid", lambda: 0)
    dev.prepare_system(debian, FakeShell(debian.root, fail="Updating apt's lists"), ["test"])
    said = capsys.readouterr().err
    assert "no such package" in said
    assert "Going on without: xvfb xdotool." in said


@LINUX_ONLY
def test_others_are_told_the_exact_command(
    debian: dev.Checkout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev.os, "geteuid", lambda: 1000)
    shell = FakeShell(debian.root)
    dev.prepare_system(debian, shell, ["test"])
    assert shell.commands == []
    assert "\n    sudo apt-get install -y --no-install-recommends xvfb xdotool\n" in capsys.readouterr().err


def test_nothing_is_said_or_done_when_nothing_is_missing(
    debian: dev.Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = FakeShell(debian.root)
    dev.prepare_system(debian, shell, ["run"])
    assert shell.commands == []
    assert capsys.readouterr().err == ""


@LINUX_ONLY
def test_missing_venv_module_is_a_missing_package(
    debian: dev.Checkout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(dev.importlib.util, "find_spec", nothing)
    dev.prepare_system(debian, FakeShell(debian.root), ["run"])
    major, minor = dev.sys.version_info[:2]
    assert f"python{major}.{minor}-venv" in capsys.readouterr().err


def test_other_linux_is_told_once_where_the_list_is(
    debian: dev.Checkout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", nothing)
    shell = FakeShell(debian.root)
    dev.prepare_system(debian, shell, ["run"])
    assert "packaging/linux/apt.txt" in capsys.readouterr().err
    debian.venv.mkdir()
    dev.write_stamp(debian, {})
    dev.prepare_system(debian, shell, ["run"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_other_systems_need_no_packages(
    debian: dev.Checkout, system: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev.sys, "platform", system)
    shell = FakeShell(debian.root)
    dev.prepare_system(debian, shell, ["run", "test"])
    assert shell.commands == []
    assert capsys.readouterr().err == ""
