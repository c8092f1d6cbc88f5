"""Local Git checkpoints of the vault: the exact published bytes, through the `git` program, never a remote.

Only the repository lying exactly at the vault is used; one in a parent folder is never touched. Objects are written
from the outbox's bytes and not from the folder, so versions made while Git was missing get their own commits later.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.store.knowledge_journal import KnowledgeJournal, QueuedFile

logger = logging.getLogger(__name__)

TIMEOUT_S = 20.0

_OPTIONS = (
    "user.name=Backscroll",
    "user.email=backscroll@localhost",
    "commit.gpgsign=false",
    "core.autocrlf=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
)
_KEPT_ENVIRONMENT = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL")
"""Everything else is dropped: GIT_DIR and its like would lead to another repository, HOME to hooks and signing keys."""


class GitFailed(Exception):
    """A git command did not work."""


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """Commits what a store published.

    Args:
        vault: The folder whose own `.git` is used.
        program: Name or path of git; looked up on PATH at each use, so that an installed git is found later.
    """

    vault: Path
    program: str = "git"

    def flush(self, journal: KnowledgeJournal) -> str:
        """Commit everything that waits, in order, and return the state: committed, pending or unavailable.

        A failure leaves the outbox as it is; publications are not affected.
        """
        if not journal.without_commit():
            return "committed"
        program = shutil.which(self.program)
        dot_git = self.vault / ".git"
        if program is None or dot_git.is_symlink() or (dot_git.exists() and not dot_git.is_dir()):
            return "unavailable"
        try:
            if not dot_git.exists():
                self._git(program, "init", "--quiet", "--initial-branch=main", ".", bare=True)
            for _, files in groupby(journal.outbox(), key=lambda file: file.request_id or f"edit {file.seq}"):
                group = list(files)
                journal.committed(group, self._commit(program, group))
        except (GitFailed, OSError, subprocess.SubprocessError) as error:
            logger.warning("A Git checkpoint of Knowledge failed and is tried again later: %s", error)
            return "pending"
        return "committed"

    def _commit(self, program: str, files: Sequence[QueuedFile]) -> str:
        """Write one commit with these versions on top of HEAD and return its id."""
        entries: list[str] = []
        for file in files:
            data = file.data if file.data is not None else (self.vault / file.path).read_bytes()
            blob = self._git(program, "hash-object", "-w", "--stdin", given=data)
            entries.append(f"100644 {blob}\t{file.path}\0")
        listing = "".join(entries).encode()
        head = self._head(program)
        with tempfile.TemporaryDirectory(prefix="backscroll-git-") as folder:
            index = str(Path(folder) / "index")
            if head is not None:
                self._git(program, "read-tree", head, index=index)
            self._git(program, "update-index", "-z", "--add", "--index-info", given=listing, index=index)
            tree = self._git(program, "write-tree", index=index)
        commit = self._commit_tree(program, tree, head, files[0])
        # The person's own index learns of the new versions too, or `git status` would show them undone. Also of a
        # commit that was made before: a locked index may have stopped the checkpoint right here.
        self._git(program, "update-index", "-z", "--add", "--index-info", given=listing)
        return commit

    def _commit_tree(self, program: str, tree: str, head: str | None, first: QueuedFile) -> str:
        """Return the commit that holds a tree: HEAD when it already does, else a new one on top of it."""
        if head is not None and tree == self._git(program, "rev-parse", f"{head}^{{tree}}"):
            return head
        parents = ("-p", head) if head is not None else ()
        commit = self._git(program, "commit-tree", tree, *parents, given=_message(first.message), at=first.at)
        self._git(program, "update-ref", "-m", "backscroll", "HEAD", commit, head or "0" * 40)
        return commit

    def _head(self, program: str) -> str | None:
        try:
            return self._git(program, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
        except GitFailed:
            return None

    def _git(
        self,
        program: str,
        *arguments: str,
        given: bytes = b"",
        index: str | None = None,
        at: str | None = None,
        bare: bool = False,
    ) -> str:
        environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
        environment.update(
            GIT_CONFIG_NOSYSTEM="1",
            GIT_CONFIG_GLOBAL=os.devnull,
            GIT_CEILING_DIRECTORIES=os.fspath(self.vault.parent),
            GIT_TERMINAL_PROMPT="0",
        )
        if index is not None:
            environment["GIT_INDEX_FILE"] = index
        if at is not None:
            environment.update(GIT_AUTHOR_DATE=at, GIT_COMMITTER_DATE=at)
        place = [] if bare else ["--git-dir=.git", "--work-tree=."]
        options = [part for option in _OPTIONS for part in ("-c", option)]
        done = subprocess.run(
            [program, *options, *place, *arguments],
            cwd=self.vault,
            env=environment,
            input=given,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        if done.returncode != 0:
            raise GitFailed(f"git {arguments[0]}: {done.stderr.decode('utf-8', 'replace').strip()[:300]}")
        return done.stdout.decode("utf-8", "replace").strip()


def _message(text: str) -> bytes:
    """Return a commit message Git takes: a title written by hand may hold what it refuses."""
    return text.replace("\0", " ").encode("utf-8", "replace")
