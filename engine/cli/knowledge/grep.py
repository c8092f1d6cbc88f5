"""`backscroll knowledge grep`: keyword search in the records."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import Annotated

import typer

from engine.cli import options
from engine.cli.access import access_of
from engine.cli.exits import FAILED, NOTHING_FOUND
from engine.cli.knowledge import choices, dates
from engine.cli.knowledge.asking import ask, footer
from engine.cli.knowledge.rows import hit_lines
from engine.cli.output import Output


class Words(StrEnum):
    """How the words of a question must occur."""

    ALL = "all"
    ANY = "any"
    PHRASE = "phrase"


def grep(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Whole words; case and accents do not matter.")],
    *,
    mode: Annotated[
        Words, typer.Option("--mode", "-m", metavar="MODE", help="all words, any of them, or as a phrase.")
    ] = Words.ALL,
    kind: choices.KindOption = None,
    of_type: choices.TypeOption = None,
    tag: choices.TagOption = None,
    lifecycle: choices.LifecycleOption = None,
    field: choices.FieldOption = None,
    when: options.When = None,
    date_from: options.DateFrom = None,
    date_to: options.DateTo = None,
    full: choices.FullOption = False,
    limit: choices.LimitOption = None,
    offset: options.Offset = None,
    as_json: options.AsJson = False,
) -> None:
    """Search the records by words."""
    output = Output(as_json=as_json)
    zone = dates.zone_of(access_of(ctx).paths)
    asked = " ".join(query)
    arguments = options.given(
        query=asked,
        mode=None if mode is Words.ALL else str(mode),
        kind=kind and str(kind),
        type=of_type,
        tag=tag,
        lifecycle=lifecycle and str(lifecycle),
        timeField=field and field.key,
        **dates.bounds(when, date_from, date_to, zone, time.time()),
        limit=limit,
        offset=offset,
        view="full" if full or not as_json else None,
    )
    reply = ask(ctx, output, "knowledge_grep", arguments)
    if not as_json:
        first = (offset or 0) + 1
        output.show(
            *(line for n, row in enumerate(reply["rows"], first) for line in hit_lines(row, n, asked, zone, full=full))
        )
        for sentence, style in footer(reply):
            output.say(sentence, style)
    if reply["total"] is None:  # the index is down: no answer, which is not the answer "nothing"
        raise typer.Exit(FAILED)
    if not reply["rows"]:
        raise typer.Exit(NOTHING_FOUND)
