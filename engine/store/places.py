"""Where messages stand: a message's owner (its row in `messages`) and its further places (`copies`).

A message that several files hold belongs to the place with the lowest rank, whichever was read first.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.store.rows import Row, row, rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

_NO_TIME = 1 << 62


@dataclass(frozen=True, slots=True)
class Place:
    """A message where it stands in one file."""

    message: int
    key: int
    uuid: bytes | str
    parent: int | None
    fingerprint: int
    session: int
    session_name: str
    file: int
    path: str
    offset: int
    length: int
    part: int
    generation: int
    time_ms: int | None
    sidechain: int
    copied: int
    copy_kind: int
    file_first_ms: int | None

    @property
    def rank(self) -> tuple[int, int, int, int, int, str, str]:
        """Order of the places of one message; the first one owns it.

        A resumed copy has a later time (up to 2.0.20 it was rewritten). A fork has the same time, but says on the line
        where it came from, or its file began later, or its line stands nearer to the beginning because a fork copies
        the conversation without the notes between its lines (transcripts.md, section 4).
        """
        return (
            self.copied,
            self.sidechain,
            _NO_TIME if self.time_ms is None else self.time_ms,
            _NO_TIME if self.file_first_ms is None else self.file_first_ms,
            -self.offset,
            self.session_name,
            self.path,
        )


_COLUMNS = """m.id, m.key, m.uuid, m.parent, m.fingerprint, m.session_id, s.session_id, m.file_id,
    r.path || '/' || f.path, m.offset, m.length, m.part, m.generation, m.time_ms, m.sidechain, m.copied, m.copy_kind,
    f.first_ms FROM messages m JOIN sessions s ON s.id = m.session_id JOIN files f ON f.id = m.file_id
    JOIN roots r ON r.id = f.root_id"""


@dataclass(slots=True)
class PlaceTable:
    """Reads and writes places on the writer's thread."""

    connection: apsw.Connection

    def owner(self, message: int) -> Place | None:
        """Return the place that owns a message."""
        found = row(self.connection, f"SELECT {_COLUMNS} WHERE m.id = ?", (message,))
        return None if found is None else Place(*found)

    def with_key(self, key: int) -> Place | None:
        """Return the owner of the message that goes by a key, its own or a copy's."""
        found = row(self.connection, f"SELECT {_COLUMNS} WHERE m.key = ?", (key,)) or row(
            self.connection, f"SELECT {_COLUMNS} WHERE m.id = (SELECT message_id FROM copies WHERE key = ?)", (key,)
        )
        return None if found is None else Place(*found)

    def known(self, keys: Iterable[int]) -> tuple[dict[int, int], dict[int, Place]]:
        """Return the messages that go by some keys: message numbers by key, and their owners by number."""
        wanted = (json.dumps(list(keys)),)
        places: dict[int, Place] = {}
        numbers: dict[int, int] = {}
        for found in rows(
            self.connection, f"SELECT {_COLUMNS} WHERE m.key IN (SELECT value FROM json_each(?))", wanted
        ):
            place = Place(*found)
            places[place.message] = place
            numbers[place.key] = place.message
        for found in rows(
            self.connection,
            f"SELECT c.key, {_COLUMNS} JOIN copies c ON c.message_id = m.id"
            " WHERE c.key IN (SELECT value FROM json_each(?))",
            wanted,
        ):
            place = Place(*found[1:])
            places[place.message] = place
            numbers.setdefault(found[0], place.message)
        return numbers, places

    def claims(self, keys: Iterable[int]) -> dict[int, int]:
        """Return messages that say they are copies of one of these keys, by that key."""
        found = rows(
            self.connection,
            "SELECT original, message_id FROM claims WHERE original IN (SELECT value FROM json_each(?))",
            (json.dumps(list(keys)),),
        )
        return {each[0]: each[1] for each in found}

    def claim(self, original: int, message: int) -> None:
        """Note that a message says it is a copy of the one with this key."""
        self.connection.execute(
            "INSERT OR REPLACE INTO claims (original, message_id) VALUES (?, ?)", (original, message)
        )

    def elsewhere(self, fingerprints: Iterable[int], file: int) -> frozenset[int]:
        """Return the fingerprints that a message of another file has too."""
        found = rows(
            self.connection,
            """SELECT j.value FROM json_each(?) j WHERE EXISTS (
                 SELECT 1 FROM messages m WHERE m.fingerprint = j.value AND m.file_id <> ?)""",
            (json.dumps(list(fingerprints)), file),
        )
        return frozenset(each[0] for each in found)

    def alike(self, fingerprint: int, parents: Iterable[int] | None, file: int) -> list[Place]:
        """Return messages with a fingerprint that do not stand in a file, in the order they were said.

        Args:
            fingerprint: What they have in common.
            parents: Keys of which one must be their parent's; None for any.
            file: The file.
        """
        listed = "" if parents is None else f"AND m.parent IN ({', '.join(map(str, parents)) or 'NULL'})"
        found = rows(
            self.connection,
            f"""SELECT {_COLUMNS} WHERE m.fingerprint = ?1 {listed} AND m.file_id <> ?2
                AND NOT EXISTS (SELECT 1 FROM copies c WHERE c.message_id = m.id AND c.file_id = ?2) ORDER BY m.id""",
            (fingerprint, file),
        )
        return [Place(*each) for each in found]

    def others(self, message: int) -> list[Row]:
        """Return (file, session, key, parent, time) of a message's places beside its owner's."""
        return rows(
            self.connection,
            "SELECT file_id, session_id, key, parent, time_ms FROM copies WHERE message_id = ?",
            (message,),
        )

    def in_file(self, message: int, file: int) -> Row | None:
        """Return (offset, part, length, generation) of a message's copy in a file."""
        return row(
            self.connection,
            "SELECT offset, part, length, generation FROM copies WHERE message_id = ? AND file_id = ?",
            (message, file),
        )

    def add_copy(self, message: int, place: Place) -> None:
        """Note a further place of a message."""
        self.connection.execute(
            """INSERT OR REPLACE INTO copies (file_id, offset, part, message_id, session_id, key, uuid, length,
               generation, time_ms, copy_kind, parent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                place.file, place.offset, place.part, message, place.session, place.key, place.uuid, place.length,
                place.generation, place.time_ms, place.copy_kind, place.parent,
            ),
        )  # fmt: skip

    def remove_copy(self, file: int, offset: int, part: int) -> None:
        """Forget a further place."""
        self.connection.execute(
            "DELETE FROM copies WHERE file_id = ? AND offset = ? AND part = ?", (file, offset, part)
        )
