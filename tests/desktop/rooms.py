"""What tests of the windows beside the search share: the app's parts over fakes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from desktop.bridge import Bridge
from desktop.claude import Claude
from desktop.engine_host import EngineHost
from desktop.hotkey.keeper import HotkeyKeeper
from desktop.pulse import PulseKeeper
from desktop.search.controller import SearchController
from desktop.search.window import SearchWindow
from desktop.services import Services
from engine.core.paths import Paths
from tests.desktop.fake_system import FakeAutostart, FakeHotkey

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from desktop.search.memory import MemoryFile
    from desktop.tasks import Tasks
    from desktop.theme import Theme
    from tests.desktop.fake_system import FakeOpener, Moment

Room = TypeVar("Room", bound="QWidget")
OFFSCREEN = "^This plugin does not support propagateSizeHints"
"""What Qt's offscreen platform says of every shown window that has a smallest size."""


def services_over(folder: Path, theme: Theme, tasks: Tasks, opener: FakeOpener, moment: Moment) -> Services:
    """Return parts that start nothing."""
    paths = Paths.below(folder)
    bridge = Bridge()
    hotkey = HotkeyKeeper(FakeHotkey())
    hotkey.try_keys("Ctrl+Shift+Space")
    return Services(
        paths=paths,
        theme=theme,
        tasks=tasks,
        host=EngineHost(paths, bridge, tasks),
        pulse=PulseKeeper(tasks, bridge),
        hotkey=hotkey,
        autostart=FakeAutostart(),
        claude=Claude(paths),
        opener=opener,
        now=moment,
        history=lambda: None,
        open=lambda _name: None,
    )


@dataclass
class World:
    """What a window uses, and what it asked for."""

    services: Services
    autostart: FakeAutostart
    opener: FakeOpener
    opened: list[str]


class MakesRoom(Protocol):
    """Makes one of the windows beside the search, as the fixture `make_room` does."""

    def __call__(self, kind: Callable[[Services], Room]) -> Room:
        """Make a window; it is closed and its engine let go at the end of the test."""
        ...


class MakesSearch(Protocol):
    """Makes search windows, as the fixture `make_search` does."""

    def __call__(self, *, find_file: Callable[[str], Path | None] = ..., as_program: bool = ...) -> SearchWindow:
        """Make a window over no engine."""
        ...


def no_file(_session: str) -> None:
    """Find no transcript."""


def search_window_over(
    services: Services,
    memory: MemoryFile,
    *,
    find_file: Callable[[str], Path | None] = no_file,
    as_program: bool = False,
) -> SearchWindow:
    """Return a search window made of these parts."""
    return SearchWindow(
        theme=services.theme,
        tasks=services.tasks,
        controller=SearchController(services.tasks, services.now),
        memory=memory,
        opener=services.opener,
        find_file=find_file,
        now=services.now,
        as_program=as_program,
    )
