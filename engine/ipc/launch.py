"""Starts an engine in the background, for the shim: one of several shims does it, and says why if none comes up.

The engine's own lock already keeps a second one away. The lock here only keeps twenty sessions that are opened together
from starting twenty processes of which nineteen end again; it is the operating system's, so it dies with its holder.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

REST_S = 10.0
"""After a start that led to nothing, before the next one."""
PATIENCE_S = 30.0
"""How long a started process may take to listen before its starter lets others try."""


class Launcher:
    """Brings an engine up. Used by one thread, which calls `attempt` for as long as it wants an engine and has none.

    Args:
        folder: The installation's `run` folder: the lock lies there, and the engine starts in it, so that no project's
            folder is kept busy.
        commands: Returns `engine_commands`, which are tried in this order. Asked when an engine has to be started, and
            not before: what looks for the tray app costs memory.
        environment: What the engine inherits.
        monotonic: The clock of the pauses, in seconds.
    """

    def __init__(
        self,
        folder: Path,
        commands: Callable[[], Sequence[Sequence[str]]],
        environment: Mapping[str, str],
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._commands = commands
        self._environment = environment
        self._untried: list[Sequence[str]] = []
        self._monotonic = monotonic
        self.starting: subprocess.Popen[bytes] | None = None
        """The process that is to become an engine."""
        self._started_at = 0.0
        self._not_before = 0.0
        self._lock: int | None = None
        self.children: list[subprocess.Popen[bytes]] = []
        """Those before it, engines or not, until they have ended."""

    def attempt(self) -> str | None:
        """Start an engine unless one is on its way, and return why it cannot be done once that is known."""
        now = self._monotonic()
        self._reap()
        if self.starting is None:
            if now < self._not_before or not self._take_lock():
                return None
            self._untried = list(self._commands())
            return self._start(now)
        code = self.starting.poll()
        if code is None:
            if now - self._started_at > PATIENCE_S:
                self._give_up(now)
            return None
        self.starting = None
        if code and self._untried:
            return self._start(now)
        self._give_up(now)
        # Code 0: another engine had the place and will be found there.
        return f"It ended at once with exit code {code}." if code else None

    def settled(self) -> None:
        """Note that an engine answers: others may start the next one."""
        self._not_before = 0.0
        self._leave()

    def _start(self, now: float) -> str | None:
        command = self._untried.pop(0)
        try:
            self.starting = spawn_detached(command, self._environment, self._folder)
        except OSError as error:
            self._give_up(now)
            return f"{command[0]} could not be started: {error.strerror or error}."
        self._started_at = now
        return None

    def _give_up(self, now: float) -> None:
        self._not_before = now + REST_S
        self._leave()

    def _leave(self) -> None:
        if self.starting is not None:
            self.children.append(self.starting)
            self.starting = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _reap(self) -> None:
        """Collect those that have ended: an engine that was quit is to be no zombie of ours."""
        self.children = [child for child in self.children if child.poll() is None]

    def _take_lock(self) -> bool:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = lock_file(self._folder / "starting.lock")
        except OSError:
            # Held by another shim; or a folder that cannot be written, about which nothing can be done from here.
            return False
        return True


def spawn_detached(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> subprocess.Popen[bytes]:
    """Start a process that outlives this one, its terminal and the job it belongs to, and shares no stream with it.

    Raises:
        OSError: There is no such program, or it may not be run.
    """
    import subprocess  # noqa: PLC0415 - 8 ms and 1 MB that a shim beside a running engine need not pay

    null = subprocess.DEVNULL
    if sys.platform != "win32":
        return subprocess.Popen(
            command, stdin=null, stdout=null, stderr=null, cwd=folder, env=dict(environment), start_new_session=True
        )
    detached = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    for flags in (detached | subprocess.CREATE_BREAKAWAY_FROM_JOB, detached):
        try:
            return subprocess.Popen(
                command, stdin=null, stdout=null, stderr=null, cwd=folder, env=dict(environment), creationflags=flags
            )
        except PermissionError:
            # The job Claude Code put us into lets nobody go: the engine will end with it, and another shim start one.
            continue
    raise PermissionError("Windows does not let this process start another")


def lock_file(path: Path) -> int:
    """Lock a file without waiting and return its descriptor; closing that unlocks it.

    Raises:
        OSError: Somebody else has it, or it cannot be made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - exists on Windows only

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - does not exist on Windows

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
