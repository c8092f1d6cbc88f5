"""What is copied: the text of a hit, and quotations that say where they stand. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from desktop import format as shown
from desktop import words
from desktop.search.document import plain_text
from desktop.search.rows import HitRow, RecordItem

if TYPE_CHECKING:
    from desktop.search.rows import Row
    from engine.core.models.hits import Hit
    from engine.core.models.sessions import MessageView, Reading, SessionRow

QUOTE: Final = 300
"""Characters of a citation's quotation."""


def hit_text(hit: Hit, reading: Reading) -> str:
    """Return the whole message of a hit, or its snippet where the message was not read."""
    message = next((each for each in reading.messages if each.in_hit), None)
    return plain_text(message) if message is not None else shown.plain(hit.snippet)


def row_citation(row: Row | None) -> str | None:
    """Return a citation of a row, None where there is nothing to quote."""
    if isinstance(row, HitRow):
        hit = row.hit
        place = (hit.session_title, hit.project, hit.timestamp)
        return _citation(shown.one_line(hit.snippet, QUOTE), place, hit.session_id, hit.message_uuid)
    if isinstance(row, RecordItem):
        return words.search.record_citation(row.title, row.id)
    return None


def message_citation(session: SessionRow, message: MessageView) -> str:
    """Return a citation of a message."""
    place = (session.title, session.project, message.timestamp)
    return _citation(shown.one_line(plain_text(message), QUOTE), place, session.session_id, message.message_uuid)


def _citation(quote: str, place: tuple[str | None, str | None, str | None], session: str, message: str) -> str:
    """Return a quotation with where it stands: title, project and time."""
    title, project, timestamp = place
    name = shown.one_line(title or words.shared.UNTITLED, 120)
    parts = (name, shown.project_name(project), (timestamp or "")[:16].replace("T", " "))
    return words.search.citation(quote, ", ".join(part for part in parts if part), session, message)
