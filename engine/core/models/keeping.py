"""What looking after the history answers: doctor, prune, forget, backup, restore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check of the doctor found."""

    id: str
    title: str
    severity: Literal["ok", "info", "warning", "error"]
    found: str
    means: str
    """Why it matters."""
    fix: str | None = None
    """What fixing it does; None where a person has to do something, which `means` says."""
    fixed: bool | None = None
    """True after it was fixed, False when fixing it was tried and failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReply:
    """The findings, worst first. `ok` when none of them is a warning or an error that was not fixed."""

    ok: bool
    findings: tuple[Finding, ...]
    note: str | None = None
    truncated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyCopy:
    """A session that would exist nowhere after a prune."""

    session_id: str
    title: str | None
    last_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneReply:
    """What a prune would take out, or took out."""

    dry_run: bool
    chunks: int
    calls: int
    sessions: int
    vectors: int
    bytes_freed: int
    """On the disk: estimated before, measured after."""
    archive_bytes: int
    """Of them, in the archive."""
    only_copies: tuple[OnlyCopy, ...]
    note: str | None = None
    truncated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReply:
    """What `forget` took out."""

    session_id: str
    left_on_disk: tuple[str, ...]
    """Claude Code's own files of the session, which are never touched."""
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReply:
    """The copy of the index that `backup` made."""

    file: str
    bytes: int
    kept: int
    """Copies there are now, this one included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A stretch of a file that the archive cannot give back."""

    offset: int
    """Of its first byte in the file as it was."""
    bytes: int | None = None
    """None at the end of a file, when nothing tells how many there were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredFile:
    """One file that was written back."""

    file: str
    bytes: int
    source: Literal["transcript", "archive"]
    damaged: Literal[True] | None = None
    """The archive's file is damaged: there are gaps."""
    gaps: tuple[Gap, ...] = ()
    """A line feed stands in place of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReply:
    """What `restore` wrote."""

    session_id: str
    files: tuple[RestoredFile, ...]
    note: str | None = None
