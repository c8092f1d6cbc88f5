"""A small transcript source: sessions in a dictionary, searched the way the protocol says."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.knowledge.evidence import squeeze
from engine.knowledge.transcripts import TranscriptMessage


@dataclass
class FakeTranscripts:
    """Holds messages in memory."""

    messages: list[TranscriptMessage] = field(default_factory=list[TranscriptMessage])

    def say(self, session: str, uuid: str, role: str, text: str, at: str = "2026-04-30T10:15:30.123Z") -> None:
        self.messages.append(TranscriptMessage(session, uuid, at, role, text))

    def message(self, session_id: str, message_uuid: str) -> TranscriptMessage | None:
        found = (one for one in self.messages if (one.session_id, one.message_uuid) == (session_id, message_uuid))
        return next(found, None)

    def find_quote(
        self, quote: str, *, session_id: str | None, message_uuid: str | None, limit: int
    ) -> tuple[TranscriptMessage, ...]:
        found = [
            one
            for one in self.messages
            if squeeze(quote) in squeeze(one.text)
            and (session_id is None or one.session_id.startswith(session_id))
            and (message_uuid is None or one.message_uuid == message_uuid)
        ]
        return tuple(found[:limit])
