"""Writing files of the vault so that a crash leaves the old or the new version, never a part of one."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from engine.core.files import sync_folder

if TYPE_CHECKING:
    from pathlib import Path

TEMPORARY = ".backscroll-"
"""Prefix of files being written: a dot-file in the target's folder, which no scan lists (contract 5, point 9)."""


def write_atomic(path: Path, data: bytes) -> None:
    """Put bytes at a path: temporary file, fsync, rename, fsync of the folder. Keeps the permissions of the old file.

    Raises:
        OSError: Nothing changed at the path.
    """
    temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if os.name == "posix":
            temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        temporary.replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    sync_folder(path.parent)


def write_new(path: Path, data: bytes) -> None:
    """Put bytes at a path that must be free.

    Raises:
        OSError: There is something at the path, or it cannot be written.
    """
    if os.path.lexists(path):
        raise FileExistsError(f"{path.name} exists")
    write_atomic(path, data)


def remove_leftovers(folder: Path) -> int:
    """Delete temporary files a crash left in a folder, and return how many."""
    count = 0
    for path in folder.glob(f"{TEMPORARY}*.tmp"):
        path.unlink(missing_ok=True)
        count += 1
    return count
