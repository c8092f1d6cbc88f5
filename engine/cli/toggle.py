"""`backscroll toggle`: shows or hides the search window, for desktops where no program may claim a key for itself."""

from __future__ import annotations

import os

import typer  # noqa: TC002 - typer reads the annotations

from engine import __version__
from engine.cli import options  # noqa: TC001 - as above
from engine.cli.access import access_of
from engine.cli.output import Output
from engine.core.errors import EngineNotRunning
from engine.integrations.launch import has_app
from engine.ipc.address import engine_commands, engine_environment, has_display
from engine.ipc.launch import spawn_detached


def toggle(ctx: typer.Context, *, as_json: options.AsJson = False) -> None:
    """Show or hide the search window; bind it to a key of your desktop."""
    from engine.ipc.client import EngineClient  # noqa: PLC0415 - 6 ms that `--help` need not pay

    output = Output(as_json=as_json)
    paths = access_of(ctx).paths
    try:
        with EngineClient.connect(paths, version=__version__) as client:
            reply = client.call("toggle_window")
    except EngineNotRunning:
        reply = {"window": False}
    if not (isinstance(reply, dict) and reply["window"]):
        # Nothing runs, or an engine without a window, which the app takes over from.
        if not (has_app() and has_display(os.environ)):
            raise EngineNotRunning(
                "The app is not running", "There is no window to show.", "Start it with `backscroll`."
            )
        command = [word for word in engine_commands(display=True, desktop=True)[0] if word != "--background"]
        paths.ensure()
        spawn_detached(command, engine_environment(os.environ, home=paths.home), paths.run)
        reply = {"window": True, "started": True}
    if as_json:
        output.json(reply)
