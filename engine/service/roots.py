"""Where transcripts lie, and which working directories are left out."""

from __future__ import annotations

import fnmatch
import os
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.settings import RootSetting, save_setting
from engine.ingest.scanner import existing_roots
from engine.transcripts.discovery import Root, claude_roots

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.core.settings import Settings


class Roots:
    """The transcript roots of one engine.

    Args:
        settings: The person's, which may name more of them.
        fixed: The only ones; None finds them from the environment, the home folder and the settings.
    """

    def __init__(self, settings: Settings, fixed: tuple[Root, ...] | None) -> None:
        self._settings = settings
        self._fixed = fixed

    def all(self) -> tuple[Root, ...]:
        """Return every root there may be, looked for anew: a folder can come while the engine runs."""
        if self._fixed is not None:
            return self._fixed
        named = tuple(Root(Path(each.path).expanduser(), each.label) for each in self._settings.transcripts_roots)
        return claude_roots(os.environ, Path.home()) + named

    def existing(self) -> tuple[Root, ...]:
        """Return those whose folder is there now."""
        return existing_roots(self.all())

    def remember(self, file: Path) -> None:
        """Note roots that only the environment names: an app started at login does not see that environment.

        Args:
            file: The settings file.
        """
        if self._fixed is not None:
            return
        noted = {Path(each.path).expanduser() for each in self._settings.transcripts_roots}
        found = existing_roots(tuple(root for root in self.all() if root.from_environment))
        new = [root for root in found if root.path not in noted]
        if new:
            listed = [
                *self._settings.transcripts_roots,
                *(RootSetting(path=str(root.path), label=root.label) for root in new),
            ]
            value = [{"path": str(each.path), "label": each.label} for each in listed]
            save_setting(file, "transcripts.roots", value)


def exclusion(patterns: tuple[str, ...]) -> Callable[[str | None], bool]:
    """Return the test for working directories that must not be indexed: the pattern itself, or anything below it."""
    expanded = tuple(os.path.expanduser(each).rstrip("/\\") for each in patterns)  # noqa: PTH111 - patterns are no paths

    def is_excluded(cwd: str | None) -> bool:
        if cwd is None or not expanded:
            return False
        return any(fnmatch.fnmatchcase(cwd, each) or fnmatch.fnmatchcase(cwd, f"{each}[/\\]*") for each in expanded)

    return is_excluded
