"""Checks of what is around the index: watcher, threads, lock, clock, Claude Code, Knowledge."""

from __future__ import annotations

import os
import stat
from typing import Final

from engine.core.zone import zone_of
from engine.maintenance.checks import Check, CheckUp, Fix, Outcome, ok, plural
from engine.store import upkeep

FUTURE_MS: Final = 86_400_000
"""A message from tomorrow: the clock was wrong then, or is now."""

SOON_DAYS: Final = 7
"""Sessions that Claude Code deletes within a week are named."""


def watcher(checkup: CheckUp) -> Outcome | None:
    """Look whether changes are noticed when they happen."""
    if checkup.engine is None:
        return None
    at_once, reason, hint = checkup.engine.watching()
    if at_once:
        return ok("New messages are noticed within a second.")
    return Outcome("warning", reason or "Changes are looked for now and then.", hint or "")


def threads(checkup: CheckUp) -> Outcome | None:
    """Look whether a part of the engine died."""
    if checkup.engine is None:
        return None
    died = {name: times for name, times in checkup.engine.restarts().items() if times}
    if not died:
        return ok("All parts of the engine run.")
    given_up = [name for name, times in died.items() if times < 0]
    if given_up:
        return Outcome(
            "error",
            f"{', '.join(given_up)} failed again and again and was given up.",
            "Start Backscroll again; its log says why.",
        )
    listed = ", ".join(f"{name} {plural(times, 'time')}" for name, times in died.items())
    return Outcome("warning", f"Restarted within ten minutes: {listed}.", "It works again; the log says why.")


def ownership(checkup: CheckUp) -> Outcome | None:
    """Look whether the socket's folder and key are closed to others, and no socket is left from a killed engine."""
    if os.name != "posix":
        return None
    socket = checkup.paths.socket_file
    if checkup.engine is None:
        if socket.exists():
            return Outcome(
                "info",
                "A socket is left from an engine that was ended hard.",
                "The next start takes it over by itself.",
            )
        return ok("No engine runs, and none left anything behind.")
    for file, wanted in ((checkup.paths.run, 0o700), (checkup.paths.key_file, 0o600)):
        if file.exists() and stat.S_IMODE(file.stat().st_mode) & ~wanted & 0o777:
            return Outcome(
                "error",
                f"{file.name} can be opened by other users.",
                "They could ask this engine for your history.",
                Fix("Closes it to everybody but you.", 10, lambda _c, _s, f=file, w=wanted: f.chmod(w)),
            )
    return ok(f"Process {os.getpid()} owns this data folder.")


def clock(checkup: CheckUp) -> Outcome:
    """Look whether the clock and the time zone make sense."""
    zone = zone_of(checkup.settings.time_zone)
    with checkup.read() as connection:
        newest = upkeep.newest_message_ms(connection)
    if newest is not None and newest > checkup.clock.now() * 1000 + FUTURE_MS:
        return Outcome(
            "warning",
            "There are messages from the future.",
            "The machine's clock was or is wrong; `today` and `7d` may miss or show too much. Check its date.",
        )
    return ok(f"Days are those of {zone.key}.")


def claude_code(checkup: CheckUp) -> Outcome | None:
    """Look whether Claude Code knows this installation."""
    if checkup.claude is None:
        return None
    state = checkup.claude.state()
    connect = Fix("Registers this installation with Claude Code.", 80, _connect)
    match state:
        case "connected":
            return ok("Claude Code starts this installation.")
        case "other_path":
            return Outcome(
                "warning", "Claude Code starts another installation of Backscroll.", "It may be old, or gone.", connect
            )
        case "not_connected":
            return Outcome(
                "info", "Claude Code does not know Backscroll.", "It cannot search your history. `backscroll connect`."
            )
        case _:
            return Outcome(
                "warning", "Claude Code's configuration cannot be read.", "It is left as it is; mend it by hand first."
            )


def _connect(checkup: CheckUp, _step: object) -> None:
    if checkup.claude is not None:
        checkup.claude.connect()


def retention(checkup: CheckUp) -> Outcome | None:
    """Say what Claude Code will delete within a week, and whether a copy is kept."""
    if checkup.claude is None:
        return None
    days = checkup.claude.retention_days()
    before_ns = int((checkup.clock.now() - max(0, days - SOON_DAYS) * 86_400) * 1e9)
    with checkup.read() as connection:
        due, unarchived = upkeep.sessions_to_be_deleted(connection, before_ns)
    found = f"Claude Code deletes transcripts after {plural(days, 'day')}; {plural(due, 'file')} within a week."
    if unarchived:
        return Outcome(
            "warning",
            f"{found} {plural(unarchived, 'of them is', 'of them are')} not archived yet.",
            "Only the shortened text in the index would be left. Switch the archive on, or raise cleanupPeriodDays.",
        )
    return ok(found + (" All of them are archived." if due else ""))


def knowledge(checkup: CheckUp) -> Outcome | None:
    """Look whether the Knowledge store is valid."""
    if checkup.knowledge is None:
        return None
    problems = checkup.knowledge()
    if not problems:
        return ok("The Knowledge store is valid.")
    return Outcome(
        "warning",
        f"{plural(len(problems), 'problem')} in the Knowledge store: {problems[0]}",
        "`backscroll knowledge check` lists them.",
    )


AROUND_CHECKS: Final = (
    Check("watcher", "Noticing changes", watcher),
    Check("threads", "Parts of the engine", threads),
    Check("ownership", "Lock and socket", ownership),
    Check("clock", "Clock and time zone", clock, needs_database=True),
    Check("claude_code", "Claude Code", claude_code),
    Check("retention", "What Claude Code deletes", retention, needs_database=True),
    Check("knowledge", "Knowledge", knowledge),
)
