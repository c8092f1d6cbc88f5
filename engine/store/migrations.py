"""Brings a database to the present schema: named steps in order, each in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.store.archived import SCHEMA as ARCHIVE_TABLES
from engine.store.errors import StoreTooNew, known_errors
from engine.store.generations import SCHEMA as VECTOR_TABLES
from engine.store.redactions import SCHEMA as REDACTION_TABLES
from engine.store.schema import VERSION_1
from engine.store.usage import SCHEMA as USAGE_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema."""

    version: int
    name: str
    apply: Callable[[apsw.Connection], None]


def _create(connection: apsw.Connection) -> None:
    connection.execute(VERSION_1)
    connection.execute(USAGE_TABLES)


def _add_vectors(connection: apsw.Connection) -> None:
    connection.execute(VECTOR_TABLES)


def _add_safekeeping(connection: apsw.Connection) -> None:
    connection.execute(ARCHIVE_TABLES)
    connection.execute(REDACTION_TABLES)


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "history", _create),
    Migration(2, "vectors", _add_vectors),
    Migration(3, "safekeeping", _add_safekeeping),
)


def schema_version(connection: apsw.Connection) -> int:
    """Return the version a database is at; 0 for an empty one."""
    return int(connection.pragma("user_version"))


def pending(connection: apsw.Connection, migrations: tuple[Migration, ...] = MIGRATIONS) -> tuple[Migration, ...]:
    """Return the steps a database does not have yet.

    Raises:
        StoreTooNew: A newer Backscroll wrote it.
    """
    version = schema_version(connection)
    newest = migrations[-1].version
    if version > newest:
        raise StoreTooNew(
            "This index was written by a newer Backscroll",
            f"It has schema version {version}; this program knows versions up to {newest}.",
            "Install the newer version again, or point BACKSCROLL_HOME at another folder.",
        )
    return tuple(each for each in migrations if each.version > version)


def migrate(connection: apsw.Connection, migrations: tuple[Migration, ...] = MIGRATIONS) -> tuple[str, ...]:
    """Apply the pending steps and return their names.

    Raises:
        StorageFailure: The database is too new, or the disk refused.
    """
    with known_errors("Preparing the index"):
        applied: list[str] = []
        for step in pending(connection, migrations):
            connection.execute("BEGIN IMMEDIATE")
            try:
                step.apply(connection)
                connection.pragma("user_version", step.version)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            applied.append(step.name)
        return tuple(applied)
