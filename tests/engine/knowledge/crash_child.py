"""A process that writes to a store and is killed at a step. Run by the crash tests, never imported."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from engine.core.clock import FixedClock
from engine.knowledge.service import KnowledgeService


class KillAt:
    """Kills the process without any clean-up when a step is reached."""

    def __init__(self, step: str) -> None:
        self._step = step

    def reached(self, step: str) -> None:
        if step == self._step:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def main() -> None:
    root, step, now, calls = sys.argv[1:]
    service = KnowledgeService(Path(root), FixedClock(float(now)), steps=KillAt(step))
    for tool, arguments in json.loads(calls):
        print(json.dumps(service.call(tool, arguments)), flush=True)  # noqa: T201 - the parent reads it
    service.close()


main()
