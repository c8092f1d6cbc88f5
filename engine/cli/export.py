"""`backscroll export`: one session as Markdown or as the lines Claude Code wrote."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotation at run time
from typing import Annotated

import typer

from engine.cli import options  # noqa: TC001 - typer reads the annotation at run time
from engine.cli.access import access_of
from engine.cli.exits import FINDINGS
from engine.cli.output import Output
from engine.core.errors import StorageFailure
from engine.core.files import write_atomically
from engine.core.sizes import size


class Format(StrEnum):
    """What a session can be exported as."""

    MARKDOWN = "markdown"
    JSONL = "jsonl"


def export(
    ctx: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Id or unique prefix.")],
    *,
    form: Annotated[
        Format, typer.Option("--format", "-f", metavar="F", help="markdown, or jsonl: the lines as they were.")
    ] = Format.MARKDOWN,
    file: Annotated[Path | None, typer.Option("--output", "-o", help="Into this file instead of the terminal.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Export a session. Exit code 4: some of its lines are nowhere any more."""
    output = Output(as_json=as_json)
    with access_of(ctx).front() as front:
        reply = front.call("export_session", {"session_id": session, "format": str(form)})
    text = reply["text"]
    if file is not None:
        try:
            write_atomically(file, text.encode("utf-8", "surrogatepass"), mode=0o644)
        except OSError as error:
            raise StorageFailure(
                "The file cannot be written", f"{file}: {error.strerror}.", "Choose another place."
            ) from error
        output.say(f"Wrote {size(len(text.encode('utf-8', 'surrogatepass')))} to {file}.")
    if as_json:
        output.json({name: value for name, value in reply.items() if file is None or name != "text"})
    elif file is None:
        output.text(text)
    if reply.get("missing"):
        output.say(reply["note"], "note")
        raise typer.Exit(FINDINGS)
