"""Runs phases of `fault_child` one after the other, each in a process of its own that may be killed in the middle.

    python -m tests.helpers.fault_forks

serves requests from its standard input, a line of JSON each: phase, home, projects, and seconds from the beginning of
the work until `kill -9` (null for never). It answers with the exit code and how long the work took. Where forking is
safe each process is a copy of one that has imported everything: fifty of them cost little more than one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.helpers.fault_child import work

if TYPE_CHECKING:
    from collections.abc import Generator

CAN_FORK = sys.platform == "linux"
"""macOS' own libraries end a process that was forked and not replaced."""


class Ended(NamedTuple):
    """How a phase ended."""

    code: int
    """Of the process; negative for a signal."""
    seconds: float
    """Of its work."""


class Forks:
    """Lets phases run, and kills them. Made by `forks`.

    Args:
        server: The process that serves.
    """

    def __init__(self, server: subprocess.Popen[str]) -> None:
        self._server = server

    def run(self, phase: str, home: Path, projects: Path, *, kill_after: float | None = None) -> Ended:
        """Run a phase to its end, or kill it after some seconds."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps([phase, str(home), str(projects), kill_after]) + "\n")
        self._server.stdin.flush()
        return Ended(*json.loads(self._server.stdout.readline()))


@contextmanager
def forks() -> Generator[Forks]:
    """Give what runs phases."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.fault_forks"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=Path(__file__).parents[2],
        # A process with threads of its own should not be forked.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    ) as server:
        yield Forks(server)
        assert server.stdin is not None
        server.stdin.close()
        assert server.wait(60) == 0


def _started(phase: str, home: Path, projects: Path, kill_after: float | None) -> Ended:
    command = [sys.executable, "-m", "tests.helpers.fault_child", phase, str(home), str(projects)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as child:
        assert child.stdout is not None
        child.stdout.readline()
        began = time.monotonic()
        if kill_after is not None:
            threading.Event().wait(kill_after)
            child.kill()
        return Ended(child.wait(), time.monotonic() - began)


def _forked(phase: str, home: Path, projects: Path, kill_after: float | None) -> Ended:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            work(phase, home, projects, lambda: os.close(write))
        except BaseException:  # noqa: BLE001 - whatever it is, the copy must not go on serving
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(write)
    # Ends when the work begins, or the child did.
    os.read(read, 1)
    os.close(read)
    began = time.monotonic()
    if kill_after is not None:
        threading.Event().wait(kill_after)
        # Also when it has ended by itself: until it is waited for nobody else has its number.
        os.kill(child, 9)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return Ended(code, time.monotonic() - began)


def main() -> int:
    """Serve until nobody asks any more."""
    run = _forked if CAN_FORK else _started
    for line in sys.stdin:
        phase, home, projects, kill_after = json.loads(line)
        sys.stdout.write(json.dumps(run(phase, Path(home), Path(projects), kill_after)) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
