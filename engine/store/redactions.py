"""The table of secrets that were replaced before text entered the index, counted by file and kind. Never their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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
