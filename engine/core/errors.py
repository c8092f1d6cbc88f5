"""The errors that are for someone: what happened, what it means, what to do.

Everything here is the environment's or the user's doing. Any other exception is a bug and keeps its traceback.
Imported by the shim: standard library only, and nothing heavy.
"""

from __future__ import annotations

from typing import ClassVar


class EngineError(Exception):
    """Something a person or Claude Code can do something about.

    Args:
        title: What happened, a few words ("The index is damaged").
        message: What it means, one or two sentences.
        hint: What to do next: the command, the setting, the number. May be empty.
        candidates: Values that would have been right, nearest first.
    """

    code: ClassVar[str] = "engine_error"
    """Stable machine name, part of an MCP error's text."""

    def __init__(self, title: str, message: str = "", hint: str = "", *, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(title)
        self.title = title
        self.message = message
        self.hint = hint
        self.candidates = candidates

    def __str__(self) -> str:
        return " ".join(part for part in (_sentence(self.title), self.message, self.hint) if part)


class InvalidArgument(EngineError):
    """An argument has the wrong type, range or name. The text says how to call again."""

    code = "invalid_argument"


class NotFound(EngineError):
    """No session, message, chunk or record has this id. The text names the tool that lists ids."""

    code = "not_found"


class Ambiguous(EngineError):
    """An id prefix fits several; `candidates` lists them."""

    code = "ambiguous"


class EngineNotRunning(EngineError):
    """No engine answers on the socket of this data directory."""

    code = "engine_not_running"


class EngineAlreadyRunning(EngineError):
    """Another engine owns this data directory."""

    code = "engine_already_running"


class EngineStopping(EngineError):
    """The engine is closing or restarting; the same call will work again shortly."""

    code = "engine_stopping"


class Cancelled(EngineError):
    """The caller took the question back."""

    code = "cancelled"


class StorageFailure(EngineError):
    """The disk or the database refused: full, read-only, damaged, too new."""

    code = "storage_failure"


class ConfigurationRefused(EngineError):
    """A file of another program cannot be parsed or written, and was left as it is."""

    code = "configuration_refused"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."
