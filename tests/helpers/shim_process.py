"""A real shim in a process of its own, seen from Claude Code's side: lines in, lines out, and its end."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self, cast

import pytest

from tests.helpers import programs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from engine.core.paths import Paths
    from engine.ipc.protocol import JsonObject

ROOT = Path(__file__).parents[2]
WAIT_S = 60.0
"""For anything a test waits for."""

FAILING_ENGINE = [sys.executable, "-c", "raise SystemExit(3)"]
FAKE_ENGINE = [sys.executable, str(ROOT / "tests" / "helpers" / "fake_engine.py")]

_MAIN = "import json, sys; from engine.shim import main; sys.exit(main(sys.argv[2:], commands=json.loads(sys.argv[1])))"


def _command(engine: Sequence[str] | None, arguments: Sequence[str]) -> list[str]:
    if programs.bundle() is None:
        return [sys.executable, "-c", _MAIN, json.dumps([list(engine or FAILING_ENGINE)]), *arguments]
    if engine is not None:
        pytest.skip("a bundled shim starts the engine beside it and no other")
    return programs.shim(*arguments)


class ShimProcess:
    """One running shim.

    Args:
        paths: The installation it belongs to.
        arguments: Of its command line.
        engine: The command that starts an engine. Not given where one runs already: what there is then fails at once.
        environment: Added to that of the tests.
        cwd: Where it is started.
    """

    def __init__(
        self,
        paths: Paths,
        *arguments: str,
        engine: Sequence[str] | None = None,
        environment: dict[str, str] | None = None,
        cwd: Path = ROOT,
    ) -> None:
        assert paths.home is not None
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        self.process = subprocess.Popen(
            _command(engine, arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=programs.environment(BACKSCROLL_HOME=str(paths.home), **(environment or {})),
        )
        self._reader = threading.Thread(target=self._read, name="test-shim-stdout", daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close_input()
        self.process.kill()
        self.process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        for stream in (self.process.stdout, self.process.stderr):
            cast("IO[bytes]", stream).close()

    def write(self, line: bytes) -> None:
        """Send raw bytes."""
        stdin = cast("IO[bytes]", self.process.stdin)
        stdin.write(line)
        stdin.flush()

    def send(self, message: JsonObject) -> None:
        """Send one message."""
        self.write(json.dumps(message).encode() + b"\n")

    def next(self) -> JsonObject:
        """Wait for the next message; every line on stdout must be one."""
        line = self.lines.get(timeout=WAIT_S)
        assert line is not None, "the shim has closed its stdout"
        message = json.loads(line)
        assert isinstance(message, dict)
        return cast("JsonObject", message)

    def ask(self, identity: int | str, method: str, params: JsonObject | None = None) -> JsonObject:
        """Send one request and wait for the next message."""
        self.send(
            {"jsonrpc": "2.0", "id": identity, "method": method, **({} if params is None else {"params": params})}
        )
        return self.next()

    def close_input(self) -> None:
        """Close stdin."""
        cast("IO[bytes]", self.process.stdin).close()

    def wait(self) -> int:
        """Wait for the end and return the exit code."""
        return self.process.wait(WAIT_S)

    def rest(self) -> list[bytes]:
        """Return the lines that came since, after the end of stdout."""
        lines: list[bytes] = []
        while (line := self.lines.get(timeout=WAIT_S)) is not None:
            lines.append(line)
        return lines

    def noise(self) -> bytes:
        """Return what was said on stderr, after the end."""
        return cast("IO[bytes]", self.process.stderr).read()

    def _read(self) -> None:
        for line in cast("IO[bytes]", self.process.stdout):
            self.lines.put(line)
        self.lines.put(None)
