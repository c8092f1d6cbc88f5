"""The tables of usage accounting and what is written to them: API calls, their roll-up, Claude Code's own cost records.

What counts once and who owns a call is decided in `engine/usage/ledger.py`; here rows are kept. The roll-up is
maintained by triggers, so that no statement can change `api_calls` without it. `usage_sums` reads it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from engine.store.rows import insert
from engine.store.rows import rows as all_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import apsw

ALL_FOLDERS = -1
"""Stands for every folder in `usage_pruned`."""

NO_FOLDER = 0
"""Stands for the folder of lines that name none."""

UNKNOWN_START = 2**62
"""When a session began of which only sub-agents' files were seen: later than any other, until its own file is."""

CALLS_A_TRANSACTION = 10_000
"""Deleted in 0.15 s, with what they add to the roll-up."""

SCHEMA = """
-- What prices depend on besides time: few rows, referred to by number.
CREATE TABLE api_call_variants (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    speed TEXT NOT NULL,             -- standard, fast
    service_tier TEXT NOT NULL,
    prompt_over INTEGER NOT NULL,    -- the largest price step (tokens) that the prompt is over, else 0
    incomplete INTEGER NOT NULL,     -- written by a version that recorded too few output tokens
    UNIQUE (model, speed, service_tier, prompt_over, incomplete)
);

-- When a session began, to tell an original from its copies.
CREATE TABLE api_call_holders (
    session_id INTEGER PRIMARY KEY,
    started_ms INTEGER NOT NULL,
    tie TEXT NOT NULL                -- decides between equal times
);

-- One API call as one session holds it. A call that several sessions hold (resume, fork) has a row for each and is
-- counted once: `counted_*` are set in the row with the best numbers and name the session that owns the call.
CREATE TABLE api_calls (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    session_id INTEGER NOT NULL,
    variant_id INTEGER NOT NULL,
    is_global INTEGER NOT NULL,      -- the key means the same call in every session
    is_copy INTEGER NOT NULL,        -- every line says it was copied from elsewhere
    is_sidechain INTEGER NOT NULL,   -- no line is of the main conversation
    first_ms INTEGER NOT NULL,       -- time of the earliest line
    folder_id INTEGER NOT NULL,      -- of the earliest line
    rank INTEGER NOT NULL,           -- of the line with the numbers, among lines with as many output tokens
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    web_searches INTEGER NOT NULL,
    counted_session_id INTEGER,      -- null: another row counts
    counted_folder_id INTEGER,
    counted_ms INTEGER,
    counted_sidechain INTEGER,
    UNIQUE (key, session_id)
);
CREATE INDEX api_calls_session ON api_calls (session_id);
CREATE INDEX api_calls_time ON api_calls (counted_ms) WHERE counted_ms IS NOT NULL;

-- Sums of counted calls per UTC quarter of an hour: exact for every zone, range and grouping.
CREATE TABLE usage_quarters (
    quarter INTEGER NOT NULL,        -- quarters since 1970-01-01 UTC
    session_id INTEGER NOT NULL,
    folder_id INTEGER NOT NULL,
    variant_id INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    web_searches INTEGER NOT NULL,
    PRIMARY KEY (quarter, session_id, folder_id, variant_id)
) WITHOUT ROWID;

-- The same sums per hour over all sessions: a year of days is read in a few milliseconds.
CREATE TABLE usage_hours (
    hour INTEGER NOT NULL,
    variant_id INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    web_searches INTEGER NOT NULL,
    PRIMARY KEY (hour, variant_id)
) WITHOUT ROWID;

-- Adding (or with negative numbers, taking away) one call: the only way into both roll-ups.
CREATE VIEW usage_change AS
    SELECT 0 AS at_ms, 0 AS session_id, 0 AS folder_id, 0 AS variant_id, 0 AS calls, 0 AS input, 0 AS output,
        0 AS cache_write_5m, 0 AS cache_write_1h, 0 AS cache_read, 0 AS web_searches;
CREATE TRIGGER usage_change_apply INSTEAD OF INSERT ON usage_change BEGIN
    INSERT INTO usage_quarters VALUES (
        NEW.at_ms / 900000, NEW.session_id, NEW.folder_id, NEW.variant_id, NEW.calls, NEW.input, NEW.output,
        NEW.cache_write_5m, NEW.cache_write_1h, NEW.cache_read, NEW.web_searches
    ) ON CONFLICT DO UPDATE SET
        calls = calls + excluded.calls, input = input + excluded.input, output = output + excluded.output,
        cache_write_5m = cache_write_5m + excluded.cache_write_5m,
        cache_write_1h = cache_write_1h + excluded.cache_write_1h,
        cache_read = cache_read + excluded.cache_read, web_searches = web_searches + excluded.web_searches;
    INSERT INTO usage_hours VALUES (
        NEW.at_ms / 3600000, NEW.variant_id, NEW.calls, NEW.input, NEW.output,
        NEW.cache_write_5m, NEW.cache_write_1h, NEW.cache_read, NEW.web_searches
    ) ON CONFLICT DO UPDATE SET
        calls = calls + excluded.calls, input = input + excluded.input, output = output + excluded.output,
        cache_write_5m = cache_write_5m + excluded.cache_write_5m,
        cache_write_1h = cache_write_1h + excluded.cache_write_1h,
        cache_read = cache_read + excluded.cache_read, web_searches = web_searches + excluded.web_searches;
END;
CREATE TRIGGER usage_quarters_empty AFTER UPDATE ON usage_quarters WHEN NEW.calls = 0 BEGIN
    DELETE FROM usage_quarters WHERE quarter = NEW.quarter AND session_id = NEW.session_id
        AND folder_id = NEW.folder_id AND variant_id = NEW.variant_id;
END;
CREATE TRIGGER usage_hours_empty AFTER UPDATE ON usage_hours WHEN NEW.calls = 0 BEGIN
    DELETE FROM usage_hours WHERE hour = NEW.hour AND variant_id = NEW.variant_id;
END;

CREATE TRIGGER api_calls_inserted AFTER INSERT ON api_calls WHEN NEW.counted_ms IS NOT NULL BEGIN
    INSERT INTO usage_change VALUES (
        NEW.counted_ms, NEW.counted_session_id, NEW.counted_folder_id, NEW.variant_id, 1, NEW.input, NEW.output,
        NEW.cache_write_5m, NEW.cache_write_1h, NEW.cache_read, NEW.web_searches);
END;
CREATE TRIGGER api_calls_deleted AFTER DELETE ON api_calls WHEN OLD.counted_ms IS NOT NULL BEGIN
    INSERT INTO usage_change VALUES (
        OLD.counted_ms, OLD.counted_session_id, OLD.counted_folder_id, OLD.variant_id, -1, -OLD.input, -OLD.output,
        -OLD.cache_write_5m, -OLD.cache_write_1h, -OLD.cache_read, -OLD.web_searches);
END;
CREATE TRIGGER api_calls_updated AFTER UPDATE ON api_calls BEGIN
    INSERT INTO usage_change SELECT
        OLD.counted_ms, OLD.counted_session_id, OLD.counted_folder_id, OLD.variant_id, -1, -OLD.input, -OLD.output,
        -OLD.cache_write_5m, -OLD.cache_write_1h, -OLD.cache_read, -OLD.web_searches
        WHERE OLD.counted_ms IS NOT NULL;
    INSERT INTO usage_change SELECT
        NEW.counted_ms, NEW.counted_session_id, NEW.counted_folder_id, NEW.variant_id, 1, NEW.input, NEW.output,
        NEW.cache_write_5m, NEW.cache_write_1h, NEW.cache_read, NEW.web_searches
        WHERE NEW.counted_ms IS NOT NULL;
END;

-- Calls before this time were pruned and are not recorded again.
CREATE TABLE usage_pruned (
    folder_id INTEGER PRIMARY KEY,   -- -1: all folders
    before_ms INTEGER NOT NULL
);

-- Claude Code's own running total of a session (`cost-state`, since August 2026).
CREATE TABLE cost_states (
    session_id INTEGER PRIMARY KEY,
    cost_nanos INTEGER NOT NULL,     -- billionths of a US dollar
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    web_searches INTEGER NOT NULL,
    unpriced INTEGER NOT NULL        -- Claude Code knew no price for one of its models
);
"""


