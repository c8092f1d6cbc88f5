"""`backscroll`, `backscroll run`: opens the app, or runs the engine with a live line where there is no display."""

from __future__ import annotations

import importlib
import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.live import Live
from rich.text import Text

from engine.cli import options, words
from engine.cli.access import access_of
from engine.cli.connect import is_connected
from engine.cli.foreground import giving_way, running, until_told
from engine.cli.output import Output
from engine.cli.progress import LINE_EVERY_S
from engine.cli.serve import new_engine
from engine.core.errors import EngineAlreadyRunning, NotFound
from engine.core.paths import Paths
from engine.core.sizes import size
from engine.integrations.launch import assets_folder, has_app
from engine.ipc.address import has_display

if TYPE_CHECKING:
    from collections.abc import Generator

    from engine.cli.foreground import Told
    from engine.service import Engine

TICK_S = 0.5
"""Between two looks at what the engine is doing."""


def run(
    ctx: typer.Context,
    *,
    sample: Annotated[
        bool, typer.Option("--sample", help="Try it on an invented history, and leave no trace.")
    ] = False,
    background: Annotated[bool, typer.Option("--background", help="Start in the tray, without a window.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Open the app, or show it when it runs."""
    output = Output(as_json=as_json)
    with until_told() as told, _installation(access_of(ctx).paths, output, sample=sample) as paths:
        if has_app() and has_display(os.environ):
            # By name: the engine never imports the desktop, which stands above it.
            app = importlib.import_module("desktop.app")
            raise typer.Exit(app.main(["--background"] if background else [], told))
        _run_here(paths, output, told, sample=sample)


@contextmanager
def _installation(paths: Paths, output: Output, *, sample: bool) -> Generator[Paths]:
    """Give the installation to run: the person's, or a throw-away one that holds only the sample."""
    if not sample:
        yield paths
        return
    history = assets_folder() / "sample"
    if not (history / "projects").is_dir():
        raise NotFound("There is no sample here", f"It would lie in {history}.", "Run Backscroll from its checkout.")
    with (
        tempfile.TemporaryDirectory(prefix="backscroll-sample-") as home,
        _environment(BACKSCROLL_HOME=home, CLAUDE_CONFIG_DIR=str(history)),
    ):
        output.say(f"This is an invented history. From another terminal: BACKSCROLL_HOME={home} backscroll search auth")
        yield Paths.below(Path(home))


@contextmanager
def _environment(**variables: str) -> Generator[None]:
    """Set variables for the app and every process it starts, and put the old values back."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _run_here(paths: Paths, output: Output, told: Told, *, sample: bool) -> None:
    engine = new_engine(paths, output)
    try:
        with giving_way(engine, told), running(engine, watch=True):
            if told.is_set():  # it came while the engine started
                return
            if output.as_json:
                output.json(engine.api.call("status", {}))
            else:
                _greet(engine, output, sample=sample)
            _watch(engine, output, told)
    except EngineAlreadyRunning as already:
        output.say(f"{already.title}. {already.message}")


def _greet(engine: Engine, output: Output, *, sample: bool) -> None:
    output.say("Backscroll runs without a display here. Ctrl+C ends it.")
    for notice in engine.notices():
        output.say(f"{notice.text} {notice.hint}", "note")
        if notice.id == "no_history":
            output.say("`backscroll run --sample` shows it on an invented history.")
    output.say('Search from another terminal: backscroll search "auth rewrite"')
    if not sample and not is_connected(engine.paths):
        output.say("Connect Claude Code: backscroll connect")


def _watch(engine: Engine, output: Output, told: Told) -> None:
    """Show what the engine does until it is to end: one live line on a terminal, elsewhere a line while it indexes."""
    said_at = time.monotonic()
    with Live(console=output.errors, transient=True, auto_refresh=False) as live:
        while not told.wait(TICK_S):
            if output.errors.is_terminal:
                live.update(_line(engine), refresh=True)
            elif engine.ingest_status().files_pending and time.monotonic() - said_at >= LINE_EVERY_S:
                said_at = time.monotonic()
                output.say(_line(engine).plain)


def _line(engine: Engine) -> Text:
    """Return what the engine is doing in one line."""
    ingest, status = engine.ingest_status(), engine.api.status()
    parts = [f"{words.count(status.messages, 'message')} in {words.count(status.sessions, 'session')}", ingest.state]
    if ingest.files_pending:
        parts.append(f"{words.count(ingest.files_pending, 'file')} ({size(ingest.bytes_pending)}) left")
    if ingest.rate:
        parts.append(f"{size(ingest.rate)}/s")
    if ingest.eta_s is not None:
        parts.append(f"{words.duration(ingest.eta_s)} left")
    if status.clients:
        parts.append(words.count(status.clients, "client"))
    return Text(" · ".join(parts), style="faint", no_wrap=True, overflow="ellipsis")
