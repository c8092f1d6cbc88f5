"""`backscroll connect`: registers the MCP server with Claude Code, and takes out exactly what was added."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli import options, words
from engine.cli.access import access_of
from engine.cli.output import Output
from engine.cli.safe import one_line
from engine.core.clock import SystemClock
from engine.core.errors import ConfigurationRefused

if TYPE_CHECKING:
    from engine.core.paths import Paths
    from engine.integrations.claude_code import ClaudeCode, Outcome
    from engine.integrations.registration import Connection

LONG_RETENTION_DAYS = 3650
"""What is offered in place of Claude Code's 30 days: ten years, which no disk of today notices for text."""

STATES = {
    "connected": "Claude Code is connected.",
    "other_path": "Claude Code is connected to another path.",
    "not_connected": "Claude Code is not connected.",
    "unreadable": "Claude Code's configuration cannot be read.",
}


@dataclass(frozen=True, slots=True)
class _Wishes:
    """What was asked for."""

    remove: bool
    dry_run: bool
    allow_reads: bool
    keep_days: int | None


def connect(
    ctx: typer.Context,
    *,
    remove: Annotated[bool, typer.Option("--remove", help="Take out exactly what was added.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    look: Annotated[bool, typer.Option("--status", help="Only say whether it is connected.")] = False,
    allow_reads: Annotated[
        bool, typer.Option("--allow-reads", help="Let Claude Code use the reading tools without asking each time.")
    ] = False,
    keep_days: Annotated[
        int | None,
        typer.Option("--keep-days", metavar="N", help="Let Claude Code keep its transcripts for so many days."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Register with Claude Code, for your user."""
    output = Output(as_json=as_json)
    claude = _claude_code(access_of(ctx).paths)
    outcomes = [] if look else _done(claude, _Wishes(remove, dry_run, allow_reads, keep_days))
    if not (look or remove or dry_run or as_json) and _is_asked(output):
        outcomes += _offers(claude, output)
    _report(claude.connection(), outcomes, output, dry_run=dry_run, remove=remove)


def is_connected(paths: Paths) -> bool:
    """Return whether Claude Code starts this installation. Where it could not, `connect` says why."""
    try:
        return _claude_code(paths).connection().state == "connected"
    except ConfigurationRefused:
        return False


def _claude_code(paths: Paths) -> ClaudeCode:
    # 10 ms that every other command need not pay.
    from engine.integrations.claude_code import ClaudeCode  # noqa: PLC0415 - see above
    from engine.integrations.launch import server_command, this_installation  # noqa: PLC0415 - see above

    return ClaudeCode(
        server=server_command(this_installation(), paths),
        paths=paths,
        env=os.environ,
        home=Path.home(),
        cwd=Path.cwd(),
        clock=SystemClock(),
    )


def _done(claude: ClaudeCode, wishes: _Wishes) -> list[Outcome]:
    if wishes.remove:
        return [claude.disconnect(dry_run=wishes.dry_run)]
    outcomes = [claude.connect(dry_run=wishes.dry_run)]
    if wishes.allow_reads:
        outcomes.append(claude.allow(_reading_tools(), dry_run=wishes.dry_run))
    if wishes.keep_days is not None:
        outcomes.append(claude.keep_transcripts(wishes.keep_days, dry_run=wishes.dry_run))
    return outcomes


def _reading_tools() -> tuple[str, ...]:
    from engine.mcp.catalogue import reading_tools  # noqa: PLC0415 - only consent needs the list

    return reading_tools()


def _is_asked(output: Output) -> bool:
    """Return whether somebody sits there who can say yes or no."""
    return sys.stdin.isatty() and output.errors.is_terminal


def _offers(claude: ClaudeCode, output: Output) -> list[Outcome]:
    """Ask for what is never done unasked: permissions, and a longer life for transcripts."""
    outcomes: list[Outcome] = []
    registrations = claude.connection().registrations
    missing = claude.allow(_reading_tools(), dry_run=True).changes
    if missing and typer.confirm("Let Claude Code use the reading tools without asking each time?", err=True):
        outcomes.append(claude.allow(_reading_tools()))
    days = min(each.retention_days for each in registrations)
    if days < LONG_RETENTION_DAYS:
        output.say(
            f"Claude Code deletes transcripts after {words.count(days, 'day')}; Backscroll's archive keeps a copy."
        )
        if typer.confirm("Shall Claude Code keep them for ten years?", err=True):
            outcomes.append(claude.keep_transcripts(LONG_RETENTION_DAYS))
    return outcomes


def _report(connection: Connection, outcomes: list[Outcome], output: Output, *, dry_run: bool, remove: bool) -> None:
    changes = [change for outcome in outcomes for change in outcome.changes]
    notes = [note for outcome in outcomes for note in outcome.notes]
    if output.as_json:
        output.json(_wire(connection, outcomes, dry_run=dry_run))
        return
    for change in changes:
        output.show(("Would: " if dry_run else "") + one_line(change.what))
        detail = " ".join(change.command) if change.command else str(change.file)
        output.say("  " + one_line(detail), "place")
    if not changes and remove:
        output.show("Nothing was to be taken out.")
    if not dry_run:
        output.show(STATES[connection.state])
    for registration in connection.registrations:
        if registration.problem:
            output.say(one_line(registration.problem), "note")
        elif registration.state == "other_path":
            output.say(f"  {registration.config_file} starts {one_line(registration.command or '')}", "note")
    for note in notes:
        output.say(one_line(note), "note")


def _wire(connection: Connection, outcomes: list[Outcome], *, dry_run: bool) -> dict[str, Any]:
    return {
        "state": connection.state,
        "server": {
            "command": connection.server.command,
            "args": list(connection.server.args),
            "env": dict(connection.server.env),
        },
        "dry_run": dry_run,
        "changes": [
            {
                "what": change.what,
                "file": str(change.file),
                **({"command": list(change.command)} if change.command else {}),
            }
            for outcome in outcomes
            for change in outcome.changes
        ],
        "registrations": [
            {
                "config_file": str(each.config_file),
                "state": each.state,
                "allowed": list(each.allowed),
                "retention_days": each.retention_days,
                **({"command": each.command} if each.command else {}),
                **({"problem": each.problem} if each.problem else {}),
            }
            for each in connection.registrations
        ],
        "narrower": [
            {"scope": each.scope, "where": str(each.where), "command": each.command} for each in connection.narrower
        ],
        "notes": [note for outcome in outcomes for note in outcome.notes],
    }
