"""`backscroll knowledge check`: what is wrong in the vault, with file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from engine.cli import options, words
from engine.cli.access import access_of
from engine.cli.exits import FINDINGS
from engine.cli.indented import Indented
from engine.cli.knowledge.asking import ask
from engine.cli.output import Output
from engine.cli.safe import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType


def check(
    ctx: typer.Context,
    *,
    give_up: Annotated[
        str | None,
        typer.Option(
            "--give-up", metavar="REQUEST", help="First give up this unfinished change; the files stay as they are."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Check every record and its evidence; findings are exit code 4."""
    output = Output(as_json=as_json)
    reply = ask(ctx, output, "knowledge_check", options.given(giveUp=give_up))
    if not as_json:
        output.show(*(line for issue in reply["issues"] for line in _lines(issue)))
        vault = words.place(str(access_of(ctx).paths.knowledge / "vault"), output.home)
        for sentence, style in _summary(reply, vault):
            output.say(sentence, style)
    if not reply["ok"]:
        raise typer.Exit(FINDINGS)


def _lines(issue: dict[str, Any]) -> Iterator[RenderableType]:
    where = one_line(issue["path"]) + (f":{issue['line']}" if issue.get("line") else "")
    yield Text.assemble((where, "place"), ": ", one_line(issue["message"]), (f"  [{issue['code']}]", "faint"))
    if issue.get("repair"):
        yield Indented(Text(one_line(issue["repair"]), style="faint"), 4)


def _summary(reply: dict[str, Any], vault: str) -> Iterator[tuple[str, str]]:
    counted = f"{words.count(reply['files'], 'record')} in {vault}, {reply['usable']:,} in use"
    if reply["ok"]:
        yield f"Nothing is wrong: {counted}", "good"
    else:
        yield f"{words.count(len(reply['issues']), 'finding')}: {counted}", "note"
    if reply["waitingForGit"]:
        yield (
            f"{words.count(reply['waitingForGit'], 'change')} not in its Git history yet; the next write tries again",
            "faint",
        )
