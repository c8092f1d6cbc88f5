"""Names that repeat in every row (tools, models, folders, sessions), kept once and referred to by number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw


@dataclass(slots=True)
class NameTable:
    """Numbers of names, remembered for the length of a transaction's owner. Lives on the writer's thread."""

    connection: apsw.Connection
    _tools: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    _models: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    _folders: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    _sessions: dict[str, int] = field(default_factory=lambda: dict[str, int]())

    def tool(self, name: str | None) -> int | None:
        """Return the number of a tool's name."""
        return None if name is None else self._number("tools", "name", name, self._tools)

    def model(self, name: str | None) -> int | None:
        """Return the number of a model's name."""
        return None if name is None else self._number("models", "name", name, self._models)

    def session(self, session_id: str) -> int:
        """Return the number of a session."""
        return self._number("sessions", "session_id", session_id, self._sessions)

    def folder(self, cwd: str | None, projects: Mapping[str, str]) -> int | None:
        """Return the number of a working directory, grouping it under its repository when it is new.

        Args:
            cwd: The working directory.
            projects: Repository of each directory that has one of another name.
        """
        if cwd is None:
            return None
        known = self._folders.get(cwd)
        if known is not None:
            return known
        row = self.connection.execute("SELECT id FROM folders WHERE cwd = ?", (cwd,)).fetchone()
        if row is None:
            project = self._number("projects", "path", projects.get(cwd, cwd), {})
            self.connection.execute("INSERT INTO folders (cwd, project_id) VALUES (?, ?)", (cwd, project))
            number = self.connection.last_insert_rowid()
        else:
            number = int(row[0])
        self._folders[cwd] = number
        return number

    def group(self, cwd: str, repository: str) -> None:
        """Put a working directory under a repository that a record named (a worktree's origin)."""
        project = self._number("projects", "path", repository, {})
        self.connection.execute(
            """INSERT INTO folders (cwd, project_id) VALUES (?, ?)
               ON CONFLICT (cwd) DO UPDATE SET project_id = excluded.project_id""",
            (cwd, project),
        )

    def _number(self, table: str, column: str, name: str, known: dict[str, int]) -> int:
        number = known.get(name)
        if number is None:
            row = self.connection.execute(f"SELECT id FROM {table} WHERE {column} = ?", (name,)).fetchone()  # noqa: S608 - names of our own tables
            if row is None:
                self.connection.execute(f"INSERT INTO {table} ({column}) VALUES (?)", (name,))  # noqa: S608 - names of our own tables
                number = self.connection.last_insert_rowid()
            else:
                number = int(row[0])
            known[name] = number
        return number


def tool_names(connection: apsw.Connection) -> tuple[tuple[int, str], ...]:
    """Return (number, name) of every tool that was ever called."""
    return tuple((row[0], row[1]) for row in connection.execute("SELECT id, name FROM tools"))
