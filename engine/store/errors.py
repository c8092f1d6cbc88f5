"""What can go wrong with the database, in words: the disk is full, the file is damaged, another program holds it.

Everything else that SQLite reports is our bug and keeps its traceback (after qutebrowser's `KnownError`/`BugError`).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from engine.core.errors import Cancelled, StorageFailure

if TYPE_CHECKING:
    from collections.abc import Generator


class StoreFull(StorageFailure):
    """The disk is full; what was being written was rolled back and will be tried again."""

    code = "disk_full"


class StoreDamaged(StorageFailure):
    """Pages of the database cannot be read."""

    code = "store_damaged"


class StoreReadOnly(StorageFailure):
    """The database or its folder cannot be written."""

    code = "store_read_only"


class StoreTooNew(StorageFailure):
    """A newer Backscroll wrote this database."""

    code = "store_too_new"


class StoreMissing(StorageFailure):
    """There is no database yet."""

    code = "store_missing"


class StoreBusy(StorageFailure):
    """Another program holds the database."""

    code = "store_busy"


class StoreClosed(StorageFailure):
    """The database was closed while the call was waiting."""

    code = "store_closed"


@contextmanager
def known_errors(what: str) -> Generator[None]:
    """Turn SQLite's environment errors into ours.

    Args:
        what: What was being done, for the message ("Indexing").

    Raises:
        StorageFailure: The environment refused.
        Cancelled: The statement was interrupted by its owner.
    """
    try:
        yield
    except apsw.InterruptError as exc:
        raise Cancelled("The search was cancelled") from exc
    except apsw.FullError as exc:
        raise StoreFull(
            f"{what} stopped: the disk is full",
            "Nothing was lost; the unfinished step was undone.",
            "Free some space; Backscroll goes on by itself.",
        ) from exc
    except (apsw.CorruptError, apsw.NotADBError) as exc:
        raise StoreDamaged(
            f"{what} stopped: the index is damaged",
            "Transcripts and the archive are not affected; the index can be rebuilt from them.",
            "Run `backscroll reindex --full`.",
        ) from exc
    except (apsw.ReadOnlyError, apsw.PermissionsError, apsw.CantOpenError) as exc:
        raise StoreReadOnly(
            f"{what} stopped: the data folder cannot be written",
            "",
            "Check that the folder shown by `backscroll status` exists and belongs to you.",
        ) from exc
    except apsw.IOError as exc:
        raise StorageFailure(
            f"{what} stopped: the disk reported an error",
            f"SQLite says: {exc}.",
            "Check the disk, its free space and your quota; if it does not go on by itself, start Backscroll again.",
        ) from exc
    except apsw.BusyError as exc:
        raise StoreBusy(
            f"{what} waited too long for the database",
            "Another program has it open and is writing.",
            "Close other programs that use the index, then try again.",
        ) from exc
