"""The program `backscroll`: its verbs, and what happens when one of them fails.

A verb is a function in a file of its own, listed in `VERBS`. It asks the front door and renders the reply; errors for
people go through to `main`, which is the barrier.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer.main import get_command

from engine import __version__
from engine.cli import (
    connect,
    coverage,
    doctor,
    export,
    forget,
    mcp,
    pause,
    period,
    prune,
    reindex,
    restore,
    resume,
    run,
    search,
    serve,
    sessions,
    show,
    status,
    toggle,
    usage,
)
from engine.cli.access import InstalledAccess
from engine.cli.exits import BROKEN_PIPE, DONE, INTERRUPTED, exit_code
from engine.cli.knowledge.app import app as knowledge
from engine.cli.output import Output, use_utf8
from engine.core.errors import EngineError, InvalidArgument, StorageFailure
from engine.core.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.cli.access import Access

DISK_REFUSALS: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT})
"""What is the disk's or its owner's doing wherever it comes up; every other `OSError` is a bug of ours."""

VERBS: Final = (
    run.run,
    search.search,
    show.show,
    sessions.sessions,
    period.period,
    status.status,
    coverage.coverage,
    usage.usage,
    reindex.reindex,
    doctor.doctor,
    prune.prune,
    forget.forget,
    restore.restore,
    pause.pause,
    resume.resume,
    export.export,
    connect.connect,
    serve.serve,
    toggle.toggle,
    mcp.mcp,
)
"""In the order of `--help`. One file each: a new verb is its file and its line here."""


def without_verb(
    ctx: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Say which version this is.")] = False,
) -> None:
    """Search and memory for everything you ever said to Claude Code, on your own machine."""
    if version:
        Output().text(f"backscroll {__version__}\n")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        run.run(ctx)


def _program(verbs: Sequence[Callable[..., None]]) -> typer.Typer:
    """Return the program with some of its verbs."""
    program = typer.Typer(
        name="backscroll",
        help="Search and memory for everything you ever said to Claude Code, on your own machine.",
        epilog="Every command takes --json. Exit codes: 0 done, 1 nothing found, 2 wrong use, 3 no engine or it "
        "failed, 4 findings.",
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    program.callback(invoke_without_command=True)(without_verb)
    for verb in verbs:
        program.command()(verb)
    return program


app = _program(VERBS)
app.add_typer(knowledge)


def main(argv: Sequence[str], *, access: Access | None = None) -> int:
    """Run the program and return its exit code. The barrier for errors, Ctrl+C and readers that have seen enough.

    Args:
        argv: Arguments after the program's name.
        access: The way to the history; this installation's when not given.
    """
    use_utf8()
    output = Output(as_json="--json" in argv)
    try:
        code = _run(argv, access or InstalledAccess(Paths.resolve()))
        sys.stdout.flush()
    except EngineError as error:
        output.error(error)
        return exit_code(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # What is still buffered has no reader either; the interpreter would complain about it on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        if error.errno not in DISK_REFUSALS:
            raise
        refused = StorageFailure(
            "The disk refused",
            f"{error.filename or 'A file'}: {error.strerror}.",
            "Look at the permissions and the free space there, then call again.",
        )
        output.error(refused)
        return exit_code(refused)
    return code


def _asked(argv: Sequence[str]) -> typer.Typer:
    """Return a program that knows the verb that is asked, if that stands first: making all of them takes 20 ms."""
    verbs = [verb for verb in VERBS if [verb.__name__] == list(argv[:1])]
    return _program(verbs) if verbs else app


def _run(argv: Sequence[str], access: Access) -> int:
    command = get_command(_asked(argv))
    try:
        # Not `command.main()`: it turns a broken pipe into a failure before it could reach the barrier.
        with command.make_context("backscroll", list(argv), obj=access) as ctx:
            command.invoke(ctx)
    except typer.Exit as done:
        return done.exit_code
    except typer.Abort:
        return INTERRUPTED
    except typer.TyperException as wrong:
        raise InvalidArgument(
            # pydantic speaks in the middle of typer's sentence.
            "Wrong use",
            wrong.format_message().replace("Value error, ", ""),
            "`--help` after a command shows its options.",
        ) from wrong
    return DONE
