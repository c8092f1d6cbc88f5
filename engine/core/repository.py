"""Which repository a working directory belongs to: asked of Git's own files on this disk, else told by its name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_MAX_PARENTS = 40
_WORKTREE = re.compile(
    r"^(?P<repository>.+?)[\\/](?:\.claude[\\/]worktrees|\.worktrees|\.git[\\/]worktrees)[\\/][^\\/]+"
)

STATED = 1 << 21
"""Weight of a repository that a record names as the origin of a worktree."""

CERTAIN = 1 << 20
"""Weight of a repository that Git's files, or a worktree's path, tell."""


class Grouping(NamedTuple):
    """The project of a working directory, and how sure that is.

    Several transcripts may name the same directory and each know something else about it. The greatest weight wins, so
    the order in which they are read does not matter.
    """

    project: str
    weight: int


def grouping_of(cwd: str, project_folder: str) -> Grouping:
    """Return the project of a working directory.

    Where no repository is known, a session's subfolders belong to the directory it was started in; the nearest such
    directory wins, so that a session started in the home folder does not swallow everything below it.

    Args:
        cwd: As a transcript names it.
        project_folder: Name of the folder the transcript lies in: the encoded directory its session began in.
    """
    repository = repository_of(cwd)
    if repository is not None:
        return Grouping(repository, CERTAIN)
    start = _started_in(cwd, project_folder)
    if start is None:
        return Grouping(cwd, 0)
    return Grouping(repository_by_name(start) or start, len(start))


def repository_of(cwd: str) -> str | None:
    """Return the main working tree of the repository around a directory, None when nothing tells."""
    return _by_git(Path(cwd)) or repository_by_name(cwd)


def repository_by_name(cwd: str) -> str | None:
    """Return the repository that a worktree's path names (`<repo>/.claude/worktrees/<name>/…`), else None."""
    match = _WORKTREE.match(cwd)
    return None if match is None else match["repository"]


def encode_cwd(cwd: str) -> str:
    """Return the folder name Claude Code gives a working directory: lossy, so only good for comparing."""
    return re.sub(r"[^a-zA-Z0-9]", "-", cwd)


def relative_cwd(cwd: str | None, project: str | None) -> str | None:
    """Return a working directory relative to its project when it lies inside; None when they are the same."""
    if cwd is None or cwd == project:
        return None
    if project is not None and cwd.startswith(project) and cwd[len(project) :][:1] in ("/", "\\"):
        return cwd[len(project) + 1 :]
    return cwd


def _started_in(cwd: str, project_folder: str) -> str | None:
    """Return the directory at or above `cwd` that the project folder stands for."""
    encoded = encode_cwd(cwd)
    if not encoded.startswith(project_folder):
        return None
    ends = len(project_folder)
    return cwd[:ends] if cwd[ends : ends + 1] in ("", "/", "\\") else None


def _by_git(folder: Path) -> str | None:
    if not folder.is_absolute():
        return None
    for parent in (folder, *folder.parents)[:_MAX_PARENTS]:
        marker = parent / ".git"
        try:
            if marker.is_dir():
                return str(parent)
            if marker.is_file():
                return _main_of_worktree(marker) or str(parent)
        except (OSError, ValueError):
            # A folder of another machine or user, or no path at all: its name has to tell.
            return None
    return None


def _main_of_worktree(marker: Path) -> str | None:
    """Return the repository a linked worktree's `.git` file points to (gitrepository-layout(5))."""
    text = marker.read_text(encoding="utf-8", errors="replace")
    if not text.startswith("gitdir:"):
        return None
    git_dir = Path(text.removeprefix("gitdir:").strip())
    if not git_dir.is_absolute():
        git_dir = marker.parent / git_dir
    if git_dir.parent.name == "worktrees" and git_dir.parent.parent.name == ".git":
        return str(git_dir.parent.parent.parent)
    return None
