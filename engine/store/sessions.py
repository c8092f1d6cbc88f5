"""What is known of sessions: for each file its own account, and the one row that is shown, made of all accounts.

A session may stand in several files (its sub-agents', copies of its folder, exports). An account depends on its file's
bytes alone, and the row on the accounts alone, so neither depends on the order or the pieces in which files are read.
"""

from __future__ import annotations

import json
import re
from dataclasses import astuple, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from engine.core.ids import message_key
from engine.store.codes import COPY_KIND_OF
from engine.store.rows import row, rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import apsw

    from engine.store.batches import FileBatch
    from engine.store.names import NameTable
    from engine.transcripts.records import ParsedMessage, SessionFact

_NO_TIME = 1 << 62
_BARE_COMMAND = re.compile(r"/[^\s/]+")
"""`/init`: official lists, too, show a command only where a session has no prompt (transcripts.md, section 2)."""
_MACHINE_TITLES = ("API Error", "Invalid API key", "Not logged in")
"""Summaries that ≤ 1.0.x wrote about sessions in which nothing was said."""


@dataclass(slots=True)
class Account:
    """What one file says about one session. The fields are columns of `file_sessions`, in order."""

    main: int = 0
    first_ms: int | None = None
    last_ms: int | None = None
    folder_id: int | None = None
    branch: str | None = None
    version: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    last_prompt: str | None = None
    summary: str | None = None
    opening: str | None = None
    parent: str | None = None
    parent_kind: str | None = None

    def hear(self, message: ParsedMessage, folder: int | None) -> None:
        """Add one message, in file order. What sub-agents say counts only until the conversation itself speaks."""
        time_ms = message.timestamp_ms
        if time_ms is not None:
            self.first_ms = time_ms if self.first_ms is None else min(self.first_ms, time_ms)
            self.last_ms = time_ms if self.last_ms is None else max(self.last_ms, time_ms)
        self.version = message.version or self.version
        if message.is_sidechain:
            if self.folder_id is None:
                self.folder_id = folder
            return
        if folder is not None and (self.folder_id is None or not self.main):
            self.folder_id = folder
        self.main = 1
        if message.branch is not None and message.branch != "HEAD":
            self.branch = message.branch
        if _opens_better(message.opening, self.opening):
            self.opening = message.opening
        if message.copied_from is not None:
            self.parent, self.parent_kind = message.copied_from, message.copy_kind

    def learn(self, fact: SessionFact) -> None:
        """Add one fact; the last of its kind holds."""
        if fact.kind == "custom_title":
            self.custom_title = fact.text
        elif fact.kind == "ai_title":
            self.ai_title = fact.text
        elif fact.kind == "last_prompt":
            self.last_prompt = fact.text
        elif fact.kind == "summary":
            self.summary = fact.text
        elif fact.kind == "parent":
            self.parent, self.parent_kind = fact.text, fact.about


_NAMES = tuple(each.name for each in fields(Account))
_LATEST = ("branch", "version", "custom_title", "ai_title", "last_prompt", "summary", "parent", "parent_kind")
"""Columns of which the account that was written last holds."""


