"""`backscroll serve`: the engine without a display."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli import options, words
from engine.cli.access import access_of, settings_of
from engine.cli.foreground import as_by_ctrl_c, giving_way, running, until_told
from engine.cli.output import Output
from engine.cli.progress import ProgressView
from engine.core.clock import SystemClock
from engine.core.errors import EngineAlreadyRunning

if TYPE_CHECKING:
    from engine.cli.foreground import Told
    from engine.core.paths import Paths
    from engine.service import Engine

ON_DEMAND_S = 600.0
"""A `serve` that a shim started ends so long after its last client, with nothing left to do (product.md)."""
TICK_S = 5.0
"""Between two looks at the clients."""


class Until(StrEnum):
    """When `--once` has done enough."""

    KEYWORD = "keyword"
    ALL = "all"


def serve(
    ctx: typer.Context,
    *,
    once: Annotated[bool, typer.Option("--once", help="Index everything there is, then end.")] = False,
    until: Annotated[
        Until, typer.Option("--until", metavar="U", help="With --once: keyword (found by its words is enough) or all.")
    ] = Until.ALL,
    no_embed: Annotated[bool, typer.Option("--no-embed", help="Leave search by meaning off.")] = False,
    on_demand: Annotated[
        bool, typer.Option("--on-demand", help="End ten minutes after the last client; for backscroll-mcp.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Repeat the log on stderr.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Run the engine without a display."""
    output = Output(as_json=as_json)
    paths = access_of(ctx).paths
    try:
        if once:
            with as_by_ctrl_c():
                engine = new_engine(paths, output, no_embed=no_embed)
                with running(engine, watch=False, verbose=verbose):
                    _index(engine, output, until)
            return
        with until_told() as told:
            engine = new_engine(paths, output, no_embed=no_embed)
            with giving_way(engine, told), running(engine, watch=True, verbose=verbose):
                stay(engine, output, told, on_demand=on_demand)
    except EngineAlreadyRunning as already:
        output.say(f"{already.title}. {already.message}")


def new_engine(paths: Paths, output: Output, *, no_embed: bool = False) -> Engine:
    """Return the engine of an installation, not started, after saying what was wrong with its settings."""
    from engine.service import Engine  # noqa: PLC0415 - only the verbs that run an engine pay for it

    settings = settings_of(paths, output)
    if no_embed:
        settings = dataclasses.replace(settings, embedding_enabled=False)
    return Engine(paths, settings, SystemClock())


def _index(engine: Engine, output: Output, until: Until) -> None:
    with ProgressView(output, "Indexing") as view:
        engine.run_once(until=until.value, on_progress=view.reading)
    if output.as_json:
        output.json(engine.api.call("status", {}))
        return
    for notice in engine.notices():
        output.say(f"{notice.text} {notice.hint}", "note")
    sessions, messages = engine.totals()
    output.say(f"{words.count(sessions, 'session')} and {words.count(messages, 'message')} are searchable.")


def stay(engine: Engine, output: Output, told: Told, *, on_demand: bool) -> None:
    """Let a started engine run until it is told to end, or on demand until nobody has needed it for ten minutes."""
    if told.is_set():  # it came while the engine started
        return
    if output.as_json:
        output.json(engine.api.call("status", {}))
    else:
        output.say("Backscroll is running. Ctrl+C ends it.")
    while not told.wait(TICK_S):
        if on_demand and engine.idle_s > ON_DEMAND_S:
            break
