"""Claude Code's registration for the windows: read and changed on worker threads, through the engine's own rules."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.claude_trial import try_server
from engine.core.clock import SystemClock
from engine.integrations.claude_code import ClaudeCode
from engine.integrations.launch import server_command, this_installation

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop.claude_trial import Trial
    from engine.core.paths import Paths
    from engine.integrations.claude_code import Outcome
    from engine.integrations.registration import Connection

LONG_DAYS: int = 365
"""From here on nothing longer is offered."""

TEN_YEARS: int = 3650
"""What is offered in place of Claude Code's 30 days, in days: no disk of today notices it for text."""


@dataclass(frozen=True, slots=True)
class Claude:
    """Claude Code on this machine. Every method touches files and may start `claude`: call it from `Tasks`."""

    paths: Paths
    make: Callable[[Paths], ClaudeCode] | None = None
    """For tests; the real one where it is None."""

    def connection(self) -> Connection:
        """Return what is registered.

        Raises:
            ConfigurationRefused: This copy lies where it cannot be found again.
        """
        return self._code().connection()

    def connect(self) -> Outcome:
        """Register Backscroll.

        Raises:
            ConfigurationRefused: A file cannot be parsed or written, or `claude` refused.
        """
        return self._code().connect()

    def disconnect(self) -> Outcome:
        """Take out exactly what was added.

        Raises:
            ConfigurationRefused: As in `connect`.
        """
        return self._code().disconnect()

    def allow_reading(self) -> Outcome:
        """Let Claude Code use the reading tools without asking each time.

        Raises:
            ConfigurationRefused: As in `connect`.
        """
        from engine.mcp.catalogue import reading_tools  # noqa: PLC0415 - only consent needs the list

        return self._code().allow(reading_tools())

    def keep_transcripts(self) -> Outcome:
        """Let Claude Code keep its transcripts for ten years.

        Raises:
            ConfigurationRefused: As in `connect`.
        """
        return self._code().keep_transcripts(TEN_YEARS)

    def test(self) -> Trial:
        """Start what is registered, as Claude Code does, and ask it.

        Raises:
            TrialFailed: It does not answer.
            ConfigurationRefused: As in `connection`.
        """
        return try_server(self.connection().server, self.paths.data)

    def _code(self) -> ClaudeCode:
        return (self.make or claude_code)(self.paths)


def claude_code(paths: Paths) -> ClaudeCode:
    """Return Claude Code on this machine.

    Raises:
        ConfigurationRefused: This copy of Backscroll lies where it cannot be found again.
    """
    home = Path.home()
    return ClaudeCode(
        server=server_command(this_installation(), paths),
        paths=paths,
        env=os.environ,
        home=home,
        cwd=home,  # the app has no project: entries of single projects are none of its business
        clock=SystemClock(),
    )
