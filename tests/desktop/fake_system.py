"""A system that does nothing: a clock that stands, other programs that only are remembered, autostart, hotkeys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from desktop.hotkey.base import HotkeyRefused, HotkeySignals, Keys

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_773_316_800.0
"""2026-03-12 12:00 UTC."""


@dataclass
class Moment:
    """A clock that stands until it is moved."""

    seconds: float = NOW

    def __call__(self) -> float:
        return self.seconds


@dataclass
class FakeOpener:
    """Remembers what would have been started."""

    has_terminal: bool = True
    commands: list[str] = field(default_factory=list[str])
    files: list[Path] = field(default_factory=list["Path"])
    links: list[str] = field(default_factory=list[str])

    def terminal(self, command: str) -> bool:
        if self.has_terminal:
            self.commands.append(command)
        return self.has_terminal

    def file(self, path: Path) -> bool:
        self.files.append(path)
        return True

    def link(self, url: str) -> bool:
        self.links.append(url)
        return url.startswith("https:")


@dataclass
class FakeAutostart:
    """An autostart that is a flag."""

    enabled: bool = False
    failure: OSError | None = None

    def is_enabled(self) -> bool:
        return self.enabled

    def enable(self) -> None:
        if self.failure is not None:
            raise self.failure
        self.enabled = True

    def disable(self) -> None:
        self.enabled = False


class FakeHotkey(HotkeySignals):
    """A system in which some keys are taken."""

    def __init__(self, taken: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.taken = taken
        self.keys: Keys | None = None

    def replace(self, keys: Keys) -> None:
        if keys.text in self.taken:
            raise HotkeyRefused(
                f"{keys.text} could not be claimed", "Another program uses these keys.", "Choose others."
            )
        self.keys = keys

    def release(self) -> None:
        self.keys = None
