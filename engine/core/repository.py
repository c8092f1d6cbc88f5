"""Which repository a working directory belongs to: asked of Git's own files on this disk, else told by its name."""

from __future__ import annotations

import re
from pathlib import Path

_MAX_PARENTS = 40
_WORKTREE = re.compile(
    r"^(?P<repository>.+?)[\\/](?:\.claude[\\/]worktrees|\.worktrees|\.git[\\/]worktrees)[\\/][^\\/]+"
)


def projects_of(folders: set[str], project_folder: str) -> dict[str, str]:
    """Return the repository of each working directory that is not its own project.

    Args:
        folders: Working directories as transcripts name them.
        project_folder: Name of the folder the transcript lies in: the encoded directory the session began in. Folders
            below that directory belong to it.
    """
    start = next((each for each in folders if encode_cwd(each) == project_folder), None)
    found: dict[str, str] = {}
    for cwd in folders:
        project = repository_of(cwd)
        if project is None and start is not None and _is_inside(cwd, start):
            project = repository_of(start) or start
        if project is not None and project != cwd:
            found[cwd] = project
    return found


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
        except OSError:
            # A folder of another machine or user: its name has to tell.
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


def _is_inside(cwd: str, start: str) -> bool:
    return cwd.startswith(start) and cwd[len(start) :][:1] in ("/", "\\")
