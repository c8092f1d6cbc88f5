from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from engine.cli.app import main
from engine.ingest.progress import IngestProgress

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from engine.cli.access import OnIngest, OnProgress
    from engine.core.paths import Paths


@dataclass
class FakeFront:
    """A front door that answers what it was told to, and remembers what it was asked."""

    replies: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])
    finished: int = 0

    def call(self, method: str, arguments: dict[str, Any], *, on_progress: OnProgress | None = None) -> dict[str, Any]:
        self.asked.append((method, arguments))
        if on_progress is not None:
            on_progress(1, 2, "half")
        replies = self.replies[method]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def finish(self, on_ingest: OnIngest) -> None:
        on_ingest(IngestProgress(1, 1000, 1000, 500.0, None, None))
        self.finished += 1


@dataclass
class FakeAccess:
    paths: Paths
    door: FakeFront
    wrote: list[bool] = field(default_factory=list[bool])

    @contextmanager
    def front(self, *, writes: bool = False) -> Generator[FakeFront]:
        self.wrote.append(writes)
        yield self.door

    @contextmanager
    def running(self) -> Generator[FakeFront]:
        yield self.door


@dataclass
class Run:
    """What one run of the program left behind."""

    code: int
    out: str
    err: str
    access: FakeAccess

    @property
    def asked(self) -> list[tuple[str, dict[str, Any]]]:
        return self.access.door.asked


@pytest.fixture
def backscroll(paths: Paths, capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Run the program in this process, over a front door with prepared replies."""

    def run(*argv: str, **replies: Any) -> Run:
        prepared: dict[str, list[Any]] = {
            name: [value] if isinstance(value, (dict, BaseException)) else value for name, value in replies.items()
        }
        access = FakeAccess(paths, FakeFront(prepared))
        code = main(argv, access=access)
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err, access)

    return run
