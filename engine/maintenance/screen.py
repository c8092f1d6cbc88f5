"""What may enter the index, and in which words: nothing that was taken out, no secrets."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from engine.maintenance.removals import FOREVER
from engine.transcripts.facts import opening_of
from engine.transcripts.redaction import Redacted, redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.maintenance.removals import Removals
    from engine.store.batches import FileBatch, Occurrence
    from engine.transcripts.records import ParsedMessage, SessionFact

_NOTHING_KNOWN: Mapping[str, Redacted] = MappingProxyType({})
_SPOKEN_FACTS = frozenset({"custom_title", "ai_title", "last_prompt", "summary"})
"""Facts whose text somebody said."""


class Screen:
    """Looks at each batch between reading and writing. Used on one thread.

    Args:
        removals: What was pruned and forgotten.
        redacts: Replace secrets (setting `privacy.redact`).
    """

    def __init__(self, removals: Removals, *, redacts: bool) -> None:
        self._removals = removals
        self._redacts = redacts

    @property
    def redacts(self) -> bool:
        """Secrets are replaced."""
        return self._redacts

    def is_forgotten(self, session_id: str | None) -> bool:
        """Return True for a session that a person removed for ever."""
        return self._removals.is_forgotten(session_id)

    def pass_on(self, batch: FileBatch, known: Mapping[str, Redacted] = _NOTHING_KNOWN) -> FileBatch:
        """Return the batch without what was taken out, secrets replaced and counted.

        Args:
            batch: As it was read.
            known: What some of its texts become; the others are looked at.
        """
        occurrences = tuple(each for each in batch.occurrences if not self._is_out(each.message))
        facts = tuple(fact for fact in batch.facts if self._removals.of(fact.session_id) is None)
        said = tuple(noted for noted in batch.said if not self.is_forgotten(noted.session_id))
        agents = tuple(agent for agent in batch.agents if not self.is_forgotten(agent.session_id))
        some_went = len(occurrences) != len(batch.occurrences) or len(said) != len(batch.said)
        if some_went or facts != batch.facts or agents != batch.agents:
            batch = replace(batch, occurrences=occurrences, facts=facts, agents=agents, said=said)
        return self._redacted(batch, known) if self._redacts else batch

    def _is_out(self, message: ParsedMessage) -> bool:
        removed = self._removals.of(message.session_id)
        if removed is None:
            return False
        time_ms = message.timestamp_ms
        return removed.before_ms == FOREVER or time_ms is None or time_ms < removed.before_ms

    def _redacted(self, batch: FileBatch, known: Mapping[str, Redacted]) -> FileBatch:
        counts: Counter[str] = Counter()
        occurrences = tuple(_without_secrets(each, known, counts) for each in batch.occurrences)
        facts = tuple(_fact_without_secrets(each, counts) for each in batch.facts)
        agents = tuple(
            each
            if each.description is None
            else replace(each, description=_text_without_secrets(each.description, counts))
            for each in batch.agents
        )
        if not counts:
            return batch
        return replace(batch, occurrences=occurrences, facts=facts, agents=agents, redacted=counts)


def _text_without_secrets(text: str, counts: Counter[str], known: Mapping[str, Redacted] = _NOTHING_KNOWN) -> str:
    found = known.get(text) or redact(text)
    if found.counts:
        counts.update(found.counts)
    return found.text


def _without_secrets(occurrence: Occurrence, known: Mapping[str, Redacted], counts: Counter[str]) -> Occurrence:
    message = occurrence.message
    before = counts.total()
    blocks = tuple(
        block if (text := _text_without_secrets(block.text, counts, known)) == block.text else block._replace(text=text)
        for block in message.blocks
    )
    if counts.total() == before:
        return occurrence
    # The opening is the beginning of the same text, cut anew: half a secret at its end would have no shape.
    opening = None if message.opening is None else opening_of(blocks)
    return occurrence._replace(message=message._replace(blocks=blocks, opening=opening))


def _fact_without_secrets(fact: SessionFact, counts: Counter[str]) -> SessionFact:
    if fact.kind not in _SPOKEN_FACTS:
        return fact
    text = _text_without_secrets(fact.text, counts)
    return fact if text == fact.text else replace(fact, text=text)
