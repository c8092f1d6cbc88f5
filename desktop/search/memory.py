"""What the search window remembers between starts: pinned sessions, earlier queries, its size. `state/desktop.json`."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from engine.core.files import write_atomically
from engine.core.models.sessions import SessionRow

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)

MAX_QUERIES = 100
MAX_PINS = 50
_PIN_FIELDS = ("session_id", "title", "project", "started_at", "last_at", "messages", "prompts", "on_disk",
               "archived", "resume_command", "cwd", "branch")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Remembered:
    """The window's memory."""

    pins: tuple[SessionRow, ...] = ()
    queries: tuple[str, ...] = ()
    """Oldest first."""
    size: tuple[int, int] | None = None
    preview: bool = True
    greeted: bool = False
    """The first-run card has been seen."""
    no_tray_said: bool = False
    """It was said once that this desktop has no tray."""

    def with_query(self, query: str) -> Remembered:
        """Remember a query, which becomes the newest."""
        query = query.strip()
        if not query:
            return self
        others = [each for each in self.queries if each != query]
        return replace(self, queries=(*others, query)[-MAX_QUERIES:])

    def with_pin(self, session: SessionRow) -> Remembered:
        """Pin a session, or take the pin out when it is pinned."""
        others = tuple(each for each in self.pins if each.session_id != session.session_id)
        if len(others) < len(self.pins):
            return replace(self, pins=others)
        return replace(self, pins=(session, *others)[:MAX_PINS])


class MemoryFile:
    """Reads and writes the memory. A damaged file counts as none: nothing of it is worth an error."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> Remembered:
        """Return what is remembered."""
        try:
            stored: dict[str, Any] = json.loads(self._file.read_text(encoding="utf-8"))
            size = stored.get("size")
            return Remembered(
                pins=tuple(SessionRow(**pin) for pin in stored.get("pins", [])),
                queries=tuple(str(each) for each in stored.get("queries", [])),
                size=(int(size[0]), int(size[1])) if size else None,
                preview=bool(stored.get("preview", True)),
                greeted=bool(stored.get("greeted", False)),
                no_tray_said=bool(stored.get("no_tray_said", False)),
            )
        except FileNotFoundError:
            return Remembered()
        except (OSError, ValueError, TypeError, AttributeError, LookupError):
            logger.info("The search window's memory could not be read; it starts anew")
            return Remembered()

    def write(self, memory: Remembered) -> None:
        """Store it.

        Raises:
            OSError: The file cannot be written.
        """
        stored = asdict(memory)
        stored["pins"] = [{name: getattr(pin, name) for name in _PIN_FIELDS} for pin in memory.pins]
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(self._file, json.dumps(stored, indent=1).encode())
