"""The log: one rotating file per installation, opened by the process that owns the engine and by nobody else.

Records hold ids, sizes, durations and counts; never message text, nor paths of the person's projects above debug.
Importing this module or any other of the engine installs no handler.
"""

from __future__ import annotations

import logging
import sys
from datetime import datetime
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.core.paths import Paths

LOG_FILE_BYTES = 2_000_000
"""Size at which the file is rotated; with the kept ones at most 8 MB of disk."""
LOG_FILES_KEPT = 3

OUR_LOGGERS = ("engine", "desktop")
"""Other packages log from warnings up only: the MCP library and asyncio write a line per message at info."""


def configure_logging(paths: Paths, level: int = logging.INFO, *, to_stderr: bool = False) -> Callable[[], None]:
    """Send log records to the rotating file and return the call that undoes it.

    Two processes must not do this for one installation at the same time (a rotation of one would lose the other's
    records): it belongs after the engine's lock.

    Args:
        paths: The installation; the log folder is created when missing.
        level: Of Backscroll's own records.
        to_stderr: Repeat the records on stderr, for a `serve` in the foreground.

    Raises:
        OSError: The log file cannot be opened.
    """
    paths.logs.mkdir(parents=True, exist_ok=True, mode=0o700)
    handlers: list[logging.Handler] = [
        RotatingFileHandler(
            paths.log_file,
            maxBytes=LOG_FILE_BYTES,
            backupCount=LOG_FILES_KEPT,
            encoding="utf-8",
            # A lone surrogate (cut emoji, odd file name) must not cost the record.
            errors="backslashreplace",
        )
    ]
    if to_stderr:
        handlers.append(logging.StreamHandler(sys.stderr))
    root = logging.getLogger()
    ours = [logging.getLogger(name) for name in OUR_LOGGERS]
    levels_before = [(logger, logger.level) for logger in (root, *ours)]
    for handler in handlers:
        handler.setFormatter(_Formatter("%(asctime)s %(levelname)-7s %(threadName)s %(name)s: %(message)s"))
        root.addHandler(handler)
    root.setLevel(logging.WARNING)
    for logger in ours:
        logger.setLevel(level)

    def undo() -> None:
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
        for logger, level_before in levels_before:
            logger.setLevel(level_before)

    return undo


class _Formatter(logging.Formatter):
    """Local time with its offset, to the millisecond: comparable with the timestamps of the replies."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802 - the base class's signature
        return datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds")
