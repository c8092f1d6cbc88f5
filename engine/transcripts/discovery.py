"""Which files are transcripts, whose they are, and where the roots lie. Pure: paths in, values out."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
META_SUFFIX = ".meta.json"
_AGENT = re.compile(r"agent-(?P<id>[\w.-]+)")
_SESSION_ID = re.compile(rb'"sessionId"\s*:\s*"([^"\\]{1,200})"')


class FileKind(StrEnum):
    """What a file below a root is."""

    SESSION = "session"
    AGENT = "agent"
    """A sub-agent's transcript in its session's folder."""
    OLD_AGENT = "old_agent"
    """A sub-agent's transcript beside the sessions (2.0.2x to 2.1.1); its lines name their sessions."""
    SPILL = "spill"
    """Output of a tool that was too long for the transcript."""
    META = "meta"
    """Description of a sub-agent."""


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """What a path says about a transcript."""

    kind: FileKind
    session_id: str | None
    """The session of the file; None where only its lines can tell."""
    agent_id: str | None = None

    @property
    def is_transcript(self) -> bool:
        """True for files whose lines are indexed."""
        return self.kind in (FileKind.SESSION, FileKind.AGENT, FileKind.OLD_AGENT)


def identify(relative: PurePosixPath) -> FileIdentity | None:
    """Return what a file below a root is, None for files that are not Claude Code's conversation.

    Args:
        relative: Path below the root (`<project folder>/<session>.jsonl`).
    """
    parts = relative.parts
    if len(parts) < 2:
        return None
    if len(parts) == 2:
        return _in_project(relative)
    session_id = _uuid_in(parts[1])
    if "tool-results" in parts[1:-1]:
        return FileIdentity(FileKind.SPILL, session_id)
    return _of_agent(relative.name, session_id) if "subagents" in parts[1:-1] else None


def _in_project(relative: PurePosixPath) -> FileIdentity | None:
    if relative.suffix != ".jsonl":
        return None
    agent = _agent_id(relative.stem)
    if agent is not None:
        return FileIdentity(FileKind.OLD_AGENT, None, agent)
    return FileIdentity(FileKind.SESSION, session_of_stem(relative.stem))


def session_named_in(head: bytes) -> str | None:
    """Return the session that most lines at a file's head name, None when none does."""
    named = Counter(_SESSION_ID.findall(head))
    return named.most_common(1)[0][0].decode("utf-8", "replace") if named else None


def _of_agent(name: str, session_id: str | None) -> FileIdentity | None:
    if name.endswith(META_SUFFIX):
        return FileIdentity(FileKind.META, session_id, _agent_id(name.removesuffix(META_SUFFIX)))
    # journal.jsonl of a workflow is a log of launches, not a conversation.
    agent = _agent_id(name.removesuffix(".jsonl")) if name.endswith(".jsonl") else None
    return None if agent is None else FileIdentity(FileKind.AGENT, session_id, agent)


def session_of_stem(stem: str) -> str | None:
    """Return the session a file name tells: the stem when it is a UUID, else the UUID that ends it (exports)."""
    matches = list(_UUID.finditer(stem))
    if matches and matches[-1].end() == len(stem):
        return matches[-1].group().lower()
    return None


def _uuid_in(text: str) -> str | None:
    match = _UUID.search(text)
    return None if match is None else match.group().lower()


def _agent_id(stem: str) -> str | None:
    match = _AGENT.fullmatch(stem)
    return None if match is None else match["id"]


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that holds project folders."""

    path: Path
    label: str
    from_environment: bool = False
    """Named by an environment variable, which an app started at login will not see."""


def claude_roots(env: Mapping[str, str], home: Path) -> tuple[Root, ...]:
    """Return the roots that this environment and home folder name, existing or not, links unresolved.

    `CLAUDE_CONFIG_DIR` may hold several folders, separated by the system's path separator or a comma, and each may
    already end in `projects` (as ccusage accepts).
    """
    named = env.get("CLAUDE_CONFIG_DIR", "").strip()
    if not named:
        return (
            Root(home / ".claude" / "projects", "claude"),
            Root(home / ".config" / "claude" / "projects", "claude-config"),
        )
    separator = re.compile(f"[,{re.escape(os.pathsep)}]")
    folders = [Path(part.strip()).expanduser() for part in separator.split(named) if part.strip()]
    roots: list[Root] = []
    for folder in folders:
        path = folder if folder.name == "projects" else folder / "projects"
        roots.append(Root(path, label_of(path), from_environment=True))
    return tuple(roots)


def label_of(path: Path) -> str:
    """Return a short name for a root, made from its folder: it becomes a folder of the archive."""
    folder = path.parent if path.name == "projects" else path
    label = re.sub(r"[^\w.-]+", "-", folder.name.lstrip(".")).strip("-.")
    return label or "root"
