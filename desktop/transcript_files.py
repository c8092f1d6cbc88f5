"""Where the transcript of a session lies on the disk, to open it in an editor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.transcripts.discovery import claude_roots

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from engine.core.settings import Settings

_NAME = re.compile(r"[\w-]+")


def roots_of(settings: Settings, env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Return the folders of transcripts that exist, each once."""
    named = [root.path for root in claude_roots(env, home)]
    named += [home.__class__(each.path).expanduser() for each in settings.transcripts_roots]
    found = {path.resolve(): path for path in named if path.is_dir()}
    return tuple(found.values())


def transcript_of(session_id: str, roots: tuple[Path, ...]) -> Path | None:
    """Return the transcript of a session, None when Claude Code has deleted it."""
    if not _NAME.fullmatch(session_id):
        return None  # an id comes from a file's line and must not become a pattern or a path
    for root in roots:
        for file in root.glob(f"*/{session_id}.jsonl"):
            return file
    return None
