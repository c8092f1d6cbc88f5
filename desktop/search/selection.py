"""What is selected in the search window, and how to say what came of a deed on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from desktop.errors import log_bug, trouble_of
from desktop.search.rows import HitRow, SessionItem

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.history import History
    from desktop.search.window import SearchWindow
    from desktop.tasks import Tasks
    from engine.core.models.hits import Hit
    from engine.core.models.sessions import Reading, SessionRow

TROUBLE_MS: Final = 4000
"""How long is said what went wrong: it takes longer to read than "Copied"."""


class Selection:
    """The row or the session that a deed is about.

    Args:
        window: Whose.
        tasks: Threads.
    """

    def __init__(self, window: SearchWindow, tasks: Tasks) -> None:
        self._window = window
        self._tasks = tasks

    @property
    def history(self) -> History | None:
        """The engine's front door, while there is one."""
        return self._window.controller.history

    @property
    def session_id(self) -> str:
        """The session that is meant; empty without one."""
        window = self._window
        if window.in_session:
            return window.session.session.session_id if window.session.session is not None else ""
        row = window.row
        return row.session_id if row is not None else ""

    def session(self) -> SessionRow | str | None:
        """Return the session that is meant, or its id when only that is known."""
        if self._window.in_session:
            return self._window.session.session
        row = self._window.row
        if isinstance(row, SessionItem):
            return row.session
        if not isinstance(row, HitRow):
            return None
        reading = self._window.preview.reading
        if reading is not None and reading.session.session_id == row.session_id:
            return reading.session
        return row.session_id

    def with_session(self, session_id: str, then: Callable[[SessionRow], None]) -> None:
        """Read a session and go on with it."""
        history = self.history
        if history is not None:
            self._tasks.run(
                lambda _: history.get_session(session_id, limit=1), lambda found: then(found.session), self.failed
            )

    def with_context(self, hit: Hit, then: Callable[[Reading], object]) -> None:
        """Go on with the message of a hit, which the preview may hold already."""
        history, reading = self.history, self._window.preview.reading
        if reading is not None and any(m.in_hit and m.message_uuid == hit.message_uuid for m in reading.messages):
            then(reading)
        elif history is not None:
            self._tasks.run(lambda _: history.get_context([hit.chunk_id], before=0, after=0), then, self.failed)

    def say(self, text: str, ms: int = 1000) -> None:
        """Say something for a moment."""
        self._window.toast.say(text, ms)

    def failed(self, error: Exception) -> None:
        """Say what went wrong."""
        log_bug(error)
        trouble = trouble_of(error)
        self.say(f"{trouble.title}. {trouble.text}".strip(), TROUBLE_MS)
