"""What Claude Code's configuration says about us: the entry, narrower ones that hide it, permissions, retention.

Pure reading of parsed documents; `claude_code.py` changes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from engine.core.errors import ConfigurationRefused
from engine.integrations.claude_files import ConfigFolder, members, read_document
from engine.integrations.json_text import look_up

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.integrations.launch import ServerCommand

SERVER_NAME = "backscroll"
DEFAULT_RETENTION_DAYS = 30
"""How long Claude Code keeps transcripts when `cleanupPeriodDays` is not set (transcripts.md, section 1)."""

ENTRY = ("mcpServers", SERVER_NAME)
ALLOW = ("permissions", "allow")
RETENTION = ("cleanupPeriodDays",)

ConnectionState = Literal["connected", "other_path", "not_connected", "unreadable"]


@dataclass(frozen=True, slots=True)
class NarrowerEntry:
    """An entry of the same name for one project, which wins over ours there."""

    scope: Literal["local", "project"]
    where: Path
    """The project (local) or the `.mcp.json` (project)."""
    command: str


@dataclass(frozen=True, slots=True)
class Registration:
    """What one configuration of Claude Code says about us."""

    config_file: Path
    state: ConnectionState
    command: str | None = None
    """What the present entry starts."""
    allowed: tuple[str, ...] = ()
    """Our tools that may be used without asking."""
    retention_days: int = DEFAULT_RETENTION_DAYS
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    """What all configurations say about us."""

    server: ServerCommand
    """What is, or would be, registered."""
    program: Path | None
    """The program `claude`, where it was found."""
    registrations: tuple[Registration, ...]
    narrower: tuple[NarrowerEntry, ...]

    @property
    def state(self) -> ConnectionState:
        """The worst of all: connected only when every configuration is."""
        order: tuple[ConnectionState, ...] = ("unreadable", "other_path", "not_connected", "connected")
        return next(state for state in order if any(each.state == state for each in self.registrations))


def read_registration(folder: ConfigFolder, server: ServerCommand) -> tuple[Registration, tuple[NarrowerEntry, ...]]:
    """Return what one configuration says, and its entries for single projects. An unreadable file is a state."""
    try:
        document = read_document(folder.config_file)
        entry = entry_of(folder, document)
        settings = read_document(folder.settings_file)
        days = look_up(settings, RETENTION)
        allow = texts(look_up(settings, ALLOW))
    except ConfigurationRefused as error:
        return Registration(folder.config_file, "unreadable", problem=str(error)), ()
    state: ConnectionState = "not_connected"
    if entry is not None:
        state = "connected" if is_ours(entry, server) else "other_path"
    registration = Registration(
        folder.config_file,
        state,
        command=None if entry is None else command_line(entry),
        allowed=tuple(rule for rule in allow if rule.startswith(f"mcp__{SERVER_NAME}")),
        retention_days=days if isinstance(days, int) else DEFAULT_RETENTION_DAYS,
    )
    return registration, _local_entries(document)


def entry_of(folder: ConfigFolder, document: dict[str, Any]) -> dict[str, Any] | None:
    """Return the user's entry of our name, None when there is none.

    Raises:
        ConfigurationRefused: The place for it holds something else than an object.
    """
    servers = document.get(ENTRY[0])
    if servers is not None and not isinstance(servers, dict):
        raise ConfigurationRefused(
            "Claude Code's configuration cannot be parsed",
            f"{folder.config_file}: mcpServers is not an object. It was left as it is.",
            "Repair the file, then try again.",
        )
    entry = cast("dict[str, Any]", servers or {}).get(SERVER_NAME)
    if entry is None:
        return None
    return cast("dict[str, Any]", entry) if isinstance(entry, dict) else {"command": str(entry)}


def is_ours(entry: Mapping[str, Any], server: ServerCommand) -> bool:
    """Return whether an entry starts this installation; variables the person added beside ours are theirs."""
    return (
        entry.get("type", "stdio") == "stdio"
        and entry.get("command") == server.command
        and texts(entry.get("args")) == server.args
        and dict(_pairs(entry.get("env"))).get("BACKSCROLL_HOME") == dict(server.env).get("BACKSCROLL_HOME")
    )


def _local_entries(document: dict[str, Any]) -> tuple[NarrowerEntry, ...]:
    found: list[NarrowerEntry] = []
    for project, inside in members(document.get("projects")):
        servers = dict(members(inside.get("mcpServers")))
        if SERVER_NAME in servers:
            found.append(NarrowerEntry("local", Path(project), command_line(servers[SERVER_NAME])))
    return tuple(found)


def project_entries(cwd: Path) -> tuple[NarrowerEntry, ...]:
    """Return the entries of `.mcp.json` files that hide ours for a session started in this folder."""
    found: list[NarrowerEntry] = []
    for folder in (cwd, *cwd.parents):
        file = folder / ".mcp.json"
        if not file.is_file():
            continue
        try:
            servers = dict(members(read_document(file).get("mcpServers")))
        except ConfigurationRefused:
            continue  # Claude Code cannot read it either, so it hides nothing
        if SERVER_NAME in servers:
            found.append(NarrowerEntry("project", file, command_line(servers[SERVER_NAME])))
    return tuple(found)


def command_line(entry: Mapping[str, Any]) -> str:
    """Return what an entry starts, in words."""
    words = (str(entry.get("command") or entry.get("url") or "nothing"), *texts(entry.get("args")))
    return " ".join(words)


def texts(value: Any) -> tuple[str, ...]:
    """Return the strings of a list; nothing for anything else."""
    if not isinstance(value, list):
        return ()
    return tuple(each for each in cast("list[Any]", value) if isinstance(each, str))


def _pairs(value: Any) -> list[tuple[str, str]]:
    if not isinstance(value, dict):
        return []
    return [(name, str(each)) for name, each in cast("dict[str, Any]", value).items()]
