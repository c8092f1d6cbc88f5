"""Names that repeat in every row (tools, models, folders, sessions), kept once and referred to by number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.core.repository import STATED, Grouping
from engine.store.rows import row, rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw


@dataclass(slots=True)
class NameTable:
    """Numbers of names, remembered for the length of a transaction's owner. Lives on the writer's thread."""

    connection: apsw.Connection
    _tools: dict[str, int] = field(default_factory=dict[str, int])
    _models: dict[str, int] = field(default_factory=dict[str, int])
    _folders: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """Number and weight of the project's grouping."""
    _sessions: dict[str, int] = field(default_factory=dict[str, int])

    def tool(self, name: str | None) -> int | None:
        """Return the number of a tool's name."""
        if name is None:
            return None
        return self._tools.get(name) or self._number("tools", "name", name, self._tools)

    def model(self, name: str | None) -> int | None:
        """Return the number of a model's name."""
        if name is None:
            return None
        return self._models.get(name) or self._number("models", "name", name, self._models)

    def session(self, session_id: str) -> int:
        """Return the number of a session."""
        return self._sessions.get(session_id) or self._number("sessions", "session_id", session_id, self._sessions)

    def folder(self, cwd: str | None, projects: Mapping[str, Grouping]) -> int | None:
        """Return the number of a working directory, grouping it under its repository.

        Args:
            cwd: The working directory.
            projects: What is known of the directories' repositories.
        """
        if cwd is None:
            return None
        grouping = projects.get(cwd)
        known = self._folders.get(cwd)
        if known is not None and (grouping is None or known[1] >= grouping.weight):
            return known[0]
        found = self._grouped(cwd, grouping or Grouping(cwd, 0))
        self._folders[cwd] = found
        return found[0]

    def group(self, cwd: str, repository: str) -> None:
        """Put a working directory under a repository that a record named (a worktree's origin)."""
        self._folders[cwd] = self._grouped(cwd, Grouping(repository, STATED))

    def _grouped(self, cwd: str, grouping: Grouping) -> tuple[int, int]:
        found = row(self.connection, "SELECT id, weight FROM folders WHERE cwd = ?", (cwd,))
        if found is not None and found[1] >= grouping.weight:
            return found[0], found[1]
        project = self._number("projects", "path", grouping.project, {})
        self.connection.execute(
            """INSERT INTO folders (cwd, project_id, weight) VALUES (?1, ?2, ?3)
               ON CONFLICT (cwd) DO UPDATE SET project_id = ?2, weight = ?3""",
            (cwd, project, grouping.weight),
        )
        number = self.connection.last_insert_rowid() if found is None else int(found[0])
        return number, grouping.weight

    def _number(self, table: str, column: str, name: str, known: dict[str, int]) -> int:
        found = row(self.connection, f"SELECT id FROM {table} WHERE {column} = ?", (name,))
        if found is None:
            self.connection.execute(f"INSERT INTO {table} ({column}) VALUES (?)", (name,))
            number = self.connection.last_insert_rowid()
        else:
            number = int(found[0])
        known[name] = number
        return number


def tool_names(connection: apsw.Connection) -> tuple[tuple[int, str], ...]:
    """Return (number, name) of every tool that was ever called."""
    return tuple((found[0], found[1]) for found in rows(connection, "SELECT id, name FROM tools"))
