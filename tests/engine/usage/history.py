"""A small history for usage tests: lines written by hand, recorded into a database in memory, reported on."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import apsw

from engine.store.usage import NO_FOLDER, SCHEMA, UsageTables
from engine.store.usage_sums import UsageSums
from engine.usage.calls import time_of
from engine.usage.pricing import Prices
from engine.usage.recorder import UsageRecorder
from engine.usage.report import UsageReport, usage_report
from engine.usage.source import FolderName, SessionName, UsageFilter

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import tzinfo

    from engine.usage.rows import Grouping

Line = dict[str, Any]

START = datetime(2026, 8, 3, 10, 0, tzinfo=UTC)


def at(minutes: float = 0, start: datetime = START) -> str:
    """Return the timestamp of a line some minutes after the start of the tests' time."""
    return (start + timedelta(minutes=minutes)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def assistant(
    message_id: str | None = "msg_A",
    *,
    output: int = 345,
    input: int = 11,  # noqa: A002 - the name the transcripts have
    read: int = 2000,
    write: int = 500,
    split: tuple[int, int] | None = None,
    minute: float = 0,
    model: str | None = "claude-opus-4-8",
    request: str | None = "req_1",
    session: str = "s1",
    version: str = "2.1.119",
    sidechain: bool = False,
    speed: str | None = None,
    usage: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Line:
    """Return an assistant line. `split`: tokens written to the 5-minute and the 1-hour cache."""
    used: dict[str, Any] = {
        "input_tokens": input,
        "output_tokens": output,
        "cache_creation_input_tokens": write if split is None else sum(split),
        "cache_read_input_tokens": read,
        "service_tier": "standard",
    }
    if split is not None:
        used["cache_creation"] = {"ephemeral_5m_input_tokens": split[0], "ephemeral_1h_input_tokens": split[1]}
    if speed is not None:
        used["speed"] = speed
    message: dict[str, Any] = {"role": "assistant", "content": [], "usage": used | dict(usage or {})}
    if message_id is not None:
        message["id"] = message_id
    if model is not None:
        message["model"] = model
    line: Line = {
        "type": "assistant",
        "uuid": f"{session}-{message_id}-{minute}-{output}",
        "sessionId": session,
        "timestamp": at(minute),
        "version": version,
        "isSidechain": sidechain,
        "cwd": "/home/ann/shop",
        "message": message,
    }
    if request is not None:
        line["requestId"] = request
    return line | fields


class History:
    """Records lines the way ingestion does, and reports on them."""

    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")
        self.connection.execute(SCHEMA)
        self.tables = UsageTables(self.connection)
        self.sums = UsageSums(self.connection)
        self.recorder = UsageRecorder()
        self._sessions: dict[str, int] = {}
        self._folders: dict[str, int] = {}
        self.repositories: dict[str, str] = {}
        """Repository of a folder, where it is not the folder itself."""

    def session_number(self, name: str) -> int:
        """Return the number that stands for a session."""
        return self._sessions.setdefault(name, len(self._sessions) + 1)

    def folder_number(self, cwd: str) -> int:
        """Return the number that stands for a folder."""
        return self._folders.setdefault(cwd, len(self._folders) + 1)

    def read(self, lines: Sequence[Line], *, session: str | None = None, began: float | None = None) -> None:
        """Record the lines of one file.

        Args:
            lines: In the order of the file.
            session: The session they belong to; what they say when left out.
            began: Minute of the session's first line; the first of these lines when left out.
        """
        first = time_of(at(began)) if began is not None else time_of(lines[0].get("timestamp"))
        self.read_at(lines, session=session or lines[0]["sessionId"], began_ms=first or 0)

    def read_at(self, lines: Sequence[Line], *, session: str, began_ms: int | None) -> None:
        """Record the lines of one file of a session that began at a time; None for a sub-agent's file."""
        found = [each for line in lines if (each := self.recorder.read(line)) is not None]
        with self.connection:
            self.recorder.write(
                self.connection,
                found,
                session=self.session_number(session),
                name=session,
                began_ms=began_ms,
                folder_of=self.folder_number,
            )

    def report(
        self,
        by: Grouping = "day",
        *,
        zone: tzinfo | None = None,
        prices: Prices | None = None,
        now: float = 0,
        only: UsageFilter | None = None,
        split_models: bool = False,
    ) -> UsageReport:
        """Return a report; UTC and the package's prices when not said otherwise."""
        return usage_report(
            self.sums,
            by=by,
            prices=prices or Prices(),
            zone=zone or ZoneInfo("UTC"),
            names=self,
            now_ms=time_of(at(now)) or 0,
            only=only,
            split_models=split_models,
        )

    def sessions(self, ids: Collection[int]) -> Mapping[int, SessionName]:
        """Return names, as the front door would."""
        return {number: SessionName(name) for name, number in self._sessions.items() if number in ids}

    def folders(self, ids: Collection[int]) -> Mapping[int, FolderName]:
        """Return names, as the front door would."""
        return {
            number: FolderName(self.repositories.get(cwd, cwd), cwd)
            for cwd, number in self._folders.items()
            if number in ids
        }

    def tokens(self) -> tuple[int, int, int, int]:
        """Return all tokens: input, output, cache writes, cache reads."""
        totals = self.report("model").totals
        written = totals.cache_write_5m_tokens + totals.cache_write_1h_tokens
        return totals.input_tokens, totals.output_tokens, written, totals.cache_read_tokens

    def calls_of(self, *names: str) -> dict[str, int]:
        """Return how many calls count for each session."""
        counted = {row.label: row.amounts.calls for row in self.report("session").rows}
        return {name: counted.get(name, 0) for name in names}

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return everything that is stored, without the numbers of rows and variants: equal histories dump equal."""
        variants = {row[0]: row[1:] for row in self.connection.execute("SELECT * FROM api_call_variants")}
        sessions = {number: name for name, number in self._sessions.items()}
        folders = {NO_FOLDER: None} | {number: name for name, number in self._folders.items()}
        dumped: dict[str, list[tuple[Any, ...]]] = {}
        for table in ("api_calls", "usage_quarters", "usage_hours", "api_call_holders", "cost_states"):
            cursor = self.connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - our own tables
            rows: list[tuple[Any, ...]] = []
            for row in cursor:
                named: dict[str, Any] = dict(zip([each[0] for each in cursor.getdescription()], row, strict=True))
                named.pop("id", None)
                if "variant_id" in named:
                    named["variant_id"] = variants[named["variant_id"]]
                for column, names in (("session_id", sessions), ("folder_id", folders)):
                    for each in (column, f"counted_{column}"):
                        if named.get(each) is not None:
                            named[each] = names[named[each]]
                rows.append(tuple(named.items()))
            dumped[table] = sorted(rows, key=repr)
        return dumped


def shuffled(lines: Iterable[Line], seed: int) -> list[Line]:
    """Return the lines in another order."""
    mixed = list(lines)
    random.Random(seed).shuffle(mixed)
    return mixed
