"""`backscroll-mcp`: what Claude Code starts for each session, a relay between its stdio and the engine's local socket.

It holds no model and no database. Only the standard library, `engine.core.paths` and the light modules of `engine.ipc`
are imported, since every session pays for them in memory and in time to the first reply. stdout carries the protocol
and nothing else; the process ends when stdin or stdout closes, on a signal, and when its parent is gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING

from engine import __version__
from engine.core.paths import Paths
from engine.ipc.address import engine_commands, engine_environment, has_display
from engine.ipc.catalogue import shipped_file
from engine.ipc.launch import Launcher
from engine.ipc.protocol import PROTOCOL, TOOLSETS, Hello
from engine.ipc.relay import Relay

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.ipc.protocol import Toolset

USAGE = f"usage: backscroll-mcp [--toolset {'|'.join(TOOLSETS)}]\n"


def main(argv: Sequence[str] | None = None, *, commands: Sequence[Sequence[str]] | None = None) -> int:
    """Run the shim on this process's stdio and return its exit code.

    Args:
        argv: Arguments after the program's name; those of the process when not given.
        commands: How to start an engine, first choice first; found out when not given.
    """
    toolset = toolset_of(sys.argv[1:] if argv is None else argv)
    if toolset is None:
        sys.stderr.write(USAGE)
        return 2
    _die_on_signals()
    output = _take_stdout()
    paths = Paths.resolve()

    def engine() -> Sequence[Sequence[str]]:
        return engine_commands(display=has_display(os.environ)) if commands is None else commands

    launcher = Launcher(paths.run, engine, engine_environment(os.environ, home=paths.home))
    return Relay(paths, hello_of(toolset, os.environ), launcher, output, shipped=shipped_file(toolset)).run(0)


def toolset_of(arguments: Sequence[str]) -> Toolset | None:
    """Return the toolset the arguments name; none when they are wrong."""
    # argparse would cost 6 ms of the time to the first reply.
    words = [word for argument in arguments for word in argument.split("=", 1)]
    if not words:
        return "all"
    if len(words) != 2 or words[0] != "--toolset":
        return None
    return next((toolset for toolset in TOOLSETS if toolset == words[1]), None)


def _die_on_signals() -> None:
    """Let each of the signals that ask for an end be one, without a traceback, whatever the parent had set.

    There is nothing to tidy: the kernel closes the socket, and the engine sees that.
    """
    for name in ("SIGHUP", "SIGINT", "SIGTERM"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None:
            signal.signal(number, signal.SIG_DFL)


def _take_stdout() -> int:
    """Return a descriptor for the protocol, and let whatever else is printed in this process go to stderr."""
    output = os.dup(1)
    try:
        os.dup2(2, 1)
    except OSError:  # no stderr
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - exists on Windows only

        msvcrt.setmode(0, os.O_BINARY)
        msvcrt.setmode(output, os.O_BINARY)
    else:
        for descriptor in (0, output):
            with contextlib.suppress(OSError):  # closed: the reader will see it
                os.set_blocking(descriptor, True)
    return output


def hello_of(toolset: Toolset, environment: Mapping[str, str]) -> Hello:
    """Return how this process introduces itself to an engine."""
    try:
        cwd = os.getcwd()  # noqa: PTH109 - a text for the wire
    except FileNotFoundError:
        cwd = ""
    hello = Hello(
        type="hello",
        protocol=PROTOCOL,
        kind="mcp",
        version=__version__,
        pid=os.getpid(),
        ppid=os.getppid(),
        cwd=cwd,
        toolset=toolset,
    )
    if project_dir := environment.get("CLAUDE_PROJECT_DIR"):
        hello["project_dir"] = project_dir
    if session_id := environment.get("CLAUDE_CODE_SESSION_ID"):
        hello["session_id"] = session_id
    if config_dir := environment.get("CLAUDE_CONFIG_DIR"):
        hello["config_dir"] = config_dir
    return hello


if __name__ == "__main__":
    sys.exit(main())
