"""Replaces whole files so that a reader sees the old bytes or the new ones, never a part; makes names durable."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def write_atomically(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write beside the file, flush to the disk, then rename over it.

    A symbolic link stays a link: the file it points to is replaced (dotfile managers link their files in). The mode of
    an existing file is kept.

    Args:
        path: The file; its folder must exist.
        data: The new content.
        mode: Permissions of a file that does not exist yet (0600 when none is given).

    Raises:
        OSError: The folder cannot be written, the disk is full, the file is held open (Windows).
    """
    target = Path(os.path.realpath(path))
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mode = 0o600 if mode is None else mode
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".new", dir=target.parent)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(mode)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder last through a power cut. Windows makes names durable with the file."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
