"""What Knowledge asks of transcripts: the message that holds a quote. Implemented by whoever owns transcripts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """One message of a session as plain text, from the transcript or the archive."""

    session_id: str
    message_uuid: str
    timestamp: str
    """ISO 8601 with zone."""
    role: str
    text: str
    """Everything said in it, in full fidelity: what a quote is searched in and what is retained."""

    @property
    def sha256(self) -> str:
        """Hash of the text as it is retained (UTF-8, LF)."""
        return hashlib.sha256(self.retained()).hexdigest()

    def retained(self) -> bytes:
        """Return the bytes kept as evidence."""
        return self.text.replace("\r\n", "\n").encode("utf-8", "replace")


class TranscriptSource(Protocol):
    """Reads messages of sessions, from transcripts or the archive."""

    def message(self, session_id: str, message_uuid: str) -> TranscriptMessage | None:
        """Return a message, None when neither transcript nor archive has it."""
        ...

    def find_quote(
        self,
        quote: str,
        *,
        session_id: str | None,
        message_uuid: str | None,
        limit: int,
    ) -> tuple[TranscriptMessage, ...]:
        """Return the messages whose text holds a quote, newest first.

        Runs of blanks count as one blank, so that a quote may be wrapped differently. Calls and results of
        Backscroll's own tools never count, or every request would find itself.

        Args:
            quote: The words.
            session_id: Only this session, or a unique prefix of one; None searches all.
            message_uuid: Only this message.
            limit: At most so many; two are enough to know that a quote is ambiguous.
        """
        ...
