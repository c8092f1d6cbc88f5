"""Registers Backscroll with Claude Code, says whether it is registered, and takes out exactly what it added.

The rules are interface.md's "Connecting Claude Code": the present entry is read first; the program `claude` does the
writing where it is found, else one key of `.claude.json` is changed; permission rules and a longer retention only with
consent. What was added is remembered in `state/claude-code.json`, before it is added: taking out something that
never arrived does nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.errors import ConfigurationRefused, InvalidArgument
from engine.integrations.claude_files import ConfigFolder, config_folders, edit_document, keep_copy, read_document
from engine.integrations.json_text import append_items, look_up, parse, remove_items, remove_value, set_value
from engine.integrations.memory import Added, Memory
from engine.integrations.registration import (
    ALLOW,
    ENTRY,
    RETENTION,
    SERVER_NAME,
    Connection,
    NarrowerEntry,
    command_line,
    entry_of,
    is_ours,
    project_entries,
    read_registration,
    texts,
)

if TYPE_CHECKING:
    from engine.core.clock import Clock
    from engine.core.paths import Paths
    from engine.integrations.launch import ServerCommand

PROGRAM_TIMEOUT_S = 60
"""`claude mcp add` took 0.15 s (2.1.332, Linux); a cold start on a slow disk takes some seconds."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that was done, or would be."""

    what: str
    file: Path
    command: tuple[str, ...] = ()
    """The call of `claude` that does it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What connecting or disconnecting did."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    dry_run: bool


_Step = tuple[Change, Callable[[], None]]


def find_program(env: Mapping[str, str], home: Path) -> Path | None:
    """Return the program `claude`: on PATH, else where its installers put it.

    An app started at login often has a shorter PATH than a terminal.
    """
    found = shutil.which("claude", path=env.get("PATH", os.defpath))
    if found:
        return Path(found)
    usual = [home / ".local/bin/claude", home / ".claude/local/claude", home / ".local/bin/claude.exe"]
    return next((place for place in usual if os.access(place, os.X_OK) and place.is_file()), None)


class ClaudeCode:
    """Claude Code on this machine, as far as it concerns us. Asking changes nothing."""

    def __init__(
        self, *, server: ServerCommand, paths: Paths, env: Mapping[str, str], home: Path, cwd: Path, clock: Clock
    ) -> None:
        self._server = server
        self._env = env
        self._cwd = cwd
        self._clock = clock
        self._program = find_program(env, home)
        self._folders = config_folders(env, home, separator=os.pathsep)
        self._memory = Memory(paths.state / "claude-code.json")

    def connection(self) -> Connection:
        """Return what is registered now. Never raises: a file that cannot be read is a state."""
        read = [read_registration(folder, self._server) for folder in self._folders]
        local = tuple(entry for _, entries in read for entry in entries)
        registrations = tuple(registration for registration, _ in read)
        return Connection(self._server, self._program, registrations, local + project_entries(self._cwd))

    def connect(self, *, dry_run: bool = False) -> Outcome:
        """Register the server in every configuration. One that has it already is left alone.

        Raises:
            ConfigurationRefused: A file cannot be parsed or written, or `claude` refused. The old entry stands.
        """
        steps = [step for folder in self._folders for step in self._connect_steps(folder)]
        notes = [_said(entry) for entry in self.connection().narrower]
        if steps:
            notes.append("Sessions of Claude Code that are running now need a restart to see it.")
        outcome = _run(steps, notes, dry_run=dry_run)
        if dry_run:
            return outcome
        # A newer `claude` may keep its servers elsewhere: what it said it did is looked up, not believed.
        unseen = [each.config_file for each in self.connection().registrations if each.state != "connected"]
        missing = tuple(
            f"`claude` said that it was done, but the entry is not in {file}. `claude mcp list` shows what it knows."
            for file in unseen
        )
        return replace(outcome, notes=(*missing, *outcome.notes))

    def allow(self, tools: tuple[str, ...], *, dry_run: bool = False) -> Outcome:
        """Let Claude Code use these tools of ours without asking each time. Only with the person's consent.

        Raises:
            ConfigurationRefused: A settings file cannot be parsed or written.
        """
        rules = tuple(f"mcp__{SERVER_NAME}__{tool}" for tool in tools)
        steps = [step for folder in self._folders for step in self._allow_steps(folder, rules)]
        return _run(steps, [], dry_run=dry_run)

    def keep_transcripts(self, days: int, *, dry_run: bool = False) -> Outcome:
        """Raise `cleanupPeriodDays`, never lower it. Only when the person asks.

        Raises:
            InvalidArgument: Not a positive number of days.
            ConfigurationRefused: A settings file cannot be parsed or written.
        """
        if days < 1:
            raise InvalidArgument("Wrong number of days", f"You gave {days}.", "Give a whole number from 1 up.")
        steps = [step for folder in self._folders for step in self._retention_steps(folder, days)]
        return _run(steps, [], dry_run=dry_run)

    def disconnect(self, *, dry_run: bool = False) -> Outcome:
        """Take out what was added, in every configuration that was ever touched, and nothing else.

        Raises:
            ConfigurationRefused: A file cannot be parsed or written, or `claude` refused.
        """
        notes: list[str] = []
        added = self._memory.read()
        remembered = {
            Path(file): ConfigFolder.named(Path(note.config_dir)) if note.config_dir else self._default_of(Path(file))
            for file, note in added.items()
            if note.entry is not None
        }
        present = {folder.config_file: folder for folder in self._folders}
        steps: list[_Step] = []
        for folder in {**remembered, **present}.values():
            steps += self._disconnect_steps(folder, added.get(str(folder.config_file)), notes)
        for file, note in added.items():
            steps += self._settings_steps(Path(file), note)
        if steps:
            notes.append("Sessions of Claude Code that are running now keep it until they end.")
        return _run(steps, notes, dry_run=dry_run)

    def _default_of(self, config_file: Path) -> ConfigFolder:
        return ConfigFolder.default(config_file.parent)

    def _connect_steps(self, folder: ConfigFolder) -> list[_Step]:
        document = read_document(folder.config_file)
        old = entry_of(folder, document)
        if old is not None and is_ours(old, self._server):
            return []
        new: dict[str, Any] = {
            "type": "stdio",
            "command": self._server.command,
            "args": list(self._server.args),
            "env": dict(self._server.env),
        }
        what = "Register the server" if old is None else f"Replace the entry that starts {command_line(old)}"
        note = Added(
            entry=new,
            config_dir=str(folder.config_dir) if folder.config_dir else None,
            made=_missing(document, ENTRY[:-1]),
            made_file=not folder.config_file.exists(),
        )

        def remember() -> None:
            self._memory.add(folder.config_file, note)

        if self._program is None:

            def write() -> None:
                remember()
                edit_document(folder.config_file, lambda text: set_value(text, ENTRY, new), self._clock)

            return [(Change(what, folder.config_file), write)]
        options = [option for name, value in self._server.env for option in ("--env", f"{name}={value}")]
        # `--env` takes every word up to the next option or `--`, so the name stands before it (tried with 2.1.332).
        command = (
            "mcp",
            "add",
            "--scope",
            "user",
            SERVER_NAME,
            *options,
            "--",
            self._server.command,
            *self._server.args,
        )

        def add() -> None:
            remember()
            if old is not None:
                keep_copy(folder.config_file, self._clock)
                self._claude(folder, ("mcp", "remove", "--scope", "user", SERVER_NAME))
            try:
                self._claude(folder, command)
            except ConfigurationRefused:
                if old is not None:
                    edit_document(folder.config_file, lambda text: set_value(text, ENTRY, old), self._clock)
                raise

        return [(Change(what, folder.config_file, ("claude", *command)), add)]

    def _disconnect_steps(self, folder: ConfigFolder, note: Added | None, notes: list[str]) -> list[_Step]:
        entry = entry_of(folder, read_document(folder.config_file))
        if entry is None:
            return []
        if not is_ours(entry, self._server) and (note is None or entry != note.entry):
            notes.append(f"{folder.config_file} starts {command_line(entry)}, which was not added here. It was left.")
            return []
        change = Change("Remove the server", folder.config_file)
        if self._program is not None:
            command = ("mcp", "remove", "--scope", "user", SERVER_NAME)

            def remove() -> None:
                self._claude(folder, command)
                self._memory.forget(folder.config_file)

            return [(Change(change.what, change.file, ("claude", *command)), remove)]

        def write() -> None:
            edit_document(folder.config_file, lambda text: _taken_out(text, ENTRY, note), self._clock)
            _remove_made_file(folder.config_file, note)
            self._memory.forget(folder.config_file)

        return [(change, write)]

    def _allow_steps(self, folder: ConfigFolder, rules: tuple[str, ...]) -> list[_Step]:
        file = folder.settings_file
        document = read_document(file)
        present = set(texts(look_up(document, ALLOW)))
        if present & {f"mcp__{SERVER_NAME}", f"mcp__{SERVER_NAME}__*"}:
            return []
        new = tuple(rule for rule in rules if rule not in present)
        if not new:
            return []
        note = Added(rules=new, made=_missing(document, ALLOW), made_file=not file.exists())

        def write() -> None:
            self._memory.add(file, note)
            edit_document(file, lambda text: append_items(text, ALLOW, new), self._clock)

        return [(Change(f"Allow without asking: {', '.join(new)}", file), write)]

    def _retention_steps(self, folder: ConfigFolder, days: int) -> list[_Step]:
        file = folder.settings_file
        document = read_document(file)
        before = look_up(document, RETENTION)
        if isinstance(before, int) and before >= days:
            return []
        note = Added(retention=days, retention_before=before, made_file=not file.exists())

        def write() -> None:
            self._memory.add(file, note)
            edit_document(file, lambda text: set_value(text, RETENTION, days), self._clock)

        return [(Change(f"Keep transcripts for {days} days (cleanupPeriodDays)", file), write)]

    def _settings_steps(self, file: Path, note: Added) -> list[_Step]:
        if not note.rules and note.retention is None:
            return []
        document = read_document(file)
        rules = tuple(rule for rule in note.rules if rule in texts(look_up(document, ALLOW)))
        keeps_ours = note.retention is not None and look_up(document, RETENTION) == note.retention

        def edit(text: str) -> str:
            text = remove_items(text, ALLOW, rules)
            text = _without_made(text, note) if note.rules else text
            if not keeps_ours:
                return text
            if note.retention_before is None:
                return remove_value(text, RETENTION)
            return set_value(text, RETENTION, note.retention_before)

        def write() -> None:
            edit_document(file, edit, self._clock)
            _remove_made_file(file, note)
            self._memory.forget(file)

        words = [f"Remove {len(rules)} permission rules"] if rules else []
        if keeps_ours:
            words.append(f"set cleanupPeriodDays back to {note.retention_before or 'its default'}")
        return [(Change(" and ".join(words), file), write)] if words else []

    def _claude(self, folder: ConfigFolder, arguments: tuple[str, ...]) -> None:
        env = {name: value for name, value in self._env.items() if name not in ("CLAUDE_CONFIG_DIR", "CLAUDECODE")}
        if folder.config_dir is not None:
            env["CLAUDE_CONFIG_DIR"] = str(folder.config_dir)
        try:
            done = subprocess.run(
                [str(self._program), *arguments],
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=PROGRAM_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ConfigurationRefused(
                "Claude Code could not be asked", f"{self._program} did not run: {error}.", "Try `claude --version`."
            ) from error
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip() or "It gave no reason.")[:500]
            raise ConfigurationRefused(
                "Claude Code refused the change",
                f"`claude {' '.join(arguments[:2])}` ended with {done.returncode}: {said}",
                "Run the command by hand to see more: claude " + " ".join(arguments),
            )


def _run(steps: list[_Step], notes: list[str], *, dry_run: bool) -> Outcome:
    if not dry_run:
        for _, apply in steps:
            apply()
    return Outcome(tuple(change for change, _ in steps), tuple(notes), dry_run)


def _taken_out(text: str, path: tuple[str, ...], note: Added | None) -> str:
    text = remove_value(text, path)
    return _without_made(text, note) if note is not None else text


def _without_made(text: str, note: Added) -> str:
    """Take out the tables and lists that were made for ours, innermost first, where nothing else has come in."""
    for name in reversed(note.made):
        path = tuple(name.split("."))
        if look_up(parse(text), path) in ({}, []):
            text = remove_value(text, path)
    return text


def _remove_made_file(file: Path, note: Added | None) -> None:
    if note is not None and note.made_file and file.exists() and not read_document(file):
        file.unlink()


def _missing(document: dict[str, Any], path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tables of a path that will have to be made, outermost first, as dotted names."""
    lengths = range(1, len(path) + 1)
    return tuple(".".join(path[:length]) for length in lengths if look_up(document, path[:length]) is None)


def _said(entry: NarrowerEntry) -> str:
    place = f"in {entry.where}" if entry.scope == "project" else f"for the project {entry.where}"
    return (
        f"There is an entry of the same name {place} ({entry.scope} scope). It wins there: it starts {entry.command}."
    )
