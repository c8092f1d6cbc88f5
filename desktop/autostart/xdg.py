"""Autostart on Linux and the BSDs: one desktop entry (Desktop Application Autostart Specification)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from engine.core.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NAME: Final = "backscroll.desktop"
_RESERVED: Final = frozenset(" \t\n\"'\\><~|&;$*?#()`")


class XdgAutostart:
    """Writes and removes one file.

    Args:
        folder: `$XDG_CONFIG_HOME/autostart`.
        command: What is started.
        working_directory: For a checkout that is not installed.
    """

    def __init__(self, folder: Path, command: Sequence[str], *, working_directory: Path | None = None) -> None:
        self._file = folder / NAME
        self._command = tuple(command)
        self._working_directory = working_directory

    def is_enabled(self) -> bool:
        """Return whether the entry is there and not switched off by the desktop's own settings."""
        try:
            lines = self._file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return False
        off = {"hidden=true", "x-gnome-autostart-enabled=false"}
        return not off & {line.replace(" ", "").lower() for line in lines}

    def enable(self) -> None:
        """Write the entry.

        Raises:
            OSError: It cannot be written.
        """
        self._file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._file, self.entry().encode("utf-8", "surrogateescape"))

    def disable(self) -> None:
        """Remove the entry.

        Raises:
            OSError: It cannot be removed.
        """
        self._file.unlink(missing_ok=True)

    def entry(self) -> str:
        """Return the desktop entry."""
        lines = [
            "[Desktop Entry]",
            "Type=Application",
            "Name=Backscroll",
            "Comment=Search and memory for Claude Code sessions",
            f"Exec={' '.join(quoted(word) for word in self._with_path())}",
            "Icon=backscroll",
            "Terminal=false",
            "X-GNOME-Autostart-enabled=true",
        ]
        return "\n".join(lines) + "\n"

    def _with_path(self) -> tuple[str, ...]:
        if self._working_directory is None:
            return self._command
        # A checkout is found through PYTHONPATH: `-P` keeps the working directory out of it.
        return ("env", f"PYTHONPATH={os.fspath(self._working_directory)}", *self._command)


def quoted(word: str) -> str:
    """Return an argument as the Exec key wants it (Desktop Entry Specification, "The Exec key")."""
    word = word.replace("%", "%%")
    if not word or set(word) & _RESERVED:
        for character in ("\\", '"', "`", "$"):
            word = word.replace(character, f"\\{character}")
        # The value is itself a string in which a backslash is written twice.
        word = '"' + word.replace("\\", "\\\\") + '"'
    return word
