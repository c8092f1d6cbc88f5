"""`backscroll search`: hits with their matches marked."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli import options
from engine.cli.access import ask
from engine.cli.exits import NOTHING_FOUND
from engine.cli.hits import hit_lines, knowledge_lines, search_footer
from engine.cli.output import Output

if TYPE_CHECKING:
    from rich.console import RenderableType


class SearchMode(StrEnum):
    """How to search."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    SEMANTIC = "semantic"


DEFAULT_MODE = SearchMode.HYBRID
"""By words and by meaning. Where the engine has nothing to tell meaning by, the footer says that words had to do."""


def search(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help='Words; "quoted words" are a phrase.')],
    *,
    mode: Annotated[
        SearchMode,
        typer.Option("--mode", "-m", metavar="MODE", help="hybrid (both), keyword (words) or semantic (meaning)."),
    ] = DEFAULT_MODE,
    project: options.Project = None,
    when: options.When = None,
    date_from: options.DateFrom = None,
    date_to: options.DateTo = None,
    role: Annotated[str | None, typer.Option("--role", help="user, assistant, tool, injected or summary.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="text, thinking, tool_use, tool_result or tool.")] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Only of this tool, such as Bash.")] = None,
    session: Annotated[str | None, typer.Option("--session", help="Only this session: id or unique prefix.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Also what says little: bulky results, hooks.")
    ] = False,
    sidechains: Annotated[bool, typer.Option("--sidechains", help="Also what subagents said.")] = False,
    read: Annotated[int | None, typer.Option("--read", metavar="N", help="Show the first N exchanges in full.")] = None,
    limit: options.Limit = None,
    offset: options.Offset = None,
    as_json: options.AsJson = False,
) -> None:
    """Search everything that was said."""
    output = Output(as_json=as_json)
    arguments = options.given(
        query=" ".join(query),
        project=project,
        when=when,
        date_from=date_from,
        date_to=date_to,
        role=role,
        kind=kind,
        tool=tool,
        session=session,
        include_low_signal=everything,
        include_sidechains=sidechains,
        read=read,
        limit=limit,
        offset=offset,
    )
    reply = ask(ctx, output, f"{mode}_search", arguments)
    if not as_json:
        first = (offset or 0) + 1
        output.show(*_rendered(reply, output, first), *knowledge_lines(reply.get("knowledge_hits", ())))
        for line, style in search_footer(reply):
            output.say(line, style)
    if not reply["hits"]:
        raise typer.Exit(NOTHING_FOUND)


def _rendered(reply: dict[str, Any], output: Output, first: int) -> list[RenderableType]:
    return [line for number, hit in enumerate(reply["hits"], first) for line in hit_lines(hit, number, output)]
