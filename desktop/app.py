"""The app's composition root: builds every part, joins them, starts the engine beside the tray, and ends tidily."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QLocale, QObject, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from desktop import errors, words
from desktop import format as shown
from desktop.autostart.base import start_command, this_autostart
from desktop.bridge import Bridge
from desktop.claude import Claude
from desktop.collector import Collector, give_back, spare_memory
from desktop.engine_host import EngineHost
from desktop.hotkey.choose import choose_backend
from desktop.hotkey.keeper import HotkeyKeeper
from desktop.opener import SystemOpener
from desktop.pulse import PulseKeeper
from desktop.resources import app_icon
from desktop.search.controller import SearchController
from desktop.search.memory import MemoryFile
from desktop.search.window import SearchWindow
from desktop.services import Services
from desktop.signals import EndSignals
from desktop.single_instance import Owner, ask
from desktop.tasks import Tasks
from desktop.theme import Theme
from desktop.transcript_files import roots_of, transcript_of
from desktop.tray import Tray
from desktop.trouble import TroubleBox
from desktop.windows import Windows
from engine.core.paths import Paths
from engine.ipc.address import engine_environment
from engine.ipc.launch import spawn_detached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.history import History
    from desktop.pulse import Pulse
    from engine.cli.foreground import Told

logger = logging.getLogger(__name__)

HOUR_S: Final = 3600.0
QUIET_MS: Final = 5000
"""After the last news of the engine, before memory is given back."""
SWITCH_S: Final = 0.001
"""How long a thread of the engine may keep the interpreter while the interface waits for it; Python's own is 0.005."""
QUIT_MS: Final = 20_000
"""The engine's own bounds for stopping add up to less; after this the process ends all the same."""
TRAY_WAIT_MS: Final = 1000
TRAY_TRIES: Final = 30
"""At login the panel may come half a minute after us."""


def main(argv: Sequence[str], end: Told) -> int:
    """Run the app and return its exit code. A second start shows the first one's window.

    Args:
        argv: `--background` starts without a window.
        end: Set by a signal that ends the process.
    """
    parser = argparse.ArgumentParser(prog="backscroll run")
    parser.add_argument("--background", action="store_true")
    background: bool = parser.parse_args(list(argv)).background
    paths = Paths.resolve()
    if ask(paths, "hand_over" if background else "show_window") is Owner.APP:
        return 0
    spare_memory()
    sys.setswitchinterval(SWITCH_S)
    QGuiApplication.setDesktopFileName("backscroll")
    application = QApplication(["backscroll"])
    application.setApplicationName("backscroll")
    application.setApplicationDisplayName(words.shared.APP)
    application.setStyle("Fusion")
    application.setWindowIcon(app_icon())
    application.setQuitOnLastWindowClosed(False)
    QLocale.setDefault(QLocale.system())
    app = App(application, paths, end, background=background)
    try:
        app.start()
        return application.exec()
    finally:
        app.close()


