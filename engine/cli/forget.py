"""`backscroll forget`: takes one session out everywhere, for ever."""

from __future__ import annotations

from typing import Annotated

import typer

from engine.cli import options  # noqa: TC001 - typer reads the annotations at run time
from engine.cli.access import access_of
from engine.cli.output import Output
from engine.cli.safe import one_line
from engine.core.errors import InvalidArgument


def forget(
    ctx: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Id or unique prefix.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Take one session out of index, archive and backups, for ever."""
    output = Output(as_json=as_json)
    if not yes:
        if as_json or not output.errors.is_terminal:
            raise InvalidArgument("It cannot be undone", "Nothing was changed.", "Say --yes to mean it.")
        typer.confirm(
            f"Forget session {session} everywhere, for ever? Backups that hold it go too", abort=True, err=True
        )
    with access_of(ctx).front(writes=True) as front:
        reply = front.call("forget", {"session_id": session})
    if as_json:
        output.json(reply)
        return
    output.show(f"Session {reply['session_id']} is forgotten, and will not be indexed or archived again.")
    if reply.get("note"):
        output.say(reply["note"], "faint")
    for file in reply["left_on_disk"]:
        output.say(f"Claude Code's own file is still there: {one_line(file)}", "note")
