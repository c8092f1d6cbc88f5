"""`backscroll prune`: takes old sessions out of the index, after saying what would go."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from engine.cli import options, words
from engine.cli.access import access_of
from engine.cli.output import Output
from engine.cli.progress import ProgressView
from engine.cli.safe import one_line
from engine.cli.wording import as_commands
from engine.core.errors import InvalidArgument
from engine.core.sizes import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def prune(
    ctx: typer.Context,
    *,
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="AGE", help="Sessions without a word since then: 90d, 12w, 6m, 1y.")
    ],
    project: options.Project = None,
    archive: Annotated[bool, typer.Option("--archive", help="Their archived copies too.")] = False,
    include_only_copies: Annotated[
        bool, typer.Option("--include-only-copies", help="Also sessions that exist nowhere else afterwards.")
    ] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Do it. Without this, only say what would go.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Take old sessions out, for good."""
    output = Output(as_json=as_json)
    arguments = options.given(project=project, archive=archive, include_only_copies=include_only_copies)
    arguments |= {"older_than_days": _days(older_than), "dry_run": not apply}
    with access_of(ctx).front(writes=apply) as front, ProgressView(output, "Pruning") as view:
        reply = front.call("prune", arguments, on_progress=view.show)
    if as_json:
        output.json(reply)
        return
    output.show(*_lines(reply))
    if not apply and reply["sessions"]:
        output.say("Do it with --apply. It cannot be undone.", "note")


def _days(age: str) -> int:
    found = re.fullmatch(r"(\d{1,6})\s*([dwmy]?)", age.strip().lower())
    if found is None or not int(found[1]):
        raise InvalidArgument(f"{age!r} is no age", "", "Say it like 90d, 12w, 6m or 1y.")
    return int(found[1]) * _DAYS[found[2] or "d"]


def _lines(reply: dict[str, Any]) -> Iterator[RenderableType]:
    verb = "would go" if reply["dry_run"] else "went"
    yield Text(
        f"{words.count(reply['sessions'], 'session')} {verb}: {words.count(reply['chunks'], 'chunk')}, "
        f"{words.count(reply['vectors'], 'vector')}, {words.count(reply['calls'], 'call')} of usage."
    )
    archive = f", {size(reply['archive_bytes'])} of it in the archive" if reply["archive_bytes"] else ""
    about = "About " if reply["dry_run"] else ""
    yield Text(f"{about}{size(reply['bytes_freed'])} on the disk{archive}.")
    if reply["only_copies"]:
        yield Text("Only Backscroll still has:", style="note")
        for each in reply["only_copies"]:
            title = one_line(each.get("title") or "(no title)")
            yield Text.assemble(
                "  ", (words.moment(each.get("last_at")), "time"), " ", (each["session_id"], "id"), " ", title
            )
    if reply.get("note"):
        yield Text(one_line(as_commands(reply["note"])), style="faint")
