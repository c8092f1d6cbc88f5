"""What every window of the app may use, made once by `app.py`. Windows know this and nobody else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.autostart.base import Autostart
    from desktop.claude import Claude
    from desktop.engine_host import EngineHost
    from desktop.history import History
    from desktop.hotkey.keeper import HotkeyKeeper
    from desktop.opener import Opener
    from desktop.pulse import PulseKeeper
    from desktop.tasks import Tasks
    from desktop.theme import Theme
    from engine.core.paths import Paths


@dataclass(frozen=True, slots=True)
class Services:
    """The app's parts."""

    paths: Paths
    theme: Theme
    tasks: Tasks
    host: EngineHost
    pulse: PulseKeeper
    hotkey: HotkeyKeeper
    autostart: Autostart
    claude: Claude
    opener: Opener
    now: Callable[[], float]
    """Seconds since 1970."""
    history: Callable[[], History | None]
    """The engine's front door, None while there is none. Ask it through `tasks` only."""
    open: Callable[[str], None]
    """Open another window by the name the tray uses."""
