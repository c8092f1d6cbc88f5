from __future__ import annotations

import io
from typing import TYPE_CHECKING

from engine.cli.output import Output
from engine.cli.progress import LINE_EVERY_S, ProgressView
from engine.core.clock import FixedClock
from engine.ingest.progress import IngestProgress

if TYPE_CHECKING:
    import pytest


def reading(done: int, pending: int, rate: float | None) -> IngestProgress:
    return IngestProgress(
        files_pending=2, bytes_pending=pending, bytes_done=done, rate=rate, last_ms=None, problem=None
    )


def test_without_a_terminal_a_plain_line_comes_now_and_then() -> None:
    stream, clock = io.StringIO(), FixedClock(0)
    with ProgressView(Output(stderr=stream), "Indexing", monotonic=clock.monotonic) as view:
        view.reading(reading(1_000_000, 3_000_000, 1_000_000.0))
        clock.advance(LINE_EVERY_S)
        view.reading(reading(2_000_000, 2_000_000, 1_000_000.0))
        view.reading(reading(3_000_000, 1_000_000, 1_000_000.0))
        clock.advance(LINE_EVERY_S)
        view.show(5, None, "no end in sight")
    assert stream.getvalue() == "Indexing 50%, 2 files left, 1.0 MB/s, 2 s left\nIndexing, no end in sight\n"


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_there_is_a_bar_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    stream = Terminal()
    with ProgressView(Output(stderr=stream), "Indexing") as view:
        view.reading(reading(1_000_000, 3_000_000, None))
    shown = stream.getvalue()
    assert "Indexing" in shown
    assert "25%" in shown
    assert "2 files left" in shown
    assert shown.endswith("\x1b[2K")  # the line is wiped
