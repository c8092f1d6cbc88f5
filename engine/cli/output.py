"""What the command line writes, and where: answers to stdout, everything else to stderr; JSON or for people.

The streams are UTF-8 whatever the console says it is. Colour, bold and boxes only on a terminal (`NO_COLOR` is heard);
a pipe gets whole lines, never cut to a width.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from engine.cli.safe import visible
from engine.cli.wording import as_commands

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from engine.core.errors import EngineError

PIPE_WIDTH: Final = 10_000
"""Columns for something that is no terminal: lines are cut by whoever reads them, not here."""

THEME: Final = {
    "mark": "bold yellow",
    "id": "cyan",
    "place": "dim",
    "time": "green",
    "user": "bold blue",
    "assistant": "bold magenta",
    "tool": "dim cyan",
    "thinking": "dim italic",
    "note": "yellow",
    "good": "green",
    "bad": "bold red",
    "faint": "dim",
}


class Output:
    """The two streams of one run.

    Args:
        as_json: Answers are one JSON object.
        home: Shown as `~` in paths.
        stdout: Where answers go; the process's own when not given.
        stderr: Where everything else goes.
    """

    def __init__(
        self,
        *,
        as_json: bool = False,
        home: Path | None = None,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        self.as_json = as_json
        self.home = home or Path.home()
        self._stdout = stdout or sys.stdout
        self.console = _console(self._stdout)
        self.errors = _console(stderr or sys.stderr)

    @property
    def width(self) -> int:
        """Columns there are; very many where nobody looks at them."""
        return self.console.width

    def json(self, reply: Mapping[str, Any]) -> None:
        """Write a reply as JSON, one object, indented on a terminal."""
        self._stdout.write(dump(reply, indent=2 if self.console.is_terminal else None) + "\n")

    def show(self, *parts: RenderableType) -> None:
        """Write parts of an answer for people, each on lines of its own."""
        if self.console.is_terminal:
            for part in parts:
                self._print(part)
            return
        with self.console.capture() as captured:
            for part in parts:
                self._print(part)
        # Tables fill their columns up; what reads a pipe has no use for spaces at the end of a line.
        self._stdout.write("\n".join(line.rstrip() for line in captured.get().split("\n")))

    def _print(self, part: RenderableType) -> None:
        # rich joins what it prints into a new text, which has forgotten that the part was not to be wrapped.
        if isinstance(part, Text) and part.no_wrap:
            self.console.print(part, no_wrap=True, overflow=part.overflow)
        else:
            self.console.print(part)

    def text(self, text: str) -> None:
        """Write a text as it is."""
        self._stdout.write(text)

    def say(self, sentence: str, style: str = "", *, wrap: bool = True) -> None:
        """Tell the person something that is no answer.

        Args:
            sentence: Shown, never acted on.
            style: Of the theme.
            wrap: At words. What is to be copied is left to the terminal to wrap, so that it stays one line.
        """
        self.errors.print(visible(sentence), style=style, soft_wrap=not wrap)

    def error(self, error: EngineError) -> None:
        """Say what went wrong and what to do: three parts for people, one object for programs."""
        if self.as_json:
            self.errors.file.write(dump({"error": error_object(error)}) + "\n")
            return
        said = [as_commands(each) for each in (error.title, error.message, error.hint) if each]
        self.say(said[0], "bad")
        for sentence in said[1:]:
            self.say(sentence)
        if not all(each in " ".join(said) for each in error.candidates):
            self.say("Candidates: " + ", ".join(error.candidates))


def error_object(error: EngineError) -> dict[str, Any]:
    """Return an error as `--json` has it."""
    fields: dict[str, Any] = {
        "code": error.code,
        "title": error.title,
        "message": error.message,
        "hint": error.hint,
        "candidates": list(error.candidates),
    }
    return {name: value for name, value in fields.items() if value}


def dump(value: Any, *, indent: int | None = None) -> str:
    """Return JSON in readable characters; one that holds half a surrogate pair is escaped as a whole."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def use_utf8() -> None:
    """Let this process's streams take any character, whatever the console's code page or locale says."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def _console(stream: TextIO) -> Console:
    # Texts of transcripts are neither markup nor emoji names, and are not guessed at for colours.
    console = Console(file=stream, theme=Theme(THEME), highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console
