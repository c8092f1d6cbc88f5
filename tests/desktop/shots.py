"""Takes pictures of every window in every state and both themes: `python -m tests.desktop.shots FOLDER`.

The windows are shown on a display of their own, over the sample history read by a real engine and over invented ones
with texts made to hurt. Look at them after each change.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QCursor, QFont
from PySide6.QtWidgets import QApplication

from desktop.tasks import Tasks
from desktop.theme import Theme
from engine.core.clock import SystemClock
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.service import Engine
from engine.transcripts.discovery import Root
from tests.desktop.display import display
from tests.desktop.fake_system import FakeOpener, Moment
from tests.desktop.room_shots import room_pictures
from tests.desktop.rooms import services_over
from tests.desktop.search_shots import hostile_pictures, search_pictures, state_pictures
from tests.desktop.studio import Studio
from tests.desktop.window_shots import tray_pictures, window_pictures

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.history import History
    from desktop.theme import Choice

SAMPLE = Path(__file__).parents[2] / "assets" / "sample" / "projects"


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
    parser.add_argument("--font", type=float, default=10, help="points: 10 is usual, 20 is what some people need")
    parser.add_argument("--right-to-left", action="store_true", help="as the app stands in Arabic or Hebrew")
    wanted = parser.parse_args(argv)
    folder: Path = wanted.folder
    folder.mkdir(parents=True, exist_ok=True)
    application = QApplication(["backscroll"])
    application.setStyle("Fusion")
    QLocale.setDefault(QLocale(QLocale.Language.English))
    font = QFont("DejaVu Sans")
    font.setPointSizeF(wanted.font)
    application.setFont(font)
    QCursor.setPos(0, 0)  # over none of the windows: what lies below it looks otherwise
    if wanted.right_to_left:
        application.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    with tempfile.TemporaryDirectory(prefix="backscroll-shots-") as home:
        paths = Paths.below(Path(home))
        settings = Settings(time_zone="UTC")
        engine = Engine(paths, settings, SystemClock(), roots=(Root(SAMPLE, "sample"),))
        engine.start(watch=False)
        engine.run_once()
        tasks = Tasks(traceback.print_exception)
        themes: list[Choice] = wanted.theme or ["light", "dark"]
        for choice in themes:
            services = services_over(Path(home), Theme(application, choice), tasks, FakeOpener(), Moment())
            take(application, Studio(folder, services, choice), engine.api, wanted.only)
        tasks.close()
        engine.stop()
    return 0


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
