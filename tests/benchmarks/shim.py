"""How long the shim takes from its start to the reply to `initialize`, and what it holds at rest.

    python tests/benchmarks/shim.py [rounds]

Each round starts a fresh process as Claude Code does, against an engine that runs, and reads the reply from its stdout.
Budget (interface, "Shim"): 100 ms at the median, 20 MB at rest.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from engine.core.paths import Paths  # noqa: E402 - the checkout need not be installed
from tests.helpers.fake_engine import FakeEngine  # noqa: E402 - as above

MEGABYTE = 1_000_000
REST_S = 3.0
"""Long enough for the relay to have looked for its parent, and for nothing else to happen."""
UNSET = (
    # As on a person's machine: the folders come from platformdirs, and an installation has its byte code.
    "BACKSCROLL_HOME",
    "PYTHONDONTWRITEBYTECODE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
)
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def start() -> subprocess.Popen[bytes]:
    """Start a shim with pipes."""
    command = [sys.executable, "-m", "engine.shim"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=ROOT)


def ask(shim: subprocess.Popen[bytes]) -> None:
    """Send `initialize` and wait for its reply."""
    assert shim.stdin is not None
    assert shim.stdout is not None
    shim.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    shim.stdin.flush()
    assert json.loads(shim.stdout.readline())["id"] == 1


def end(shim: subprocess.Popen[bytes]) -> None:
    """Close its input and wait for its end."""
    shim.communicate(timeout=10)


def timed_ms() -> float:
    """Return the time from the start of a shim to its reply."""
    before = time.perf_counter()
    shim = start()
    ask(shim)
    took_ms = (time.perf_counter() - before) * 1000
    end(shim)
    return took_ms


def main(rounds: int) -> None:
    """Print the table."""
    home = Path(tempfile.mkdtemp(prefix="bs-"))
    for variable in UNSET:
        os.environ.pop(variable, None)
    os.environ.update({"HOME": str(home), "USERPROFILE": str(home)})
    try:
        with FakeEngine(Paths.resolve()):
            took_ms = [timed_ms() for _ in range(rounds + 1)][1:]
            shim = start()
            ask(shim)
            process = psutil.Process(shim.pid)
            used_s = sum(process.cpu_times()[:2])
            time.sleep(REST_S)
            rest_bytes = process.memory_info().rss
            idle_s = sum(process.cpu_times()[:2]) - used_s
            end(shim)
    finally:
        shutil.rmtree(home)
    print(f"spawn to reply, {rounds} rounds: median {statistics.median(took_ms):.1f} ms, ", end="")
    print(f"95th percentile {statistics.quantiles(took_ms, n=20)[-1]:.1f} ms, slowest {max(took_ms):.1f} ms")
    print(f"resident at rest: {rest_bytes / MEGABYTE:.1f} MB ({rest_bytes // 1024} KiB)")
    print(f"processor time in {REST_S:.0f} s of rest: {idle_s * 1000:.0f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
