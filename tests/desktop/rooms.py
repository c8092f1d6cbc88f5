"""What tests of the windows beside the search share: the app's parts over fakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.bridge import Bridge
from desktop.claude import Claude
from desktop.engine_host import EngineHost
from desktop.hotkey.keeper import HotkeyKeeper
from desktop.pulse import PulseKeeper
from desktop.services import Services
from engine.core.paths import Paths
from tests.desktop.fakes import FakeAutostart, FakeHotkey

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.tasks import Tasks
    from desktop.theme import Theme
    from tests.desktop.fakes import FakeOpener, Moment

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