class CallVariant(NamedTuple):
    """What the price of a token depends on, besides its class and the day."""

    model: str
    speed: str
    service_tier: str
    prompt_over: int
    incomplete: int


class CallRow(NamedTuple):
    """One API call as one session holds it; the columns of `api_calls`. A tuple, because SQLite takes it as it is."""

    key: str
    session_id: int
    variant: CallVariant
    is_global: int
    is_copy: int
    is_sidechain: int
    first_ms: int
    folder_id: int
    rank: int
    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    web_searches: int
    counted_session_id: int | None = None
    counted_folder_id: int | None = None
    counted_ms: int | None = None
    counted_sidechain: int | None = None


class CallHolder(NamedTuple):
    """A session that holds calls."""

    session_id: int
    started_ms: int
    """Time of the first line of its own file (not a sub-agent's), else `UNKNOWN_START`."""
    tie: str
    """Decides between sessions that began in the same millisecond; the session's own id."""


class CostState(NamedTuple):
    """What Claude Code itself says a session has cost so far."""

    cost_nanos: int
    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    web_searches: int
    unpriced: int


_COLUMNS = tuple(name if name != "variant" else "variant_id" for name in CallRow._fields)
_PUT_ROWS = f"INSERT INTO api_calls ({', '.join(_COLUMNS)})"
_OR_UPDATE = (
    f"ON CONFLICT (key, session_id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _COLUMNS[2:])}"
)
_ROWS_OF_KEYS = f"SELECT {', '.join(_COLUMNS)} FROM api_calls WHERE key IN (SELECT value FROM json_each(?))"


