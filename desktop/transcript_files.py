"""Where transcripts lie on the disk: one session's, to open it in an editor, and how many there are below each root."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.ingest.scanner import Scan, existing_roots
from engine.transcripts.discovery import Root, claude_roots

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.core.settings import Settings

_NAME = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class CountedRoot:
    """A folder of transcripts."""

    path: Path
    label: str
    transcripts: int
    """Files below it, those of subagents included."""


def roots_of(settings: Settings, env: Mapping[str, str], home: Path) -> tuple[Root, ...]:
    """Return the folders of transcripts that exist, each once."""
    named = tuple(Root(Path(each.path).expanduser(), each.label) for each in settings.transcripts_roots)
    return existing_roots(claude_roots(env, home) + named)


def counted_roots(settings: Settings, env: Mapping[str, str], home: Path) -> tuple[CountedRoot, ...]:
    """Return the folders of transcripts with what lies in them. Looks at every file's name: not on the main thread."""
    scan = Scan(roots_of(settings, env, home))
    return tuple(CountedRoot(root.path, root.label, sum(1 for _ in scan.files(root))) for root in scan.roots)


def transcript_of(session_id: str, roots: tuple[Root, ...]) -> Path | None:
    """Return the transcript of a session, None when Claude Code has deleted it."""
    if not _NAME.fullmatch(session_id):
        return None  # an id comes from a file's line and must not become a pattern or a path
    for root in roots:
        for file in root.path.glob(f"*/{session_id}.jsonl"):
            return file
    return None