class App(QObject):
    """Everything that lives as long as the process.

    Args:
        application: Qt's.
        paths: The installation.
        end: Set by a signal that ends the process.
        background: Start without a window.
    """

    def __init__(self, application: QApplication, paths: Paths, end: Told, *, background: bool) -> None:
        super().__init__()
        self._application = application
        self._background = background
        self._is_quitting = False
        self._tray_tries = 0
        self._history: History | None = None
        self._collector = Collector()
        self.tasks = Tasks(self._task_failed, after_each=self._collector.step)
        self._undo_hooks = errors.install_hooks(lambda trouble: self.tasks.later(lambda: self._show_bug(trouble)))
        self._signals = EndSignals(end)
        self._signals.told.connect(self.quit)
        self.bridge = Bridge()
        self.host = EngineHost(paths, self.bridge, self.tasks)
        self.theme = Theme(application, self.host.settings.theme)
        self.pulse = PulseKeeper(self.tasks, self.bridge)
        backend = choose_backend(sys.platform, QGuiApplication.platformName(), os.environ)
        self.hotkey = HotkeyKeeper(backend)
        self.tray = Tray(self.pulse.pulse)
        self._has_tray = QSystemTrayIcon.isSystemTrayAvailable()
        self.services = Services(
            paths=paths,
            theme=self.theme,
            tasks=self.tasks,
            host=self.host,
            pulse=self.pulse,
            hotkey=self.hotkey,
            autostart=this_autostart(),
            claude=Claude(paths),
            opener=SystemOpener(),
            now=time.time,
            history=lambda: self._history,
            open=self.perform,
        )
        self.window = self._search_window(as_program=not self._has_tray and not background)
        self.windows = Windows(self.services)
        self._trouble = TroubleBox()
        self._quiet = QTimer(self)
        self._quiet.setSingleShot(True)
        self._quiet.timeout.connect(give_back)
        self._join()

    def _search_window(self, *, as_program: bool) -> SearchWindow:
        paths, settings = self.services.paths, self.host.settings
        controller = SearchController(self.tasks, self.services.now)
        window = SearchWindow(
            theme=self.theme,
            tasks=self.tasks,
            controller=controller,
            memory=MemoryFile(paths.state / "desktop.json"),
            opener=self.services.opener,
            find_file=lambda session: transcript_of(session, roots_of(settings, os.environ, Path.home())),
            now=self.services.now,
            as_program=as_program,
        )
        window.wanted.connect(self.perform)
        window.closed.connect(self.quit)
        window.appeared.connect(self.host.warm)
        return window

    def _join(self) -> None:
        self.host.started.connect(self._engine_started)
        self.host.stopped.connect(self._engine_stopped)
        self.host.failed.connect(self._engine_failed)
        self.host.outdone.connect(self._application.quit)
        self.bridge.window_requested.connect(self._window_requested)
        self.bridge.chunks_added.connect(self._chunks_added)
        self.pulse.changed.connect(self._pulse_changed)
        self.hotkey.pressed.connect(self._hotkey_pressed)
        self.hotkey.changed.connect(self._hotkey_changed)
        self.tray.wanted.connect(self.perform)

    # Life ----------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Show what is to be seen at once, and start the engine behind it."""
        if self._has_tray:
            self.tray.show()
        elif self._background:
            QTimer.singleShot(TRAY_WAIT_MS, self._look_for_tray)
        else:
            self._say_no_tray()
        self.hotkey.try_keys(self.host.settings.hotkey)
        self.host.start()
        if self._background:
            return
        if self.window.remembered.greeted or not self._has_tray:
            self.window.present()
        else:
            self.perform("first_run")

    def quit(self) -> None:
        """Stop the engine in order, then the process."""
        if self._is_quitting:
            return
        self._is_quitting = True
        self.hotkey.release()
        self.tray.hide()
        self.window.hide()
        self.windows.close()
        self._trouble.close()
        QTimer.singleShot(QUIT_MS, self._application.quit)
        self.host.stop(self._application.quit)

    def close(self) -> None:
        """Put back what was changed in this process."""
        self.bridge.detach()
        self.tasks.close()
        self.host.end()
        self._signals.close()
        self._undo_hooks()
        self._collector.close()

    def _look_for_tray(self) -> None:
        """A panel that was not there when the session began may have come."""
        self._tray_tries += 1
        if QSystemTrayIcon.isSystemTrayAvailable():
            self._has_tray = True
            self.tray.show()
        elif self._tray_tries < TRAY_TRIES:
            QTimer.singleShot(TRAY_WAIT_MS, self._look_for_tray)
        else:
            # Nobody asked for a window: it waits on the task bar.
            self.window.deleteLater()
            self.window = self._search_window(as_program=True)
            self.window.attach(self._history)
            self.window.showMinimized()
            self._say_no_tray()

    def _say_no_tray(self) -> None:
        if not self.window.remembered.no_tray_said:
            self.window.say_notice(words.tray.NO_TRAY)
            self.window.remember(replace(self.window.remembered, no_tray_said=True))

    # The engine ----------------------------------------------------------------------------------------------------

    def _engine_started(self, history: History) -> None:
        self._history = history
        self.pulse.engine_started(history)
        self.window.attach(history)
        self.windows.attach(history)
        self._read_connection()
        self._read_projects()

    def _engine_stopped(self) -> None:
        self._history = None
        self.window.attach(None)
        self.windows.attach(None)
        self.pulse.engine_gone(is_starting=not self._is_quitting)

    def _engine_failed(self, error: Exception) -> None:
        trouble = errors.trouble_of(error)
        self.pulse.engine_gone(trouble)
        self.window.say_notice(f"{trouble.title}. {trouble.text}")

    def _chunks_added(self, _chunks: int) -> None:
        self._collector.step()
        if self.window.isVisible():
            self.window.controller.refresh()

    def _pulse_changed(self, pulse: Pulse) -> None:
        self.tray.show_pulse(pulse)
        if pulse.status is not None and not pulse.is_busy:
            self._quiet.start(QUIET_MS)
        else:
            self._quiet.stop()

    def _read_connection(self) -> None:
        claude = self.services.claude
        self.tasks.run(
            lambda _: claude.connection().state,
            self.pulse.connection_known,
            lambda error: logger.info("Claude Code's configuration could not be read: %s", type(error).__name__),
        )

    def _read_projects(self) -> None:
        """Names for the completion of `project:`."""
        history = self._history
        if history is not None:
            self.tasks.run(lambda _: project_names(history), self.window.bar.set_projects, errors.log_bug)

    # What is asked for ---------------------------------------------------------------------------------------------

    def perform(self, name: str) -> None:
        """Do what a menu, a key or another window asks for, by the name the tray uses."""
        match name:
            case "search":
                self.window.toggle()
            case "quit":
                self.quit()
            case "pause":
                self.host.pause()
            case "pause_hour":
                self.host.pause(HOUR_S)
            case "resume":
                self.host.resume()
            case "greeted":
                self.window.remember(replace(self.window.remembered, greeted=True))
            case "show_search":
                self.window.present()
            case "sample":
                start_sample()
            case _:
                if self.window.isVisible():
                    self.window.dismiss()
                self.windows.open(name)

    def _window_requested(self, action: str) -> None:
        if action == "show":
            self.window.present()
        else:
            self.window.toggle()

    def _hotkey_pressed(self) -> None:
        self.window.toggle()

    def _hotkey_changed(self) -> None:
        self.tray.hotkey = self.hotkey.shown
        problem = self.hotkey.problem
        self.window.say_notice(
            "" if problem is None else " ".join((f"{problem.title}.", problem.message, problem.hint))
        )

    def _task_failed(self, error: Exception) -> None:
        errors.log_bug(error)
        self._show_bug(errors.trouble_of(error))

    def _show_bug(self, trouble: errors.Trouble) -> None:
        self._trouble.show(trouble)


def start_sample() -> None:
    """Start a second app on the invented history, in a throw-away installation of its own."""
    command = [word for word in start_command() if word != "--background"]
    spawn_detached([*command, "--sample"], engine_environment(os.environ, home=None), Path.home())


def project_names(history: History) -> list[str]:
    """Return the last parts of all working directories, the busiest first."""
    rows = history.coverage(by="project", limit=300).by or ()
    return list(dict.fromkeys(name for row in rows if (name := shown.project_name(row.project))))
