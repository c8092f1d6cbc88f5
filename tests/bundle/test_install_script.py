"""The Linux bundle's install.sh, run for real with a folder that only looks like a bundle."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from desktop.autostart.xdg import XdgAutostart
from tests.helpers.programs import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="macOS and Windows install by their own means")

PROGRAMS = ("Backscroll", "backscroll", "backscroll-mcp")


class Machine:
    """A person's home, and bundles unpacked somewhere in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home dir"
        self.downloads = folder / "downloads"
        self.root = self.home / ".local" / "lib" / "backscroll"
        self.home.mkdir()

    def unpack(self, version: str) -> Path:
        """Lay a bundle down whose programs say their version and their arguments."""
        folder = self.downloads / f"Backscroll-{version}"
        (folder / "_internal" / "assets" / "icons").mkdir(parents=True)
        shutil.copy2(ROOT / "assets" / "icons" / "app.svg", folder / "_internal" / "assets" / "icons")
        for name in ("install.sh", "backscroll.desktop"):
            shutil.copy2(ROOT / "packaging" / "linux" / name, folder)
        (folder / "VERSION").write_text(f"{version}\n", encoding="utf-8")
        for name in PROGRAMS:
            (folder / name).write_text(f'#!/bin/sh\necho "{name} {version} $*"\n', encoding="utf-8")
            (folder / name).chmod(0o755)
        return folder

    def run(self, *command: str | Path, code: int = 0) -> str:
        """Run a program in this home and return what it said."""
        env = {"HOME": str(self.home), "PATH": os.defpath}
        done = subprocess.run(
            [*map(str, command)], env=env, capture_output=True, encoding="utf-8", timeout=60, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert code or done.stderr == ""
        return done.stdout


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_what_was_installed_runs_after_the_download_is_deleted(machine: Machine) -> None:
    machine.run(machine.unpack("1.0") / "install.sh")
    shutil.rmtree(machine.downloads)

    assert machine.run(machine.home / ".local" / "bin" / "backscroll", "status") == "backscroll 1.0 status\n"
    assert (machine.home / ".local/share/icons/hicolor/scalable/apps/backscroll.svg").is_file()
    assert not (machine.home / ".config").exists()


def test_an_update_changes_no_path_and_takes_the_version_before_away(machine: Machine) -> None:
    machine.run(machine.unpack("1.0") / "install.sh")
    registered = machine.root / "current" / "backscroll-mcp"
    entry = machine.home / ".local/share/applications/backscroll.desktop"
    before = entry.read_text(encoding="utf-8")

    machine.run(machine.unpack("1.1") / "install.sh")

    assert machine.run(registered) == "backscroll-mcp 1.1 \n"
    assert entry.read_text(encoding="utf-8") == before
    assert sorted(each.name for each in machine.root.iterdir()) == ["1.1", "current"]


def test_a_version_that_a_session_still_uses_is_kept_until_the_next_update(machine: Machine) -> None:
    machine.run(machine.unpack("1.0") / "install.sh")
    shutil.copy2(shutil.which("cat") or "/bin/cat", machine.root / "1.0" / "backscroll-mcp")
    with subprocess.Popen([machine.root / "current" / "backscroll-mcp"], stdin=subprocess.PIPE) as session:
        machine.run(machine.unpack("1.1") / "install.sh")
        assert (machine.root / "1.0").is_dir()
        session.communicate(timeout=60)

    machine.run(machine.unpack("1.2") / "install.sh")
    assert sorted(each.name for each in machine.root.iterdir()) == ["1.2", "current"]


def test_the_running_app_is_ended_by_an_update(machine: Machine) -> None:
    machine.run(machine.unpack("1.0") / "install.sh")
    shutil.copy2(shutil.which("cat") or "/bin/cat", machine.root / "1.0" / "Backscroll")
    with subprocess.Popen([machine.root / "current" / "Backscroll"], stdin=subprocess.PIPE) as app:
        machine.run(machine.unpack("1.1") / "install.sh")
        assert app.wait(60) == -15


def test_installing_twice_is_installing_once(machine: Machine) -> None:
    bundle = machine.unpack("1.0")
    machine.run(bundle / "install.sh")
    first = sorted(each.relative_to(machine.home) for each in machine.home.rglob("*"))
    machine.run(bundle / "install.sh")
    machine.run(machine.root / "current" / "install.sh")

    assert sorted(each.relative_to(machine.home) for each in machine.home.rglob("*")) == first


def test_the_login_entry_is_the_one_that_the_app_finds_and_takes_out(machine: Machine) -> None:
    machine.run(machine.unpack("1.0") / "install.sh", "--autostart")
    folder = machine.home / ".config" / "autostart"
    autostart = XdgAutostart(folder, ["unused"])

    assert autostart.is_enabled()
    lines = (folder / "backscroll.desktop").read_text(encoding="utf-8").splitlines()
    assert f'Exec="{machine.root}/current/Backscroll" run --background' in lines
    autostart.disable()
    assert not any(folder.iterdir())


def test_removing_disconnects_and_leaves_the_data(machine: Machine) -> None:
    machine.run(machine.unpack("1.0") / "install.sh", "--autostart")
    data = machine.home / ".local" / "share" / "backscroll" / "data"
    data.mkdir(parents=True)

    said = machine.run(machine.root / "current" / "install.sh", "--remove")

    assert said.startswith("backscroll 1.0 connect --remove\n")
    left = [each for each in machine.home.rglob("*") if not each.is_dir()]
    assert left == []
    assert data.is_dir()
    assert not machine.root.exists()


def test_a_wrong_word_changes_nothing(machine: Machine) -> None:
    machine.run(machine.unpack("1.0") / "install.sh", "--help", code=2)
    assert [*machine.home.iterdir()] == []
