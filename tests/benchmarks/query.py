"""How long a question takes in the engine: keyword search by class of query, reading, listing.

    python dev.py bench query [folder with projects/]

The folder is `../shared/corpus` or `$BACKSCROLL_CORPUS` when none is given. Queries are made from the history's own
vocabulary, so any folder will do: common, middling and rare words, pairs, phrases, prefixes, typos, filters. Each is
asked once cold (a fresh connection) and then warm; the table is of the warm ones.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.clock import SystemClock
from engine.core.models.asking import SearchFilters, SearchRequest
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.service import Engine
from engine.store.connection import open_reader
from engine.transcripts.discovery import Root

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.api import EngineApi

QUERIES = 40
"""Of each class."""

ROUNDS = 3


@dataclass(frozen=True)
class Words:
    """The vocabulary by how many chunks hold a word."""

    common: list[str]
    middling: list[str]
    rare: list[str]


def vocabulary(paths: Paths) -> Words:
    """Return words of letters by how common they are."""
    connection = open_reader(paths.database)
    rows = [
        (term, doc)
        for term, doc in connection.execute("SELECT term, doc FROM vocabulary WHERE col = 'words' ORDER BY doc DESC")
        if term.isalpha() and len(term) > 3
    ]
    connection.close()
    middle = [term for term, doc in rows if 5 <= doc <= 50]
    return Words([term for term, _ in rows[:60]], middle, [term for term, doc in rows if doc <= 2])


def classes(words: Words, chance: random.Random) -> dict[str, list[SearchRequest]]:
    """Return the requests of each class."""

    def ask(text: str, **options: object) -> SearchRequest:
        filters = SearchFilters(**options.pop("filters", {}))  # type: ignore[arg-type] # pyright: ignore[reportCallIssue] - a benchmark's shorthand
        return SearchRequest(query=text, mode="keyword", filters=filters, **options)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - as above

    def some(of: list[str]) -> str:
        return chance.choice(of)

    def typo(word: str) -> str:
        at = chance.randrange(1, len(word) - 1)
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]

    return {
        "one common word": [ask(some(words.common)) for _ in range(QUERIES)],
        "three common words": [ask(" ".join(chance.sample(words.common, 3))) for _ in range(QUERIES)],
        "one middling word": [ask(some(words.middling)) for _ in range(QUERIES)],
        "two middling words": [ask(" ".join(chance.sample(words.middling, 2))) for _ in range(QUERIES)],
        "one rare word": [ask(some(words.rare)) for _ in range(QUERIES)],
        "typing a word": [ask(some(words.middling)[:4], prefix_last=True) for _ in range(QUERIES)],
        "a typo": [ask(typo(some(words.middling))) for _ in range(QUERIES)],
        "everything": [ask(some(words.common), filters={"include_low_signal": True}) for _ in range(QUERIES)],
        "by role and date": [
            ask(some(words.common), filters={"role": "user", "date_from": "2026-01-01"}) for _ in range(QUERIES)
        ],
    }


def timed(work: Callable[[], object]) -> float:
    """Return milliseconds."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def quantile(times: list[float], share: float) -> float:
    """Return the value below which this share of the times lies."""
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def reading(api: EngineApi) -> dict[str, list[float]]:
    """Return the times of listing and reading."""
    sessions = api.list_sessions(limit=50).sessions
    hits = api.search(SearchRequest(query="test", mode="keyword", limit=30)).hits
    return {
        "list_sessions": [timed(lambda: api.list_sessions(limit=20)) for _ in range(20)],
        "get_period": [timed(lambda: api.list_sessions(when_="7d", limit=10, with_highlights=True)) for _ in range(20)],
        "get_context": [timed(lambda hit=hit: api.get_context([hit.chunk_id])) for hit in hits],
        "get_session": [timed(lambda row=row: api.get_session(row.session_id, limit=50)) for row in sessions],
    }


def report(api: EngineApi, paths: Paths) -> dict[str, dict[str, float]]:
    """Ask everything, print the table and return its numbers."""
    results: dict[str, list[float]] = {}
    everything: list[float] = []
    for name, requests in classes(vocabulary(paths), random.Random(1)).items():
        for request in requests:
            api.search(request)
        times = [timed(lambda request=request: api.search(request)) for _ in range(ROUNDS) for request in requests]
        results[name] = times
        everything += times
    results["all searches"] = everything
    results |= reading(api)
    print(f"{'':22}{'p50 ms':>10}{'p95 ms':>10}{'max ms':>10}")
    for name, times in results.items():
        print(f"{name:22}{statistics.median(times):10.2f}{quantile(times, 0.95):10.2f}{max(times):10.2f}")
    return {
        name: {"p50_ms": round(statistics.median(times), 3), "p95_ms": round(quantile(times, 0.95), 3)}
        for name, times in results.items()
    }


def main(arguments: list[str]) -> int:
    """Index the folder and measure."""
    named = arguments[0] if arguments else os.environ.get("BACKSCROLL_CORPUS", "../shared/corpus")
    projects = Path(named).resolve() / "projects"
    if not projects.is_dir():
        print(f"There is no folder {projects}: name one that holds projects/.")
        return 2
    with tempfile.TemporaryDirectory(prefix="bs-query-") as folder:
        paths = Paths.below(Path(folder))
        engine = Engine(paths, Settings(embedding_enabled=False), SystemClock(), roots=(Root(projects, "history"),))
        engine.start(watch=False)
        try:
            engine.run_once(until="keyword")
            print(f"{engine.api.status().messages:,} messages, {paths.database.stat().st_size / 1e6:.1f} MB of index")
            numbers = report(engine.api, paths)
        finally:
            engine.stop()
    print(json.dumps({"benchmark": "query", **numbers}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
