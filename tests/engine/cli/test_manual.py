from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from engine.cli.app import app

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")


def options() -> list[tuple[str, str]]:
    group: Any = get_command(app)
    return [
        (verb, flag)
        for verb, command in group.commands.items()
        for parameter in command.params
        for flag in parameter.opts
        if flag.startswith("--") and flag != "--help"
    ]


@pytest.mark.parametrize(("verb", "flag"), options())
def test_each_option_is_in_the_manual(verb: str, flag: str) -> None:
    assert f"`backscroll {verb}" in PAGE
    assert re.search(rf"{flag}\b", PAGE)


def test_the_manual_names_no_option_that_is_not_there() -> None:
    known = {flag for _, flag in options()} | {"--help"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE)) <= known
