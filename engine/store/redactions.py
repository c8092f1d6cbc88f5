"""Which secrets were replaced before text entered the index, counted and never kept; and whether all of them were.

Text that was stored while the setting was off, or under an older table of shapes, still holds secrets until the doctor
replaces them: whoever reads texts for a reply wraps their columns in `shown`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.store.rows import number
from engine.transcripts.secret_shapes import RULES_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import apsw

SCHEMA = """
CREATE TABLE redactions (
    file_id INTEGER NOT NULL,        -- 0: found by a later pass over the index
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (file_id, kind)
) WITHOUT ROWID;
"""

LATER_PASS = 0
"""The file number under which a pass over what was indexed before counts."""


def add(connection: apsw.Connection, file_id: int, counts: Mapping[str, int]) -> None:
    """Count further secrets of a file."""
    connection.executemany(
        """INSERT INTO redactions (file_id, kind, count) VALUES (?, ?, ?)
           ON CONFLICT DO UPDATE SET count = count + excluded.count""",
        [(file_id, kind, count) for kind, count in counts.items()],
    )


def begin_again(connection: apsw.Connection, file_id: int) -> None:
    """Forget the counts of a file that is read from its beginning."""
    connection.execute("DELETE FROM redactions WHERE file_id = ?", (file_id,))


def totals(connection: apsw.Connection) -> dict[str, int]:
    """Return how many secrets of each kind were replaced."""
    return dict(connection.execute("SELECT kind, sum(count) FROM redactions GROUP BY kind ORDER BY kind"))


# Text that is stored with its secrets ---------------------------------------------------------------------------------

REDACTED_WITH: Final = "redacted_with"
"""Key in `meta`: by which version of the rules all texts have been looked at."""

_ARE_REPLACED: Final = f"(SELECT value >= {RULES_VERSION} FROM meta WHERE name = '{REDACTED_WITH}')"
"""Looked up once for each statement."""


def redacted_with(connection: apsw.Connection) -> int:
    """Return by which version of the rules all texts have been looked at; 0 for by none."""
    return number(connection, "SELECT value FROM meta WHERE name = ?", (REDACTED_WITH,))


def note_redaction(connection: apsw.Connection, version: int) -> None:
    """Remember by which version of the rules all texts have been looked at; 0 when some were not."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (REDACTED_WITH, version))


def shown(column: str) -> str:
    """Return the SQL of a text that goes into a reply: secrets replaced, where the index may still hold some.

    The whole text is looked at, before anything is cut out of it: half a secret has no shape any more.
    """
    return f"CASE WHEN {_ARE_REPLACED} THEN {column} ELSE without_secrets({column}) END"


def teach(connection: apsw.Connection, redact: Callable[[str], str] | None) -> None:
    """Teach a connection what `shown` calls.

    Args:
        connection: A reader's, or the writer's.
        redact: Replaces secrets; None shows texts as they are stored.
    """

    def without_secrets(*values: object) -> str | None:
        (text,) = values
        if not isinstance(text, str):
            return None
        return text if redact is None else redact(text)

    connection.create_scalar_function("without_secrets", without_secrets, 1, deterministic=True)