@dataclass(slots=True)
class SessionTable:
    """Keeps accounts and rows on the writer's thread, inside the caller's transaction."""

    connection: apsw.Connection
    names: NameTable
    touched: set[int] = field(default_factory=set[int])
    """Sessions whose row has to be made anew: `settle` does it once for many batches."""

    def record(self, batch: FileBatch) -> None:
        """Add what a batch says to its file's accounts."""
        accounts: dict[int, Account] = {}
        for each in batch.occurrences:
            message = each.message
            account = self._account(batch.file_id, self.names.session(message.session_id), accounts)
            account.hear(message, self.names.folder(message.cwd, batch.projects))
        for fact in batch.facts:
            if fact.kind == "worktree":
                if fact.about is not None:
                    origin = batch.projects.get(fact.text)
                    self.names.group(fact.about, fact.text if origin is None else origin.project)
            elif fact.kind != "summary" or (fact.about is None and not fact.text.startswith(_MACHINE_TITLES)):
                self._account(batch.file_id, self.names.session(fact.session_id), accounts).learn(fact)
        self.connection.executemany(
            f"INSERT OR REPLACE INTO file_sessions VALUES (?, ?, {', '.join('?' * len(_NAMES))})",
            [(batch.file_id, session, *astuple(account)) for session, account in accounts.items()],
        )
        self._summaries(batch)
        self._agents(batch)

    def settle(self) -> None:
        """Make the rows of the sessions in which something changed."""
        for session in self.touched:
            self._update(session)
        self.touched.clear()

    def _account(self, file: int, session: int, accounts: dict[int, Account]) -> Account:
        account = accounts.get(session)
        if account is None:
            found = row(
                self.connection,
                f"SELECT {', '.join(_NAMES)} FROM file_sessions WHERE file_id = ? AND session_id = ?",
                (file, session),
            )
            account = accounts[session] = Account() if found is None else Account(*found)
            self.touched.add(session)
        return account

    def _update(self, session: int) -> None:
        found = rows(
            self.connection,
            f"""SELECT {", ".join(f"a.{name}" for name in _NAMES)}, r.path || '/' || f.path FROM file_sessions a
                JOIN files f ON f.id = a.file_id JOIN roots r ON r.id = f.root_id WHERE a.session_id = ?""",
            (session,),
        )
        accounts = [(Account(*each[:-1]), str(each[-1])) for each in found]
        shown = _merged(accounts)
        if shown["parent"] is None:
            shown["parent"], shown["parent_kind"] = self._origin(session)
        # A rewritten file may no longer say what it said: what only we still know stays.
        self.connection.execute(
            f"UPDATE sessions SET {', '.join(f'{name} = coalesce(:{name}, {name})' for name in shown)} WHERE id = :id",
            {**shown, "id": session},
        )

    def _origin(self, session: int) -> tuple[str | None, str | None]:
        """Return the session that said first what this one holds last of others, and how it came here."""
        found = row(
            self.connection,
            """SELECT o.session_id, c.key = m.key, c.copy_kind FROM copies c
               JOIN messages m ON m.id = c.message_id AND m.session_id <> c.session_id
               JOIN sessions o ON o.id = m.session_id JOIN files f ON f.id = c.file_id
               WHERE c.session_id = ? AND m.sidechain = 0
               ORDER BY f.first_ms DESC, f.path DESC, c.offset DESC LIMIT 1""",
            (session,),
        )
        if found is None:
            return None, None
        # Only a resume gave copies new uuids without a word of where they came from.
        return found[0], COPY_KIND_OF[found[2]] if found[1] else "resumed"

    # Summaries: titles of whatever session holds a message ------------------------------------------------------

    def _summaries(self, batch: FileBatch) -> None:
        told = [
            (message_key(fact.about), fact.text)
            for fact in batch.facts
            if fact.kind == "summary" and fact.about is not None and not fact.text.startswith(_MACHINE_TITLES)
        ]
        self.connection.executemany("INSERT OR IGNORE INTO summaries VALUES (?, ?)", told)
        for leaf, text in told:
            for table in ("messages", "copies"):
                held = rows(self.connection, f"SELECT session_id, time_ms FROM {table} WHERE key = ?", (leaf,))
                self._entitle(held, text)
        said = {message_key(each.message.uuid): each.message for each in batch.occurrences}
        for leaf, text in rows(
            self.connection,
            "SELECT leaf, text FROM summaries WHERE leaf IN (SELECT value FROM json_each(?))",
            (json.dumps(list(said)),),
        ):
            message = said[leaf]
            self._entitle([(self.names.session(message.session_id), message.timestamp_ms)], text)

    def _entitle(self, held: Iterable[tuple[Any, ...]], text: str) -> None:
        """Give sessions a title, unless they have one about a later message."""
        for session, time_ms in held:
            self.connection.execute(
                """UPDATE sessions SET summary = ?2, summary_ms = ?1
                   WHERE id = ?3 AND (coalesce(summary_ms, -2), coalesce(summary, '')) < (?1, ?2)""",
                (-1 if time_ms is None else time_ms, text, session),
            )

    def _agents(self, batch: FileBatch) -> None:
        self.connection.executemany(
            """INSERT INTO agents VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
               tool_use = coalesce(excluded.tool_use, tool_use), kind = coalesce(excluded.kind, kind),
               description = coalesce(excluded.description, description), parent = coalesce(excluded.parent, parent)""",
            [
                (
                    self.names.session(each.session_id), each.agent_id, each.tool_use_id, each.agent_type,
                    each.description, each.parent_agent,
                )
                for each in batch.agents
            ],
        )  # fmt: skip


def _merged(accounts: Collection[tuple[Account, str]]) -> dict[str, Any]:
    """Return the columns of a session: what began first from the first account, what changes from the last one."""
    begun = sorted(accounts, key=lambda each: (not each[0].main, _later(each[0].first_ms), each[1]))
    written = sorted(accounts, key=lambda each: (each[0].main, each[0].last_ms or 0, each[1]))
    started = [each.first_ms for each, _ in accounts if each.first_ms is not None]
    last = [each.last_ms for each, _ in accounts if each.last_ms is not None]
    shown: dict[str, Any] = {
        "started_ms": min(started, default=None),
        "last_ms": max(last, default=None),
        "folder_id": next((each.folder_id for each, _ in begun if each.folder_id is not None), None),
        "opening": next((each.opening for each, _ in begun if each.opening is not None), None),
    }
    for name in _LATEST:
        shown[name] = next((value for each, _ in reversed(written) if (value := getattr(each, name)) is not None), None)
    return shown


def _opens_better(new: str | None, old: str | None) -> bool:
    """Return whether a line opens its session rather than one before it: words of a person, or else a bare command."""
    return old is None or (new is not None and _is_bare(old) and not _is_bare(new))


def _is_bare(opening: str) -> bool:
    return _BARE_COMMAND.fullmatch(opening) is not None


def _later(time_ms: int | None) -> int:
    return _NO_TIME if time_ms is None else time_ms
