"""Exactly one app for each data directory: asks whoever owns it whether it has a window, over the engine's socket.

The engine's operating-system lock decides who owns the directory; this only finds out what the owner is.
"""

from __future__ import annotations

import logging
from enum import Enum, auto
from typing import TYPE_CHECKING, Literal

from engine import __version__
from engine.core.errors import EngineError, EngineNotRunning
from engine.ipc.client import EngineClient

if TYPE_CHECKING:
    from engine.core.paths import Paths

logger = logging.getLogger(__name__)

Request = Literal["show_window", "toggle_window", "hand_over"]
ANSWER_S = 3.0
"""An engine that is there answers within milliseconds; one that is just stopping may take a moment."""


class Owner(Enum):
    """Who owns the data directory."""

    NOBODY = auto()
    APP = auto()
    """Another tray app. A `show_window` has reached it."""
    ENGINE = auto()
    """An engine without a window. A `hand_over` has reached it."""
    SILENT = auto()
    """Somebody who does not answer, or answers another version only."""


def ask(paths: Paths, request: Request) -> Owner:
    """Send a request to the owner of the data directory and return who it is. Returns at once where there is none."""
    try:
        with EngineClient.connect(paths, version=__version__, timeout_s=ANSWER_S) as client:
            reply = client.call(request)
    except EngineNotRunning as error:
        return Owner.SILENT if isinstance(error.__cause__, TimeoutError) else Owner.NOBODY
    except EngineError as error:
        logger.info("The engine that runs did not take %s: %s", request, error.code)
        return Owner.SILENT
    return Owner.APP if isinstance(reply, dict) and reply.get("window") else Owner.ENGINE
