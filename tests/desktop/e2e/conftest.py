from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.desktop.display import display, missing, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "assets" / "sample"
WAIT_S = 60

OTHER_PROGRAM = """
import sys
from pathlib import Path
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit
class Field(QLineEdit):
    def keyPressEvent(self, event):
        with Path(sys.argv[1]).open("a", encoding="utf-8") as log:
            log.write(f"{event.key():x} {event.text()!r}\\n")
        super().keyPressEvent(event)
application = QApplication([])
field = Field()
field.setWindowTitle("another program")
field.resize(300, 60)
field.show()
application.exec()
"""


@dataclass
class Desk:
    """A display, a home, and what runs there."""

    env: dict[str, str]
    home: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    def start(self, *argv: str) -> subprocess.Popen[bytes]:
        """Start a program of this installation."""
        log = (self.home / f"output-{len(self.processes)}.txt").open("wb")
        process = subprocess.Popen(
            [sys.executable, "-P", *argv], env=self.env, cwd=self.home, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        log.close()
        self.processes.append(process)
        return process

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """Run a program of this installation to its end."""
        return subprocess.run(
            [sys.executable, "-P", *argv], env=self.env, cwd=self.home, capture_output=True, text=True,
            encoding="utf-8", timeout=100, check=False,
        )  # fmt: skip

    def app(self, *options: str) -> subprocess.Popen[bytes]:
        """Start the app and wait until its icon is in the tray and its engine answers."""
        process = self.start("-m", "desktop", *options)
        self.until_engine_answers()
        return process

    def until_engine_answers(self) -> None:
        """Wait until everything of the sample is indexed."""
        code = (
            "import sys, time\n"
            "from engine.core.paths import Paths\n"
            "from engine.ipc.client import EngineClient\n"
            "from engine.core.errors import EngineError\n"
            "end = time.monotonic() + 90\n"
            "while time.monotonic() < end:\n"
            "    try:\n"
            "        with EngineClient.connect(Paths.resolve(), version='0') as client:\n"
            "            status = client.call('status')\n"
            "        if status['messages'] and not status['ingest']['files_pending']: sys.exit(0)\n"
            "    except EngineError: pass\n"
            "    time.sleep(0.1)\n"
            "sys.exit(1)\n"
        )
        done = self.run("-c", code)
        assert done.returncode == 0, done.stderr + self.output()

    def output(self) -> str:
        """Return what every program said."""
        return "\n".join(file.read_text(encoding="utf-8") for file in sorted(self.home.glob("output-*.txt")))

    def keys(self, *keys: str) -> None:
        """Press keys, wherever the keyboard is."""
        subprocess.run(["xdotool", "key", "--clearmodifiers", *keys], env=self.env, check=True, timeout=60)

    def type(self, text: str) -> None:
        """Type a text, wherever the keyboard is."""
        subprocess.run(["xdotool", "type", "--delay", "20", text], env=self.env, check=True, timeout=60)

    def is_shown(self, title: str = "^Backscroll$") -> bool:
        """Return whether a window with this title is on the screen."""
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--name", title], env=self.env, capture_output=True, text=True,
            encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip
        return bool(found.stdout.strip())

    def focused(self) -> str:
        """Return the title of the window that has the keyboard."""
        found = subprocess.run(
            ["xdotool", "getwindowfocus", "getwindowname"], env=self.env, capture_output=True, text=True,
            encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip
        return found.stdout.strip()

    def until(self, ready: object, what: str) -> None:
        """Wait for something that other programs do."""
        import select

        assert callable(ready)
        for _ in range(WAIT_S * 20):
            if ready():
                return
            select.select([], [], [], 0.05)
        self.picture("failed")
        pytest.fail(f"{what} never came.\n{self.output()}")

    def clipboard(self) -> str:
        """Return what is on the clipboard."""
        done = subprocess.run(
            ["xclip", "-o", "-selection", "clipboard"], env=self.env, capture_output=True, text=True, encoding="utf-8",
            timeout=60, check=False,
        )  # fmt: skip
        return done.stdout

    def picture(self, name: str) -> Path:
        """Save what is on the screen."""
        file = self.home / f"{name}.png"
        subprocess.run(["import", "-window", "root", str(file)], env=self.env, check=True, timeout=60)
        return file

    def has_colour(self, colour: str, crop: str) -> bool:
        """Return whether a part of the screen holds a colour."""
        file = self.picture("look")
        done = subprocess.run(
            ["convert", str(file), "-crop", crop, "-fuzz", "4%", "-fill", "white", "+opaque", colour, "-format",
             "%[fx:minima<0.9]", "info:"],
            env=self.env, capture_output=True, text=True, encoding="utf-8", check=True, timeout=60,
        )  # fmt: skip
        return done.stdout.strip() == "1"


@pytest.fixture
def desk(short_tmp: Path) -> Iterator[Desk]:
    """Give a display with a window manager and a panel, and an empty home beside the sample history."""
    lacking = missing()
    if lacking:
        pytest.skip(f"the end-to-end tests need {', '.join(lacking)} (packaging/linux/apt.txt)")
    home = short_tmp
    history = home / "claude"
    shutil.copytree(SAMPLE / "projects", history / "projects")
    # The suite's own strictness about encodings makes libraries print warnings, which are not the app's.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONWARNDEFAULTENCODING"}
    env = {
        **inherited,
        "HOME": str(home),
        "BACKSCROLL_HOME": str(home / "b"),
        "CLAUDE_CONFIG_DIR": str(history),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_RUNTIME_DIR": str(home / "run"),
        "PYTHONPATH": str(ROOT),
        "PATH": os.pathsep.join(("/usr/local/bin", "/usr/bin", "/bin")),
    }
    (home / "run").mkdir(mode=0o700)
    (home / "b" / "state").mkdir(parents=True)
    (home / "b" / "state" / "desktop.json").write_text('{"greeted": true}', encoding="utf-8")
    os.environ["XDG_RUNTIME_DIR"] = str(home / "run")
    with display(home) as screen:
        made = Desk({**env, **{name: screen[name] for name in ("DISPLAY", "QT_QPA_PLATFORM")}}, home)
        yield made
        for process in made.processes:
            end_family(process.pid)
            process.wait(10)


def end_family(pid: int) -> None:
    """End a process that a test has left, and its children."""
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for each in family:
        try:
            each.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(family, timeout=10)


__all__ = ["Desk", "desk", "wait_for"]
