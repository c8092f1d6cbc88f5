"""A machine with nothing on it but a bundle and a history, for `smoke.py`: no Python, no PATH and no network."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from product import EXECUTABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

ROOT = Path(__file__).resolve().parents[1]
WINDOWS = sys.platform == "win32"
PATIENCE_S = 120
"""For a program that loads torch on a slow disk for the first time."""


class Broken(Exception):
    """Something was not as it must be."""


@dataclass(frozen=True)
class Bare:
    """A machine with nothing on it but the bundle and a history."""

    folder: Path
    home: Path
    prefix: tuple[str, ...]

    @property
    def env(self) -> dict[str, str]:
        """What a program gets to know."""
        kept = {name: os.environ[name] for name in ("SYSTEMROOT", "WINDIR") if WINDOWS}
        places = ("HOME", "USERPROFILE") if WINDOWS else ("HOME",)
        folders = {"APPDATA": "roaming", "LOCALAPPDATA": "local", "TEMP": "temp"} if WINDOWS else {}
        named = {variable: str(self.home / name) for variable, name in folders.items()}
        return {**kept, **dict.fromkeys(places, str(self.home)), **named}

    def program(self, name: str) -> list[str]:
        """Return the start of a command line."""
        return [*self.prefix, str(self.folder / f"{name}{'.exe' if WINDOWS else ''}")]

    def run(self, *arguments: str, says: str = "", notes: str = "", code: int = 0) -> str:
        """Run the command line program to its end and return its answer.

        Args:
            arguments: Of the program.
            says: What stdout must be, as a regular expression.
            notes: What stderr must be.
            code: The exit code.

        Raises:
            Broken: It said something else, or ended otherwise.
        """
        command = [*self.program(EXECUTABLES.command_line), *arguments]
        done = subprocess.run(
            command, env=self.env, cwd=self.home, capture_output=True, encoding="utf-8", timeout=PATIENCE_S, check=False
        )
        told = f"`backscroll {' '.join(arguments)}` ended with {done.returncode}.\n{done.stdout}\n{done.stderr}"
        expected = [(says, done.stdout), (notes, done.stderr)]
        if done.returncode != code or not all(re.fullmatch(pattern, text, re.DOTALL) for pattern, text in expected):
            raise Broken(told)
        return done.stdout

    def wait_for_engine(self) -> None:
        """Wait until an engine answers.

        Raises:
            Broken: None does.
        """
        until(lambda: "pid" in self._engine(), "The engine")

    def end_engine(self) -> None:
        """End the engine that runs, if one does: a check that failed has left it."""
        engine = self._engine()
        if "pid" in engine:
            end(int(engine["pid"]))

    def _engine(self) -> dict[str, Any]:
        command = [*self.program(EXECUTABLES.command_line), "status", "--json"]
        done = subprocess.run(command, env=self.env, cwd=self.home, capture_output=True, check=False)
        status: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        return status.get("engine", {})


class Shim:
    """A running shim, spoken to as Claude Code does."""

    def __init__(self, bare: Bare) -> None:
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            bare.program(EXECUTABLES.shim),
            env=bare.env,
            cwd=bare.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def ask(self, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return the result of its answer.

        Raises:
            Broken: It was refused, or something else came.
        """
        self.tell({"id": number, "method": method, "params": params})
        if self._process.stdout is None:
            raise AssertionError("stdout is a pipe")
        while True:
            line = self._process.stdout.readline()
            reply: dict[str, Any] = json.loads(line) if line else {}
            if "method" in reply and "id" not in reply:
                continue  # a notification
            if reply.get("id") != number or "result" not in reply or reply["result"].get("isError"):
                raise Broken(f"{method} was answered with {line!r}")
            return reply["result"]

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message."""
        if self._process.stdin is None:
            raise AssertionError("stdin is a pipe")
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def open(self) -> float:
        """Shake hands and return how many milliseconds that took since the start."""
        info = {"name": "smoke", "version": "1"}
        self.ask(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})
        took = (time.perf_counter() - self.started) * 1000
        self.tell({"method": "notifications/initialized"})
        return took

    def call(self, number: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool and return its structured reply."""
        return self.ask(number, "tools/call", {"name": tool, "arguments": arguments})["structuredContent"]

    def close(self) -> None:
        """Close its input, upon which it must end quietly.

        Raises:
            Broken: It did not.
        """
        rest, noise = self._process.communicate(timeout=10)
        if self._process.returncode or rest or noise:
            raise Broken(f"The shim ended with {self._process.returncode}, {rest!r} and {noise!r}.")


def until(ready: Callable[[], bool], what: str) -> None:
    """Wait for what other programs do.

    Raises:
        Broken: It did not come.
    """
    for _ in range(600):
        if ready():
            return
        time.sleep(0.05)
    raise Broken(f"{what} never came.")


def end(pid: int) -> None:
    """End an engine that a shim has started."""
    os.kill(pid, signal.SIGTERM)
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except OSError:
            return
        time.sleep(0.05)
    raise Broken("The engine does not end when it is told to.")


@contextmanager
def bare_machine(folder: Path) -> Generator[Bare]:
    """Give a home with nothing in it but the sample as Claude Code's history."""
    # Short: a Unix socket's path has 100 bytes.
    home = Path(tempfile.mkdtemp(prefix="bs-", dir=None if WINDOWS else "/tmp")).resolve()  # noqa: S108 - mkdtemp
    try:
        shutil.copytree(ROOT / "assets" / "sample" / "projects", home / ".claude" / "projects")
        for name in ("roaming", "local", "temp") if WINDOWS else ():
            (home / name).mkdir()
        bare = Bare(folder, home, without_network())
        try:
            yield bare
        finally:
            bare.end_engine()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def without_network() -> tuple[str, ...]:
    """Return what takes the network away from a program, nothing where the system does not let us."""
    wanted = ("/usr/bin/unshare", "--map-current-user", "--net")
    if (
        not Path(wanted[0]).exists()
        or subprocess.run([*wanted, "/bin/true"], capture_output=True, check=False).returncode
    ):
        return ()
    return wanted