class UsageTables:
    """The usage tables of one connection. Writes belong into the caller's transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def put_holders(self, holders: Iterable[CallHolder]) -> list[int]:
        """Keep when sessions began (the earliest time that was ever said) and return those that now began earlier."""
        moved: list[int] = []
        for holder in holders:
            row = self._connection.execute(
                "SELECT started_ms FROM api_call_holders WHERE session_id = ?", (holder.session_id,)
            ).fetchone()
            if row is None:
                self._connection.execute("INSERT INTO api_call_holders VALUES (?, ?, ?)", holder)
            elif holder.started_ms < row[0]:
                self._connection.execute(
                    "UPDATE api_call_holders SET started_ms = ? WHERE session_id = ?",
                    (holder.started_ms, holder.session_id),
                )
                moved.append(holder.session_id)
        return moved

    def holders(self, session_ids: Collection[int]) -> dict[int, CallHolder]:
        """Return when sessions began."""
        found = self._connection.execute(
            f"SELECT session_id, started_ms, tie FROM api_call_holders WHERE session_id IN ({_numbers(session_ids)})"
        )
        return {row[0]: CallHolder(*row) for row in found}

    def rows_of(self, keys: Collection[str]) -> dict[str, list[CallRow]]:
        """Return the stored rows of keys, all sessions of each."""
        if not keys:
            return {}
        variants = self._variants()
        found = dict[str, list[CallRow]]()
        for row in all_rows(self._connection, _ROWS_OF_KEYS, (json.dumps(sorted(keys)),)):
            found.setdefault(row[0], []).append(CallRow._make((*row[:2], variants[row[2]], *row[3:])))
        return found

    def shared_keys(self, session_ids: Collection[int]) -> set[str]:
        """Return the keys of these sessions' calls that another session holds too."""
        numbers = _numbers(session_ids)
        query = (
            f"SELECT key FROM api_calls WHERE key IN (SELECT key FROM api_calls WHERE session_id IN ({numbers})) "
            "GROUP BY key HAVING count(*) > 1"
        )
        return {row[0] for row in self._connection.execute(query)}

    def put_rows(self, rows: Sequence[CallRow]) -> None:
        """Insert rows or replace the ones of the same key and session."""
        if not rows:
            return
        variants = {variant: number for number, variant in self._variants().items()}
        for variant in {row.variant for row in rows} - variants.keys():
            self._connection.execute(
                f"INSERT INTO api_call_variants ({', '.join(CallVariant._fields)}) VALUES (?, ?, ?, ?, ?)",
                variant,
            )
            variants[variant] = self._connection.last_insert_rowid()
        insert(
            self._connection,
            _PUT_ROWS,
            [(row.key, row.session_id, variants[row.variant], *row[3:]) for row in rows],
            _OR_UPDATE,
        )

    def delete_sessions(self, session_ids: Collection[int]) -> int:
        """Delete everything of sessions and return how many rows of calls that were."""
        numbers = _numbers(session_ids)
        self._connection.execute(f"DELETE FROM api_calls WHERE session_id IN ({numbers})")
        deleted = self._connection.changes()
        self._connection.execute(f"DELETE FROM api_call_holders WHERE session_id IN ({numbers})")
        self._connection.execute(f"DELETE FROM cost_states WHERE session_id IN ({numbers})")
        return deleted

    def delete_before(self, before_ms: int, folder_ids: Collection[int] | None = None) -> int:
        """Prune: delete calls made before a time, remember it, and return how many calls went.

        Lines of that time are not recorded again (`pruned_before`). All rows of a call go with it: only global keys
        have rows that do not count, and such a key means one call.
        """
        old = f"counted_ms < ?1{_among('counted_folder_id', folder_ids)}"
        self._connection.execute(
            f"DELETE FROM api_calls WHERE counted_ms IS NULL AND key IN (SELECT key FROM api_calls WHERE {old})",
            (before_ms,),
        )
        self._connection.execute(f"DELETE FROM api_calls WHERE {old}", (before_ms,))
        deleted = self._connection.changes()
        self._connection.executemany(
            "INSERT INTO usage_pruned VALUES (?, ?) "
            "ON CONFLICT DO UPDATE SET before_ms = max(before_ms, excluded.before_ms)",
            [(folder, before_ms) for folder in ([ALL_FOLDERS] if folder_ids is None else folder_ids)],
        )
        return deleted

    def cut_before(self, before_ms: int, folder_ids: Collection[int] | None = None) -> int:
        """Return how far `delete_before` can go in one transaction that others need not wait long for."""
        row = self._connection.execute(
            f"SELECT counted_ms + 1 FROM api_calls WHERE counted_ms < ?{_among('counted_folder_id', folder_ids)} "
            f"ORDER BY counted_ms LIMIT 1 OFFSET {CALLS_A_TRANSACTION - 1}",
            (before_ms,),
        ).fetchone()
        return before_ms if row is None else min(before_ms, int(row[0]))

    def count_before(self, before_ms: int, folder_ids: Collection[int] | None = None) -> int:
        """Return how many calls `delete_before` would delete."""
        query = f"SELECT count(*) FROM api_calls WHERE counted_ms < ?{_among('counted_folder_id', folder_ids)}"
        return sum(row[0] for row in self._connection.execute(query, (before_ms,)))

    def pruned_before(self) -> dict[int, int]:
        """Return until when calls were pruned, by folder (`ALL_FOLDERS` for all)."""
        return dict(self._connection.execute("SELECT folder_id, before_ms FROM usage_pruned"))

    def put_cost_state(self, session_id: int, state: CostState) -> None:
        """Keep a session's own total. It only grows: the greatest is the newest, in whatever order lines are read."""
        self._connection.execute(
            "INSERT INTO cost_states VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "cost_nanos = excluded.cost_nanos, input = excluded.input, output = excluded.output, "
            "cache_write_5m = excluded.cache_write_5m, cache_write_1h = excluded.cache_write_1h, "
            "cache_read = excluded.cache_read, web_searches = excluded.web_searches, unpriced = excluded.unpriced "
            "WHERE (excluded.cost_nanos, excluded.output, excluded.input) > (cost_nanos, output, input)",
            (session_id, *state),
        )

    def _variants(self) -> dict[int, CallVariant]:
        rows = self._connection.execute(
            "SELECT id, model, speed, service_tier, prompt_over, incomplete FROM api_call_variants"
        )
        return {row[0]: CallVariant(*row[1:]) for row in rows}


def _among(column: str, numbers: Collection[int] | None) -> str:
    return "" if numbers is None else f" AND {column} IN ({_numbers(numbers)})"


def _numbers(numbers: Iterable[int]) -> str:
    return ", ".join(str(int(number)) for number in numbers)
