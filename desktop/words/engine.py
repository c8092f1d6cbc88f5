"""The start and the end of the engine inside the app."""

from __future__ import annotations

from typing import Final

QUITTING: Final = "Closing…"
OTHER_RUNS_TITLE: Final = "Backscroll is already running"
OTHER_RUNS_MESSAGE: Final = "Another program of this installation owns the history and does not give way."
OTHER_RUNS_HINT: Final = "End it (`backscroll status` shows its process), then start the app again."
NO_START: Final = "Backscroll cannot start"
