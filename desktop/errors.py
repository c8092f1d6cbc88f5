"""What happens with errors: those for people become a message, everything else a logged bug with details to copy."""

from __future__ import annotations

import logging
import platform
import sys
import threading
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler, qVersion

from desktop import words
from engine import __version__
from engine.core.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

logger = logging.getLogger(__name__)

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.DEBUG,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error as a window shows it."""

    title: str
    message: str
    hint: str = ""
    details: str = ""
    """For a report: what to copy. Empty when the error explains itself."""

    @property
    def text(self) -> str:
        """Message and hint as one paragraph."""
        return " ".join(part for part in (self.message, self.hint) if part)


def trouble_of(error: BaseException) -> Trouble:
    """Return an error in words."""
    if isinstance(error, EngineError):
        return Trouble(error.title, error.message, error.hint)
    return Trouble(words.trouble.BUG_TITLE, words.trouble.BUG_MESSAGE, words.trouble.BUG_HINT, details_of(error))


def details_of(error: BaseException) -> str:
    """Return what a report of a bug needs: versions and the traceback."""
    trace = "".join(traceback.format_exception(error))
    return (
        f"Backscroll {__version__}, Python {platform.python_version()}, Qt {qVersion()}, "
        f"{platform.platform()}\n\n{trace}"
    )


def log_bug(error: BaseException) -> None:
    """Write an error that is nobody's doing into the log; those for people are shown and need no trace."""
    if not isinstance(error, EngineError):
        logger.error("A task failed", exc_info=error)


def install_hooks(show: Callable[[Trouble], None]) -> Callable[[], None]:
    """Catch what nobody caught, on any thread and from Qt itself, and return the call that undoes it.

    Args:
        show: Called on the thread of the exception.
    """
    before = sys.excepthook, threading.excepthook

    def caught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            before[0](kind, error, trace)
            return
        logger.error("Uncaught", exc_info=(kind, error, trace))
        show(trouble_of(error))

    def caught_in_thread(arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            caught(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)

    def said_by_qt(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        logging.getLogger("desktop.qt").log(_LEVELS.get(kind, logging.WARNING), "%s: %s", context.category, message)

    sys.excepthook, threading.excepthook = caught, caught_in_thread
    qt_before = qInstallMessageHandler(said_by_qt)

    def undo() -> None:
        sys.excepthook, threading.excepthook = before
        qInstallMessageHandler(qt_before)

    return undo
