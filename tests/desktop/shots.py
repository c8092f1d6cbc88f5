# pyright: reportPrivateUsage=false
# A picture is taken of states that last for a moment only.
"""Takes pictures of every window in every state and both themes: `python -m tests.desktop.shots FOLDER`.

The windows are shown on a display of their own, over the sample history read by a real engine and over invented ones
with texts made to hurt. Look at them after each change.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import threading
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QLocale, QTimer
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication, QWidget

from desktop.about import AboutWindow
from desktop.bridge import Bridge
from desktop.claude import Claude
from desktop.claude_panel import ConnectWindow
from desktop.engine_host import EngineHost
from desktop.errors import Trouble
from desktop.first_run.window import FirstRunWindow
from desktop.hotkey.base import HotkeyRefused
from desktop.hotkey.keeper import HotkeyKeeper
from desktop.pulse import Pulse, PulseKeeper
from desktop.resources import TrayState, drawn, tray_icon
from desktop.search.controller import SearchController
from desktop.search.memory import MemoryFile
from desktop.search.window import SearchWindow
from desktop.services import Services
from desktop.settings.window import SettingsWindow
from desktop.status.window import StatusWindow
from desktop.tasks import Tasks
from desktop.theme import Theme
from desktop.tray import Tray
from engine.core.clock import SystemClock
from engine.core.errors import StorageFailure
from engine.core.models.status import Notice
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.service import Engine
from engine.service.notices import given_up
from engine.transcripts.discovery import Root
from tests.desktop.display import display
from tests.desktop.fakes import FakeAutostart, FakeHistory, FakeHotkey, FakeOpener, Moment, message, session_row, status
from tests.desktop.invented import NoHistory
from tests.desktop.room_shots import room_pictures

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.history import History
    from desktop.theme import Choice
    from engine.core.models.sessions import SessionRow

SAMPLE = Path(__file__).parents[2] / "assets" / "sample" / "projects"
HOSTILE = {
    1: "<h1>HTML</h1> <script>alert('x')</script> <img src=x onerror=y> needle",
    2: "\x1b[31mANSI red\x1b[0m and \x00 control \x07 characters, needle",
    3: "שלום, זהו טקסט מימין לשמאל עם המילה needle בתוכו",
    4: "夜間同期で「database is locked」が出る件 needle の調査",
    5: "👩‍👩‍👧‍👦🏳️‍🌈 emoji 👍🏽 needle 🎉",
    6: "needle " + "averyveryverylongwordwithoutanyspace" * 300,
    7: "needle " + "x" * 1_000_000,
    8: "| a | needle |\n|---|---|\n| `code` | **bold** |\n\n1. one\n2. two\n\n> quoted\n\n```python\ndef f(): ...\n```",
}


@dataclass
class Studio:
    """What the pictures are taken with."""

    folder: Path
    services: Services
    theme: Theme
    tasks: Tasks
    name: str = ""

    def shoot(self, widget: QWidget, name: str) -> None:
        """Save a picture of a widget."""
        pause(60)
        widget.grab().save(str(self.folder / f"{name}-{self.name}.png"))

    def search(self, history: History | None, *, pins: tuple[SessionRow, ...] = (), width: int = 900) -> SearchWindow:
        """Return a search window over a history."""
        # A new file each time: what one picture leaves behind is not to be seen in the next.
        memory = MemoryFile(self.services.paths.state / f"{os.urandom(6).hex()}.json")
        window = SearchWindow(
            theme=self.theme,
            tasks=self.tasks,
            controller=SearchController(self.tasks, self.services.now),
            memory=memory,
            opener=self.services.opener,
            find_file=lambda _session: None,
            now=self.services.now,
        )
        window.controller.set_pins(pins)
        window.resize(width, 560)
        window.attach(history)
        window.present()
        pause(250)
        return window


def pause(ms: int) -> None:
    """Let everything that is on its way arrive."""
    loop = QEventLoop()
    QTimer.singleShot(ms, loop.quit)
    loop.exec()


def until(ready: Callable[[], bool]) -> None:
    """Wait for something, at most five seconds."""
    for _ in range(100):
        if ready():
            return
        pause(50)


def type_in(window: SearchWindow, text: str) -> None:
    """Type as a person would have by now."""
    window.bar.field.setText(text)
    window.bar.field.textEdited.emit(text)
    pause(900)


def search_pictures(studio: Studio, history: History) -> None:
    """The search window over the sample."""
    window = studio.search(history)
    studio.shoot(window, "search-empty")
    type_in(window, "session tokens")
    studio.shoot(window, "search-typing")
    window.deeds.run("expand")
    pause(200)
    window.deeds.run("down")
    pause(250)
    studio.shoot(window, "search-expanded")
    window.deeds.run("actions")
    studio.shoot(window, "search-actions")
    window.action_list.close_list()
    window.deeds.run("keys")
    studio.shoot(window, "search-keys")
    window.key_help.hide()
    window.deeds.run("copy")
    studio.shoot(window, "search-copied")
    window.toast.hide()
    window.deeds.run("open")
    until(lambda: window.session.counter.text() != "")
    studio.shoot(window, "session")
    window.show_list()
    type_in(window, "project:api role:user ")
    studio.shoot(window, "search-filters")
    type_in(window, "role:boss ")
    studio.shoot(window, "search-wrong-filter")
    window.bar.clear()
    type_in(window, "zebrafish")
    studio.shoot(window, "search-nothing")
    window.hide()
    narrow = studio.search(history, width=600)
    type_in(narrow, "decision")
    studio.shoot(narrow, "search-narrow")
    narrow.hide()
    pinned = studio.search(history, pins=history.list_sessions(limit=2).sessions)
    studio.shoot(pinned, "search-pinned")
    pinned.hide()


def state_pictures(studio: Studio) -> None:
    """The search window in its other states."""
    starting = studio.search(None)
    studio.shoot(starting, "search-starting")
    starting.hide()
    nothing = studio.search(FakeHistory())
    studio.shoot(nothing, "search-no-history")
    nothing.hide()
    broken = FakeHistory.small()
    window = studio.search(broken)
    broken.failure = StorageFailure("The index is damaged", "It cannot be read.", "Run doctor: it repairs it.")
    type_in(window, "auth")
    studio.shoot(window, "search-error")
    window.hide()
    degraded = FakeHistory.small()
    degraded.percent = 62.4
    window = studio.search(degraded)
    type_in(window, "auth")
    studio.shoot(window, "search-degraded")
    degraded.low_signal = 12
    type_in(window, "zebra")
    studio.shoot(window, "search-low-signal")
    window.say_notice(
        "Ctrl+Shift+Space could not be claimed. Another program uses these keys. Choose other keys in the settings."
    )
    studio.shoot(window, "search-notice")
    window.hide()
    slow = FakeHistory.small()
    window = studio.search(slow)
    slow.gate.clear()
    type_in(window, "auth")
    studio.shoot(window, "search-slow")
    slow.gate.set()
    pause(100)
    window.hide()


def hostile_pictures(studio: Studio) -> None:
    """Other people's words."""
    history = FakeHistory()
    for number, text in HOSTILE.items():
        row = session_row(number, title=text[:300], on_disk=number != 3)
        history.add(row, [message(f"{number:08x}-0000-4000-8000-00000000000a", row.session_id, text)])
    window = studio.search(history)
    type_in(window, "needle")
    for number in range(len(HOSTILE)):
        studio.shoot(window, f"hostile-{number + 1}")
        window.deeds.run("down")
        pause(400)
    window.hide()


