"""`backscroll show`: a session in full, or the exchange around one hit of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from engine.cli import options, words
from engine.cli.access import access_of
from engine.cli.messages import Conversation
from engine.cli.output import Output
from engine.cli.safe import one_line
from engine.cli.wording import as_commands

if TYPE_CHECKING:
    from engine.cli.access import Front

PAGE = 50
PAGE_TOKENS = 20_000
"""The most a reply may hold (interface.md, "Every reply obeys a token budget"): fewer calls for a long session."""


def show(
    ctx: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Id or unique prefix; with --hit not needed.")] = "",
    *,
    hit: Annotated[
        str | None, typer.Option("--hit", metavar="ID", help="The exchange around this chunk or message of a search.")
    ] = None,
    before: Annotated[int | None, typer.Option("--before", metavar="N", help="With --hit: messages before it.")] = None,
    after: Annotated[int | None, typer.Option("--after", metavar="N", help="With --hit: messages after it.")] = None,
    role: Annotated[list[str] | None, typer.Option("--role", help="Only of this role; may be given again.")] = None,
    sidechains: Annotated[bool, typer.Option("--sidechains", help="Also what subagents said.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Tool inputs and results in full.")] = False,
    everything: Annotated[bool, typer.Option("--all", "-a", help="The whole session, not one page.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", "-n", metavar="N", help=f"Messages a page ({PAGE}).")] = None,
    offset: options.Offset = None,
    as_json: options.AsJson = False,
) -> None:
    """Read a session."""
    if not session and not hit:
        raise typer.BadParameter("Which session? `backscroll sessions` lists them.", param_hint="SESSION")
    output = Output(as_json=as_json)
    with access_of(ctx).front() as front:
        if hit:
            arguments = options.given(ids=[hit], before=before, after=after)
            _write(front.call("get_context", arguments), output, Conversation(whole=full), first=True)
            return
        arguments = options.given(
            session_id=session,
            roles=role or None,
            include_sidechains=sidechains,
            limit=PAGE if limit is None else limit,
            offset=offset,
            max_tokens=PAGE_TOKENS,
        )
        _pages(front, arguments, output, everything=everything, full=full)


def _pages(front: Front, arguments: dict[str, Any], output: Output, *, everything: bool, full: bool) -> None:
    first = True
    conversation = Conversation(whole=full)
    while True:
        reply = front.call("get_session", arguments)
        _write(reply, output, conversation, first=first)
        following = reply.get("next_offset")
        if following is None:
            return
        if not everything:
            if not output.as_json:
                position = reply["position"]
                shown = f"{position['index'] + len(reply['messages']):,} of {words.count(position['of'], 'message')}"
                output.say(f"{shown}. More: --offset {following}, or --all", "faint")
            return
        arguments = {**arguments, "offset": following}
        first = False


def _write(reply: dict[str, Any], output: Output, conversation: Conversation, *, first: bool) -> None:
    if output.as_json:
        output.json(reply)
        return
    if first:
        row = reply["session"]
        title = one_line(row.get("title") or row["session_id"])
        output.show(Text(title, style="bold", no_wrap=True, overflow="ellipsis"))
        output.say(
            f"{one_line(words.place(row.get('project'), output.home))} · {words.moment(row.get('started_at'))} to "
            f"{words.moment(row.get('last_at'))} · {words.count(row['messages'], 'message')}",
            "faint",
        )
        output.say(f"Go on with it: {one_line(row['resume_command'])}\n", "faint", wrap=False)
    for message in reply["messages"]:
        output.show(*conversation.lines(message))
    if not output.as_json and reply.get("next_offset") is None:
        output.show(Text())
    if reply.get("note"):
        output.say(as_commands(reply["note"]), "note")
