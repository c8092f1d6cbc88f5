"""What indexing cannot be faster than, each as a process that loads nothing else: see `index_start`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import apsw
import orjson

GROUP = 2_000


def parse(projects: Path) -> None:
    """Read every line and parse it."""
    for file in sorted(projects.rglob("*.jsonl")):
        with file.open("rb") as lines:
            for line in lines:
                orjson.loads(line)


def insert(database: Path) -> None:
    """Put the texts of an index into a bare table, a transaction for every few thousand."""
    source = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    texts = list(source.execute("SELECT text FROM texts"))
    with tempfile.TemporaryDirectory() as folder:
        connection = apsw.Connection(str(Path(folder, "bare.db")))
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("CREATE VIRTUAL TABLE search USING fts5 (words, content = '', contentless_delete = 1)")
        for start in range(0, len(texts), GROUP):
            with connection:
                connection.executemany("INSERT INTO search (words) VALUES (?)", texts[start : start + GROUP])
        connection.close()


if __name__ == "__main__":
    {"parse": parse, "insert": insert}[sys.argv[1]](Path(sys.argv[2]))
