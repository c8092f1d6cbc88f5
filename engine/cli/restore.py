"""`backscroll restore`: writes a session's files back as Claude Code wrote them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from engine.cli import options, words
from engine.cli.access import access_of
from engine.cli.exits import FINDINGS
from engine.cli.output import Output
from engine.cli.safe import one_line
from engine.core.sizes import size


def restore(
    ctx: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Id or unique prefix.")],
    *,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="A folder; nothing in it is overwritten.")],
    as_json: options.AsJson = False,
) -> None:
    """Write a session's files back, byte for byte. Exit code 4: the archive could not give back all of it."""
    output = Output(as_json=as_json)
    with access_of(ctx).front() as front:
        reply = front.call("restore", {"session_id": session, "to": str(Path.cwd() / to)})
    if as_json:
        output.json(reply)
        _end(reply)
        return
    for each in reply["files"]:
        output.show(Text(f"{size(each['bytes'])}  {one_line(each['file'])}  (from the {each['source']})"))
    output.say(f"{words.count(len(reply['files']), 'file')} in {to}.")
    if reply.get("note"):
        output.say(reply["note"], "note")
    _end(reply)


def _end(reply: dict[str, Any]) -> None:
    """Let scripts know that something is missing."""
    if any(each.get("damaged") for each in reply["files"]):
        raise typer.Exit(FINDINGS)
