from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from engine.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")


def options() -> list[tuple[str, str]]:
    return [
        (verb, flag)
        for verb, command in verbs(get_command(app))
        for parameter in command.params
        for flag in parameter.opts
        if flag.startswith("--") and flag != "--help"
    ]


def verbs(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command with its full name, those of a group below it too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from verbs(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


@pytest.mark.parametrize(("verb", "flag"), options())
def test_each_option_is_in_the_manual(verb: str, flag: str) -> None:
    assert f"`backscroll {verb}" in PAGE
    assert re.search(rf"{flag}\b", PAGE)


def test_the_manual_names_no_option_that_is_not_there() -> None:
    known = {flag for _, flag in options()} | {"--help"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE)) <= known
