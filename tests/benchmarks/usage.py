"""How fast usage is answered and recorded, and how it differs from ccusage, day by day, each difference explained.

    python dev.py bench usage [folder with projects/]

The folder is `../shared/corpus` or `$BACKSCROLL_CORPUS` when none is given; without one, and without `npx`, that part
is left out.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from zoneinfo import ZoneInfo

import apsw
import orjson

from engine.store.usage import SCHEMA, CallHolder, CallRow, CallVariant, UsageTables
from engine.store.usage_sums import UsageCell, UsageSums
from engine.usage.calls import ApiCall, call_of, time_of
from engine.usage.ledger import SessionCall, record_calls
from engine.usage.pricing import Prices
from engine.usage.report import usage_report
from engine.usage.rows import Grouping
from engine.usage.source import FolderName, SessionName

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

CALLS = 200_000
YEAR_MS = 365 * 24 * 3_600_000
NOW_MS = time_of("2026-11-30T12:00:00Z") or 0
BATCH_LINES = 200
CCUSAGE = ("npx", "--yes", "ccusage@18.0.11", "daily", "--json", "--offline", "--timezone", "UTC")
BUDGET_MS = 20


class Names:
    """Numbers as names."""

    def sessions(self, ids: Collection[int]) -> Mapping[int, SessionName]:
        """Return a name for each session."""
        return {number: SessionName(f"session {number}") for number in ids}

    def folders(self, ids: Collection[int]) -> Mapping[int, FolderName]:
        """Return a name for each folder."""
        return {number: FolderName(f"/repo/{number // 2}", f"/repo/{number // 2}/{number}") for number in ids}


# Answering ---------------------------------------------------------------------------------------------------------


def working_year(chance: random.Random) -> Iterator[tuple[int, int]]:
    """Yield session and time of calls as one person makes them: 2,000 sessions of a hundred calls on working days."""
    for session in range(2000):
        day = session * 365 // 2000
        at_ms = NOW_MS - YEAR_MS + day * 86_400_000 + chance.randrange(8, 18) * 3_600_000
        for _ in range(CALLS // 2000):
            at_ms += chance.randrange(5_000, 120_000)
            yield session, at_ms


def scattered_year(chance: random.Random) -> Iterator[tuple[int, int]]:
    """Yield session and time of calls that share nothing: the worst case of a roll-up."""
    for _ in range(CALLS):
        yield chance.randrange(2000), NOW_MS - chance.randrange(YEAR_MS)


def synthetic(path: Path, shape: Callable[[random.Random], Iterator[tuple[int, int]]]) -> apsw.Connection:
    """Write a database of synthetic calls."""
    chance = random.Random(1)
    models = ["claude-opus-4-8", "claude-opus-4-8", "claude-opus-5-5", "claude-haiku-4-5-20251001", "glm-5.1"]
    variants = [CallVariant(model, "standard", "standard", 0, 0) for model in models]
    rows = [
        CallRow(
            key=f"msg_{number:024}",
            session_id=session,
            variant=chance.choice(variants),
            is_global=1,
            is_copy=0,
            is_sidechain=0,
            first_ms=at_ms,
            folder_id=session % 40,
            rank=at_ms * 2 + 1,
            input=11,
            output=chance.randrange(2000),
            cache_write_5m=0,
            cache_write_1h=chance.randrange(9000),
            cache_read=chance.randrange(150_000),
            web_searches=0,
            counted_session_id=session,
            counted_folder_id=session % 40,
            counted_ms=at_ms,
            counted_sidechain=0,
        )
        for number, (session, at_ms) in enumerate(shape(chance))
    ]
    connection = apsw.Connection(str(path))
    connection.execute(SCHEMA)
    with connection:
        UsageTables(connection).put_rows(rows)
    return connection


def time_reports(folder: Path) -> None:
    """Print how long each report takes."""
    print(f"get_usage over {CALLS:,} calls of one year, median of 9 (budget of by=day: {BUDGET_MS} ms)")
    for shape in (working_year, scattered_year):
        connection = synthetic(folder / f"{shape.__name__}.db", shape)
        quarters, hours = (
            connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]  # noqa: S608 - our own tables
            for table in ("usage_quarters", "usage_hours")
        )
        print(f"  {shape.__name__}: {quarters:,} rows by quarter of an hour, {hours:,} by hour")
        for zone in ("Europe/Berlin", "Asia/Kathmandu"):
            for by in get_args(Grouping):
                taken = [measure(connection, by, zone) for _ in range(9)]
                print(f"    {zone:15} by={by:8} {statistics.median(taken):8.1f} ms")
        connection.close()


def measure(connection: apsw.Connection, by: Grouping, zone: str) -> float:
    """Return milliseconds of one report, made by fresh objects as a first question would be."""
    started = time.perf_counter()
    usage_report(
        UsageSums(connection), by=by, prices=Prices(), zone=ZoneInfo(zone), names=Names(), now_ms=NOW_MS
    ).reply()
    return (time.perf_counter() - started) * 1000


# Recording ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Transcript:
    """A file of the corpus, parsed."""

    name: str
    size: int
    lines: list[dict[str, Any]]

    @property
    def began_ms(self) -> int:
        """Time of its first line that has one."""
        return next((at_ms for line in self.lines if (at_ms := time_of(line.get("timestamp"))) is not None), 0)


def corpus(folder: Path) -> list[Transcript]:
    """Read all transcripts."""
    files = sorted(folder.glob("projects/**/*.jsonl"))
    return [
        Transcript(
            file.stem,
            file.stat().st_size,
            [orjson.loads(line) for line in file.read_bytes().split(b"\n") if line.strip()],
        )
        for file in files
    ]


def time_recording(transcripts: list[Transcript], folder: Path) -> UsageSums:
    """Print what usage adds to indexing, and return the result."""
    connection = apsw.Connection(str(folder / "corpus.db"))
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    connection.execute(SCHEMA)
    reading = recording = 0.0
    with connection:
        for number, transcript in enumerate(transcripts):
            holder = CallHolder(number, transcript.began_ms, transcript.name)
            for start in range(0, len(transcript.lines), BATCH_LINES):
                began = time.perf_counter()
                calls = [
                    SessionCall(call, holder, 1)
                    for line in transcript.lines[start : start + BATCH_LINES]
                    if (call := call_of(line)) is not None
                ]
                parsed = time.perf_counter()
                record_calls(UsageTables(connection), calls)
                recording += time.perf_counter() - parsed
                reading += parsed - began
    megabytes = sum(transcript.size for transcript in transcripts) / 1e6
    lines = sum(len(transcript.lines) for transcript in transcripts)
    print(
        f"recording {megabytes:.0f} MB, {lines:,} lines: call_of {reading * 1000:.0f} ms, record_calls "
        f"{recording * 1000:.0f} ms: {(reading + recording) / megabytes * 1000:.2f} ms a MB"
    )
    return UsageSums(connection)


# Beside ccusage ----------------------------------------------------------------------------------------------------

CLASSES = ("input", "output", "cache write", "cache read")


def compare_with_ccusage(transcripts: list[Transcript], sums: UsageSums, folder: Path) -> None:
    """Print each day on which ccusage says something else, and by which rule."""
    theirs = ccusage_days(folder)
    if theirs is None:
        return
    report = usage_report(sums, by="day", prices=Prices(), zone=ZoneInfo("UTC"), names=Names(), now_ms=NOW_MS)
    ours = {row.label: row.amounts for row in report.rows}
    first = first_lines(transcripts)
    unexplained = 0
    print("ccusage 18.0.11 beside Backscroll, per UTC day (only days that differ)")
    print("  day         output: theirs    ours  (a) first line   cost: theirs    ours  (a)     (b)     (c)    rest")
    for day in sorted(theirs.keys() | ours.keys()):
        their = theirs.get(day, {})
        our = ours[day]
        written = our.cache_write_5m_tokens + our.cache_write_1h_tokens
        our_tokens = (our.input_tokens, our.output_tokens, written, our.cache_read_tokens)
        names = ("inputTokens", "outputTokens", "cacheCreationTokens", "cacheReadTokens")
        their_tokens = tuple(int(their.get(name, 0)) for name in names)
        explained = Explanation.of(first[day], unpriced_by(their))
        if their_tokens != explained.tokens:
            unexplained += 1
            print(f"  {day}  tokens not explained: {their_tokens}, by its rules {explained.tokens}, ours {our_tokens}")
            continue
        their_cost, our_cost = float(their.get("totalCost", 0)), our.cost_nanos / 1e9
        by_output = our_cost - explained.cost
        rest = our_cost - by_output - explained.hour_writes - explained.no_price - their_cost
        if abs(rest) > 1e-6:
            unexplained += 1
        if their_tokens != our_tokens or abs(their_cost - our_cost) > 1e-6:
            print(
                f"  {day}  {their_tokens[1]:14,} {our_tokens[1]:8,} {our_tokens[1] - explained.tokens[1]:12,}"
                f"     {their_cost:10.2f} {our_cost:8.2f} {by_output:6.2f} {explained.hour_writes:7.2f}"
                f" {explained.no_price:7.2f} {rest:7.2f}"
            )
    print("  (a) it keeps the first line of a message, we the one with the greatest output")
    print("  (b) it prices cache writes of one hour like those of five minutes, we at twice the input price")
    print("  (c) its table has no price for a model and counts 0, ours has one")
    print(f"  days with a difference that no rule explains: {unexplained}")


def ccusage_days(folder: Path) -> dict[str, dict[str, Any]] | None:
    """Return what ccusage says of each day, or None where it cannot be run."""
    if shutil.which(CCUSAGE[0]) is None:
        print("ccusage: left out, there is no npx")
        return None
    environment = os.environ | {"CLAUDE_CONFIG_DIR": str(folder), "TZ": "UTC"}
    done = subprocess.run(CCUSAGE, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        print(f"ccusage: left out, it ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        return None
    return {day["date"]: day for day in json.loads(done.stdout)["daily"]}


def unpriced_by(day: Mapping[str, Any]) -> set[str]:
    """Return the models that ccusage had no price for."""
    return {each["modelName"] for each in day.get("modelBreakdowns", ()) if not each["cost"]}


def first_lines(transcripts: list[Transcript]) -> dict[str, list[ApiCall]]:
    """Return the calls of each UTC day by ccusage's rule: of lines with equal message and request ids the first.

    ccusage 18 reads files in the order of their earliest time, and never merges lines that lack one of the two ids.
    """
    seen = set[tuple[str, str]]()
    days = defaultdict[str, list[ApiCall]](list)
    for transcript in sorted(transcripts, key=lambda each: each.began_ms):
        for line in transcript.lines:
            call = call_of(line)
            if call is None:
                continue
            message_id, request_id = line["message"].get("id"), line.get("requestId")
            if message_id and request_id:
                if (message_id, request_id) in seen:
                    continue
                seen.add((message_id, request_id))
            days[datetime.fromtimestamp(call.time_ms / 1000, UTC).date().isoformat()].append(call)
    return days


@dataclass(frozen=True, slots=True)
class Explanation:
    """A day by ccusage's choice of lines: tokens, our price of them, and what its prices leave out of that."""

    tokens: tuple[int, ...]
    cost: float
    hour_writes: float
    no_price: float

    @classmethod
    def of(cls, calls: list[ApiCall], unpriced: set[str]) -> Explanation:
        """Sum a day's calls."""
        prices = Prices()
        tokens = [0] * 4
        cost = hour_writes = no_price = 0
        for call in calls:
            written = call.cache_write_5m + call.cache_write_1h
            used = (call.input, call.output, written, call.cache_read)
            tokens = [total + each for total, each in zip(tokens, used, strict=True)]
            price = prices.cost_nanos(cell_of(call, call.cache_write_5m, call.cache_write_1h), call.time_ms) or 0
            cheap = prices.cost_nanos(cell_of(call, written, 0), call.time_ms) or 0
            cost += price
            if call.variant.model in unpriced:
                no_price += price
            else:
                hour_writes += price - cheap
        return cls(tuple(tokens), cost / 1e9, hour_writes / 1e9, no_price / 1e9)


def cell_of(call: ApiCall, write_5m: int, write_1h: int) -> UsageCell:
    """Return one call as a sum."""
    return UsageCell(0, call.variant, 1, call.input, call.output, write_5m, write_1h, call.cache_read, 0)


def main(arguments: list[str]) -> None:
    """Run everything that this machine has the data for."""
    named = arguments[0] if arguments else os.environ.get("BACKSCROLL_CORPUS")
    folder = Path(named) if named else Path(__file__).parents[3] / "shared" / "corpus"
    with tempfile.TemporaryDirectory() as scratch:
        time_reports(Path(scratch))
        if not (folder / "projects").is_dir():
            print(f"recording, ccusage: left out, there is no {folder / 'projects'}")
            return
        transcripts = corpus(folder)
        sums = time_recording(transcripts, Path(scratch))
        compare_with_ccusage(transcripts, sums, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
