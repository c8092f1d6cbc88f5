"""How tests start the programs: from this checkout, or those of a bundle when `BACKSCROLL_BUNDLE` names its folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
VARIABLE = "BACKSCROLL_BUNDLE"


def bundle() -> Path | None:
    """Return the folder of the bundle under test, None when the checkout is."""
    named = os.environ.get(VARIABLE)
    return Path(named).resolve() if named else None


def command_line(*arguments: str) -> list[str]:
    """Return the command of `backscroll`."""
    return [*_program("backscroll", "engine"), *arguments]


def shim(*arguments: str) -> list[str]:
    """Return the command of `backscroll-mcp`."""
    return [*_program("backscroll-mcp", "engine.shim"), *arguments]


def environment(**variables: str) -> dict[str, str]:
    """Return the tests' own environment with variables added, in which the checkout's programs find their packages."""
    # The suite's strictness about encodings makes libraries print warnings, which are not the programs'.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONWARNDEFAULTENCODING"}
    source = {} if bundle() else {"PYTHONPATH": str(ROOT)}
    return {**inherited, **source, **variables}


def _program(name: str, module: str) -> list[str]:
    folder = bundle()
    if folder is None:
        return [sys.executable, "-P", "-m", module]
    return [str(folder / (f"{name}.exe" if os.name == "nt" else name))]
