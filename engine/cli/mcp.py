"""`backscroll mcp`: the MCP server. Only its place in `--help`: `engine.__main__` branches before typer is imported."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Toolset(StrEnum):
    """What a server shows."""

    TRANSCRIPTS = "transcripts"
    KNOWLEDGE = "knowledge"
    RECALL = "recall"
    ALL = "all"


def mcp(
    *,
    toolset: Annotated[
        Toolset,
        typer.Option("--toolset", metavar="SET", help="transcripts, knowledge, recall (only looks back) or all."),
    ] = Toolset.ALL,
) -> None:
    """Speak MCP on standard input and output, as backscroll-mcp does; Claude Code starts this by itself."""
    from engine.shim import main  # noqa: PLC0415 - takes stdout for itself as soon as it runs

    raise typer.Exit(main(["--toolset", str(toolset)]))
