"""`serve` and `run` told to end at any moment of their start: whatever they had made is gone with them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from filelock import FileLock

from engine.core.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Generator

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="signals and process groups of POSIX"),
]

ROOT = Path(__file__).parents[2]
WAIT_S = 60.0
TIMES = 7
"""For each way to start."""


@contextmanager
def started(folder: Path, *verb: str) -> Generator[subprocess.Popen[bytes]]:
    """Start `backscroll` as the leader of a process group, whose temporary files lie in a folder of their own."""
    env = {
        **os.environ,
        "BACKSCROLL_HOME": str(folder / "home"),
        "CLAUDE_CONFIG_DIR": str(ROOT / "assets" / "sample"),
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(folder / "tmp"),
    }
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        env.pop(variable, None)
    (folder / "tmp").mkdir(parents=True)
    command = [sys.executable, "-P", "-m", "engine", *verb]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            yield process
        finally:
            for each in family(process.pid):
                each.kill()


def family(leader: int) -> list[psutil.Process]:
    """Return the living processes of a group."""
    found: list[psutil.Process] = []
    for each in psutil.process_iter():
        try:
            if os.getpgid(each.pid) == leader and each.status() != psutil.STATUS_ZOMBIE:
                found.append(each)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def seconds_until_it_says(process: subprocess.Popen[bytes], text: bytes) -> float:
    """Return how long a start takes."""
    began = time.monotonic()
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return time.monotonic() - began
    pytest.fail(f"{text!r} was never said")


@pytest.mark.parametrize(
    ("verb", "ready"), [(("serve",), b"Backscroll is running"), (("run", "--sample"), b"Search from another terminal")]
)
def test_an_end_at_any_moment_of_the_start_leaves_nothing(verb: tuple[str, ...], ready: bytes) -> None:
    chance = random.Random(" ".join(verb))
    with tempfile.TemporaryDirectory(prefix="bs-", dir="/tmp") as place:  # short: it holds a socket
        with started(Path(place) / "first", *verb) as process:
            lasts = seconds_until_it_says(process, ready)
            process.terminate()
            assert process.wait(WAIT_S) == 0
        for number in range(TIMES):
            folder = Path(place) / str(number)
            home = Paths.below(folder / "home")
            with started(folder, *verb) as process:
                time.sleep(chance.random() * 1.2 * lasts)  # the moment is what is tried
                asked = chance.choice([signal.SIGTERM, signal.SIGHUP])
                process.send_signal(asked)
                code = process.wait(WAIT_S)
                assert family(process.pid) == []
                assert process.stderr is not None
                assert b"Traceback" not in process.stderr.read()
            assert list((folder / "tmp").glob("backscroll-*")) == []
            if code == 0:
                assert not home.socket_file.exists()
                if home.lock_file.exists():
                    with FileLock(home.lock_file, timeout=0):
                        pass
            else:
                # Python itself was still starting.
                assert code == -asked
                assert not home.data.exists()