def window_pictures(studio: Studio, history: History) -> None:
    """The other windows."""
    services = studio.services
    keeper = services.pulse
    quiet, busy = (
        history.status(),
        status(ingest="indexing", pending=120, eta_s=95, embedding="embedding", backlog=6900),
    )
    gave_up = Notice(id="degraded", text=given_up("engine-embed"), hint="Start Backscroll again.")
    degraded = replace(quiet, warnings=(gave_up,))
    for name, value in (("idle", quiet), ("indexing", busy), ("degraded", degraded)):
        keeper.pulse = Pulse(is_starting=False, status=value, connection="connected")
        window = StatusWindow(services)
        for step in range(40 if name == "indexing" else 0):
            services.now.seconds += 2  # pyright: ignore[reportFunctionMemberAccess] - a Moment
            window._show_status(status(ingest="indexing", pending=max(3, 400 - step * step // 4)))
        window.attach(history)
        window.show()
        keeper.changed.emit(keeper.pulse)
        pause(300)
        studio.shoot(window, f"status-{name}")
        window.hide()
    keeper.pulse = Pulse(is_starting=False, status=busy)
    settings = SettingsWindow(services)
    settings.attach(history)
    settings.show()
    for row in range(settings.list.count()):
        settings.list.setCurrentRow(row)
        pause(150)
        studio.shoot(settings, f"settings-{row + 1}")
    settings.rows["transcripts.roots"].say("Not saved: it must be a list.")
    settings.banner.show()
    settings.list.setCurrentRow(1)
    studio.shoot(settings, "settings-problem")
    settings.hide()
    for name, maker in (("first-run", FirstRunWindow), ("connect", ConnectWindow), ("about", AboutWindow)):
        made = maker(services)
        if isinstance(made, FirstRunWindow):
            made.attach(history)
        made.show()
        pause(400)
        studio.shoot(made, name)
        made.hide()
    services.hotkey.problem = HotkeyRefused(
        "Ctrl+Shift+Space could not be claimed",
        "Another program uses these keys.",
        "Choose other keys in the settings.",
    )
    card = FirstRunWindow(services)
    card.attach(NoHistory())
    card.show()
    pause(300)
    studio.shoot(card, "first-run-nothing")
    card.hide()
    services.hotkey.problem = None


def tray_pictures(studio: Studio) -> None:
    """The icon in every state, at its smallest, on light and dark; and the menu."""
    from PySide6.QtCore import QPoint, QRect
    from PySide6.QtGui import QColor, QPainter, QPixmap

    sheet = QPixmap(560, 260)
    sheet.fill(QColor("white"))
    painter = QPainter(sheet)
    painter.fillRect(QRect(0, 130, 560, 130), QColor("#202028"))
    for column, state in enumerate(TrayState):
        share = 0.62 if state is TrayState.INDEXING else None
        for row in range(2):
            top = 10 + row * 130
            for size, left in ((16, 0), (24, 24), (48, 52)):
                icon = tray_icon(state, share=share)
                painter.drawPixmap(QPoint(column * 112 + left, top), icon.pixmap(size, size))
            template = drawn(f"template-{state.value}", 44, "#ffffff" if row else "#000000")
            painter.drawPixmap(QPoint(column * 112 + 10, top + 60), template)
    painter.end()
    sheet.save(str(studio.folder / f"tray-icons-{studio.name}.png"))
    for name, pulse in (
        ("idle", Pulse(is_starting=False, status=status(), connection="connected")),
        ("embedding", Pulse(is_starting=False, status=status(embedding="embedding", backlog=6900, eta_s=240))),
        ("paused", Pulse(is_starting=False, status=status(ingest="paused"))),
        ("problem", Pulse(is_starting=False, problem=Trouble("The disk is full", ""))),
    ):
        tray = Tray(pulse, "Ctrl+Shift+Space")
        tray.menu.adjustSize()
        studio.shoot(tray.menu, f"menu-{name}")


def main(argv: list[str]) -> int:
    """Start a display and take the pictures on it."""
    with (
        tempfile.TemporaryDirectory(prefix="backscroll-display-") as folder,
        display(Path(folder), size="2880x1800") as env,
    ):
        command = [sys.executable, "-m", "tests.desktop.shots", "--here", *argv]
        return subprocess.run(command, env={**env, "QT_SCALE_FACTOR": "2"}, check=False).returncode


def here(argv: list[str]) -> int:
    """Take all pictures, or those whose group is named."""
    gc.disable()  # as the app does: see desktop/collector.py
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--theme", choices=("light", "dark"), action="append")
    parser.add_argument("--only", choices=("search", "states", "hostile", "windows", "rooms", "tray"), action="append")
    wanted = parser.parse_args(argv)
    folder: Path = wanted.folder
    folder.mkdir(parents=True, exist_ok=True)
    application = QApplication(["backscroll"])
    application.setStyle("Fusion")
    QLocale.setDefault(QLocale(QLocale.Language.English))
    application.setFont(QFont("DejaVu Sans", 10))
    with tempfile.TemporaryDirectory(prefix="backscroll-shots-") as home:
        paths = Paths.below(Path(home))
        settings = Settings(time_zone="UTC")
        engine = Engine(paths, settings, SystemClock(), roots=(Root(SAMPLE, "sample"),))
        engine.start(watch=False)
        engine.run_once()
        tasks = Tasks(traceback.print_exception)
        themes: list[Choice] = wanted.theme or ["light", "dark"]
        for choice in themes:
            take(
                application,
                Studio(folder, *_parts(application, paths, tasks, choice), tasks, choice),
                engine.api,
                wanted.only,
            )
        tasks.close()
        engine.stop()
    return 0


def _parts(application: QApplication, paths: Paths, tasks: Tasks, choice: Choice) -> tuple[Services, Theme]:
    theme = Theme(application, choice)
    bridge = Bridge()
    hotkey = HotkeyKeeper(FakeHotkey())
    hotkey.try_keys("Ctrl+Shift+Space")
    services = Services(
        paths=paths,
        theme=theme,
        tasks=tasks,
        host=EngineHost(paths, bridge, tasks),
        pulse=PulseKeeper(tasks, bridge),
        hotkey=hotkey,
        autostart=FakeAutostart(),
        claude=Claude(paths),
        opener=FakeOpener(),
        now=Moment(),
        history=lambda: None,
        open=lambda _name: None,
    )
    return services, theme


def take(application: QApplication, studio: Studio, history: History, only: list[str] | None) -> None:
    """Take the pictures of one theme."""
    groups: dict[str, Callable[[], None]] = {
        "search": lambda: search_pictures(studio, history),
        "states": lambda: state_pictures(studio),
        "hostile": lambda: hostile_pictures(studio),
        "windows": lambda: window_pictures(studio, history),
        "rooms": lambda: room_pictures(studio, history),
        "tray": lambda: tray_pictures(studio),
    }
    for name, group in groups.items():
        if only is None or name in only:
            group()
    application.processEvents()
    assert threading.current_thread() is threading.main_thread()


if __name__ == "__main__":
    sys.exit(here(sys.argv[2:]) if sys.argv[1:2] == ["--here"] else main(sys.argv[1:]))
