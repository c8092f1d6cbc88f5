"""How far long work is: a bar with rate and time left on a terminal, a plain line now and then anywhere else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, Protocol, Self

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from engine.cli import words
from engine.core.sizes import size

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from rich.progress import TaskID

    from engine.cli.output import Output

LINE_EVERY_S: Final = 5.0
"""Between two lines where there is no terminal: a log of an hour stays readable."""


class Reading(Protocol):
    """How far the reading of transcripts is, as `engine.ingest` says it."""

    @property
    def files_pending(self) -> int:
        """Files not read yet."""
        ...

    @property
    def bytes_pending(self) -> int:
        """Their bytes."""
        ...

    @property
    def bytes_done(self) -> int:
        """Bytes that were read."""
        ...

    @property
    def rate(self) -> float | None:
        """Bytes a second; None when nothing was read lately."""
        ...


class ProgressView:
    """Shows one piece of work. A context manager; everything goes to stderr."""

    def __init__(self, output: Output, title: str, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._output = output
        self._title = title
        self._monotonic = monotonic
        self._said_at = monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        if output.errors.is_terminal:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TextColumn("{task.fields[left]}"),
            )
            self._bar = Progress(*columns, console=output.errors, transient=True)
            self._task = self._bar.add_task(title, total=None, left="")

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def reading(self, progress: Reading) -> None:
        """Show how far the reading of transcripts is."""
        left = f"{words.count(progress.files_pending, 'file')} left"
        if progress.rate:
            left += f", {size(progress.rate)}/s, {words.duration(progress.bytes_pending / progress.rate)} left"
        self.show(progress.bytes_done, progress.bytes_done + progress.bytes_pending, left)

    def show(self, done: float, total: float | None, left: str) -> None:
        """Show how far the work is.

        Args:
            done: In any unit.
            total: In the same; None when it is not known.
            left: Rate and time left, in words.
        """
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total, left=left)
            return
        now = self._monotonic()
        if now - self._said_at < LINE_EVERY_S:
            return
        self._said_at = now
        share = f" {done / total:.0%}" if total else ""
        self._output.say(f"{self._title}{share}, {left}")
