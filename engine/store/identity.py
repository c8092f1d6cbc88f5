"""Which message an occurrence is, when it may be known already under another uuid, and how two become one.

Line identity is the uuid. Copies with new uuids (resumes up to 1.0.x, `/btw` replays) are recognised by the API's own
ids and their text; a person's words alone identify nothing: they must stand between recognised messages. Copies of SDK
forks name their originals (transcripts.md, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.core.ids import message_key
from engine.store.chunks import delete_chunks
from engine.store.rows import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import apsw

    from engine.store.places import Place, PlaceTable
    from engine.transcripts.records import ParsedMessage


@dataclass(slots=True)
class Identities:
    """Recognises the messages of one batch.

    Args of the constructor:
        connection: The writer's.
        places: Where messages stand.
        file: The file of the batch.
        flush: Writes the rows that wait, so that queries see them.
    """

    connection: apsw.Connection
    places: PlaceTable
    file: int
    flush: Callable[[], None]
    touched: set[int] = field(default_factory=set[int])
    """Sessions in which something changed."""
    merged: dict[int, int] = field(default_factory=dict[int, int])
    """Messages that became part of another one, by number."""
    _numbers: dict[int, int] = field(default_factory=dict[int, int])
    _owners: dict[int, Place] = field(default_factory=dict[int, "Place"])
    _claims: dict[int, int] = field(default_factory=dict[int, int])
    _elsewhere: frozenset[int] = frozenset()
    _new: set[int] = field(default_factory=set[int])
    """Messages that this batch added: they stand nowhere else, unless they were merged."""

    def prefetch(self, messages: Iterable[ParsedMessage]) -> None:
        """Look up, in a few queries, everything a batch could be known by."""
        keys: set[int] = set()
        for message in messages:
            keys.add(message_key(message.uuid))
            if message.original_uuid is not None:
                keys.add(message_key(message.original_uuid))
        self._numbers, self._owners = self.places.known(keys)
        self._claims = self.places.claims(keys)
        unknown = {each.fingerprint for each in messages if message_key(each.uuid) not in self._numbers}
        self._elsewhere = self.places.elsewhere(unknown, self.file)

    def number(self, key: int) -> int | None:
        """Return the message that goes by a key, as far as this batch asked or told."""
        found = self._numbers.get(key)
        return None if found is None else self.current(found)

    def current(self, message: int) -> int:
        """Return what a message is now, after merges."""
        while message in self.merged:
            message = self.merged[message]
        return message

    def note(self, key: int, message: int, original: str | None, *, is_new: bool = False) -> None:
        """Remember that a message goes by a key, and which message it says it was copied from."""
        self._numbers[key] = message
        if is_new:
            self._new.add(message)
        if original is not None:
            claimed = message_key(original)
            self._claims[claimed] = message
            self.places.claim(claimed, message)

    def forget(self, message: int) -> None:
        """Drop what is remembered of a message's owner, because it changed."""
        self._owners.pop(message, None)

    def owner(self, message: int) -> Place:
        """Return the place that owns a message.

        Raises:
            LookupError: There is no such message.
        """
        found = self._owners.get(message)
        if found is None:
            self.flush()
            found = self.places.owner(message)
            if found is None:
                raise LookupError(message)
            self._owners[message] = found
        return found

    def recognise(self, message: ParsedMessage, key: int) -> Place | None:
        """Return the owner of the message that this is, None for a new one.

        Messages that turn out to be the same become one.
        """
        named = self._named(message, key)
        if named:
            found = {self.current(each) for each in named}
            first, *rest = sorted(found)
            owner = self.owner(first)
            for other in rest:
                owner = self._merge(owner, self.owner(other)) or owner
            is_renamed = owner.file != self.file and self._times(owner.message).keys() != {key}
            return self._with_ancestors(owner, message) if is_renamed else owner
        if message.fingerprint not in self._elsewhere:
            return None
        owner = self._alike(message)
        return None if owner is None else self._with_ancestors(owner, message)

    def _named(self, message: ParsedMessage, key: int) -> list[int]:
        """Return the messages that uuids name: its own, its original's, and those that call it their original."""
        if message.original_uuid is None and key not in self._numbers and key not in self._claims:
            return []  # A new message, as nearly all are.
        keys = [key] if message.original_uuid is None else [key, message_key(message.original_uuid)]
        named = [self._numbers.get(each) for each in keys] + [self._claims.get(each) for each in keys]
        return [each for each in named if each is not None]

    def _alike(self, message: ParsedMessage) -> Place | None:
        """Return the message that is the same by its content."""
        if message.has_strong_id:
            found = self.places.alike(message.fingerprint, None, self.file)
            return found[0] if found else None
        if message.parent_uuid is None:
            return None
        parent_key = message_key(message.parent_uuid)
        parent = self.number(parent_key)
        if parent is None:
            known = self.places.with_key(parent_key)
            parent = None if known is None else known.message
        if parent is None or parent in self._new:
            return None  # What it answers stands nowhere else, so neither does it.
        times = self._times(parent)
        candidates = self.places.alike(message.fingerprint, times, self.file)
        # Claude Code gives all lines of a resumed copy one time. What was typed after resuming has a later one, so the
        # same words said twice in answer to the same message stay two messages.
        mine = message.timestamp_ms == times.get(parent_key)
        return next((each for each in candidates if mine or each.time_ms == times.get(each.parent or 0)), None)

    def _times(self, message: int) -> dict[int, int | None]:
        """Return the keys a message goes by, each with the time it has there."""
        owner = self.owner(message)
        times: dict[int, int | None] = {owner.key: owner.time_ms}
        times.update((key, time_ms) for _, _, key, _, time_ms in self.places.others(message))
        return times

    # Making one of two -----------------------------------------------------------------------------------------

    def _with_ancestors(self, owner: Place, message: ParsedMessage) -> Place:
        """Walk up from a message that has other uuids elsewhere: what it answers, if it reads the same, is the same."""
        self.flush()
        parent = None if message.parent_uuid is None else message_key(message.parent_uuid)
        theirs = self._parents(owner)
        while parent is not None and (one := self.places.with_key(parent)) is not None:
            alike = [each for each in theirs if each.fingerprint == one.fingerprint]
            merges = len(self.merged)
            for each in alike:
                other = self.owner(self.current(each.message))
                if other.message != one.message:
                    one = self._merge(other, one) or one
            if len(self.merged) == merges:
                break
            parent = self._parent_here(one.message)
            theirs = self._parents(one)
        return self.owner(self.current(owner.message))

    def _parents(self, owner: Place) -> list[Place]:
        """Return what a message answers in the files where it stands beside this one."""
        keys = {owner.parent} if owner.file != self.file else set[int | None]()
        keys.update(parent for file, _, _, parent, _ in self.places.others(owner.message) if file != self.file)
        found = [self.places.with_key(key) for key in sorted(key for key in keys if key is not None)]
        return [each for each in found if each is not None]

    def _parent_here(self, message: int) -> int | None:
        """Return the key of what a message answers in this file."""
        owner = self.owner(message)
        if owner.file == self.file:
            return owner.parent
        return next((parent for file, _, _, parent, _ in self.places.others(message) if file == self.file), None)

    def _merge(self, one: Place, other: Place) -> Place | None:
        """Make two messages one and return its owner; None when a file holds both, so that they cannot be the same."""
        self.flush()
        kept, dropped = (one, other) if one.rank <= other.rank else (other, one)
        places = [(each.file, each.session) for each in (kept, dropped)]
        for each in (kept, dropped):
            places += [(file, session) for file, session, *_ in self.places.others(each.message)]
        if len({file for file, _ in places}) < len(places):
            return None
        db = self.connection
        values = (kept.message, dropped.message)
        chunks = rows(db, "SELECT id FROM chunks WHERE message_id = ?", (dropped.message,))
        delete_chunks(db, [each[0] for each in chunks])
        db.execute("DELETE FROM messages WHERE id = ?", (dropped.message,))
        db.execute("UPDATE copies SET message_id = ? WHERE message_id = ?", values)
        db.execute("UPDATE claims SET message_id = ? WHERE message_id = ?", values)
        db.execute("UPDATE messages SET exchange_id = ? WHERE exchange_id = ?", values)
        db.execute("UPDATE chunks SET exchange_id = ? WHERE exchange_id = ?", values)
        db.execute("UPDATE files SET exchange_id = ? WHERE exchange_id = ?", values)
        db.execute("UPDATE files SET side_exchange_id = ? WHERE side_exchange_id = ?", values)
        self.places.add_copy(kept.message, dropped)
        self.merged[dropped.message] = kept.message
        self._new -= {dropped.message, kept.message}
        self._owners.pop(dropped.message, None)
        self._owners[kept.message] = kept
        self.touched.update(session for _, session in places)
        return kept
