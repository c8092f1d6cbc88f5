"""Asks Knowledge through the front door, and says what stands below every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.cli import words
from engine.cli.access import access_of
from engine.cli.wording import as_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    import typer

    from engine.cli.access import Front
    from engine.cli.output import Output


def ask(ctx: typer.Context, output: Output, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the reply of one tool; with `--json` it has been written already."""
    with access_of(ctx).front() as front:
        reply = front.call(tool, arguments)
    if output.as_json:
        output.json(reply)
    return reply


def ask_page(ctx: typer.Context, output: Output, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return one page of a dated list as `ask` does. A later page is bound to the snapshot of the first: found here."""
    with access_of(ctx).front() as front:
        if arguments.get("offset") and "snapshot" not in arguments:
            arguments = {**arguments, "snapshot": _snapshot(front, tool, arguments)}
        reply = front.call(tool, arguments)
    if output.as_json:
        output.json(reply)
    return reply


def _snapshot(front: Front, tool: str, arguments: dict[str, Any]) -> str:
    first = {name: value for name, value in arguments.items() if name not in ("offset", "limit")}
    return front.call(tool, {**first, "limit": 1})["snapshot"]


def footer(reply: dict[str, Any], one: str = "record") -> Iterator[tuple[str, str]]:
    """Yield what must be said about a list, each sentence with its style: how many, what is missing, how to go on."""
    total = reply["total"]
    if total:
        yield f"{len(reply['rows']):,} of {words.count(total, one)}", "faint"
    elif total is not None:
        files = reply["coverage"]["files"]
        yield f"Nothing found in {words.count(files, 'record')}" if files else "There are no records yet", "faint"
    if reply.get("note"):
        yield as_commands(reply["note"]), "note"
    yield from findings(reply)
    if reply.get("nextOffset") is not None:
        yield f"More: --offset {reply['nextOffset']}", "faint"
    if reply.get("windowExhausted"):
        yield "There is more, but not by paging: ask for something narrower", "faint"


def findings(reply: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the warning that records are left out because something in the vault is wrong."""
    wrong = reply["coverage"].get("issueCount", 0)
    if wrong:
        yield (
            f"{words.count(wrong, 'finding')} in the store, so this may be incomplete: backscroll knowledge check",
            "note",
        )
