"""A shell that starts nothing: it notes what would have run, and leaves behind what dev.py looks for afterwards."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dev

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CPU_TORCH: dict[str, Any] = {"install": [{"metadata": {"name": "torch", "version": "2.13.0+cpu"}}]}

NO_SUCH_PACKAGE = dev.Stop("Installing packages failed with exit code 1. The program said:\n\nno such package\n")


@dataclass(frozen=True, slots=True)
class FakeShell(dev.Shell):
    """Notes each program and answers as told."""

    fail: str = ""
    """The progress line whose program fails."""
    failure: BaseException = NO_SUCH_PACKAGE
    """How it fails."""
    codes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Exit codes of visible programs, by a word of their command line; 0 for the rest."""
    report: Mapping[str, Any] = field(default_factory=lambda: CPU_TORCH)
    """What pip answers when it is asked which torch it would take."""
    steps: list[str] = field(default_factory=list[str])
    """The progress lines, in order."""
    commands: list[list[str]] = field(default_factory=list[list[str]])
    """Every command line, in order."""

    def quietly(self, what: str, argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> None:
        """Note the step; make what venv and pip would leave."""
        del env
        self.steps.append(what)
        self.commands.append([*argv])
        if what == self.fail:
            raise self.failure
        if "venv" in argv:
            make_environment(Path(argv[-1]))
        for argument in argv:
            if argument.startswith("--report="):
                Path(argument.removeprefix("--report=")).write_text(json.dumps(self.report), encoding="utf-8")

    def visibly(self, argv: Sequence[str], *, env: Mapping[str, str]) -> int:
        """Note the program and answer its exit code."""
        del env
        self.commands.append([*argv])
        return next((code for word, code in self.codes.items() if word in argv), 0)

    def become(self, argv: Sequence[str], *, env: Mapping[str, str]) -> int:
        """Note the program and answer its exit code."""
        return self.visibly(argv, env=env)


def make_environment(venv: Path) -> None:
    """Leave what `python -m venv` leaves, as far as dev.py looks at it."""
    python = dev.Checkout(venv.parent).python
    python.parent.mkdir(parents=True)
    python.touch()
    home = Path(sys.executable).parent
    (venv / "pyvenv.cfg").write_text(f"home = {home}\nversion = 3.11.7\n", encoding="utf-8")
