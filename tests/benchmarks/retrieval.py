"""How good the searches are: known items found at 1, 5 and 10, by kind of question, and the recall of the vectors.

    python dev.py bench retrieval [folder with projects/] [queries.jsonl] [--home FOLDER] [--threads N] [--misses]
    python dev.py bench retrieval conversations [--beside N]

The folder is `../shared/corpus` or `$BACKSCROLL_CORPUS`, the queries `../shared/eval/queries.jsonl`, when none is
given. `conversations` in place of both takes the invented chats of `tests/benchmarks/conversations`, in two halves: one
to choose weights on and one to confirm them; `--beside` hides them in so many exchanges of small talk. `--home` keeps
the index, so that a second run embeds nothing.

A line of the queries holds `id`, `query`, `type`, `filters` (arguments of the search) and `relevant`, uuids of
messages. A hit counts when it is a line of an exchange that holds one of them. Five rows: the strict keyword search;
the relaxed lexical leg (any word, stop words left out, BM25); the semantic leg; plain reciprocal rank fusion (k = 60)
of these two; the hybrid search. The legs show each exchange once, as the hybrid does: it would win by that alone. Below
the table stands every kind of question in which the hybrid answers at least two fewer than its better leg.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.clock import SystemClock
from engine.core.ids import message_key
from engine.core.models.asking import Caller, SearchFilters, SearchRequest
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.core.when import TimeSpan
from engine.core.zone import zone_of
from engine.search import exchanges, scope
from engine.search.query import read_query
from engine.search.ranking import rank
from engine.search.semantic import Meaning
from engine.service import Engine
from engine.store import generations, vectors, words
from engine.store.connection import all_rows, open_reader
from engine.store.filters import ChunkFilter
from engine.transcripts.discovery import Root
from tests.benchmarks.embed import RecordingClient
from tests.helpers.conversations import HOME, write_conversations
from tests.helpers.smalltalk import write_small_talk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.search.scope import Scope
    from engine.store.connection import Connection

DEPTH = 20
RRF_K = 60
LEG_DEPTH = 1_000
RECALL_QUERIES = 200
WAYS = ("keyword", "lexical", "semantic", "rrf", "hybrid")


@dataclass(frozen=True)
class Question:
    """A known item and how somebody asks for it."""

    id: str
    text: str
    type: str
    filters: dict[str, Any]
    relevant: tuple[str, ...]


@dataclass(frozen=True)
class Figures:
    """Of one row."""

    hit1: float
    hit5: float
    hit10: float
    mrr: float


class Bench:
    """Asks every question in five ways."""

    def __init__(self, engine: Engine, connection: Connection) -> None:
        self._engine = engine
        self._db = connection
        self._settings = engine.settings
        self._leg = engine.api.leg

    def exchange_of(self, uuid: str) -> int | None:
        """Return the exchange a message belongs to, by its uuid here or in a copy."""
        key = message_key(uuid)
        rows = all_rows(
            self._db,
            """SELECT exchange_id FROM messages WHERE key = ?1
               UNION SELECT m.exchange_id FROM copies c JOIN messages m ON m.id = c.message_id WHERE c.key = ?1""",
            (key,),
        )
        return int(rows[0][0]) if rows else None

    def where(self, question: Question) -> Scope:
        """Return the filters of a question."""
        return scope.resolve(
            self._db,
            SearchFilters(**question.filters),
            Caller(),
            zone=zone_of(self._settings.time_zone),
            now_s=time.time(),
            apart=(),
            in_view=None,
        )

    def keyword(self, question: Question) -> list[int]:
        """Strict keyword search."""
        query = read_query(question.text)
        return self._in_order(words.ranked(self._db, query.strict, self.where(question).chunks)) if query.terms else []

    def lexical(self, question: Question) -> list[int]:
        """Any word, stop words left out, BM25."""
        query = read_query(question.text)
        query = replace(query, terms=exchanges.content_terms(query))
        return self._in_order(words.ranked(self._db, query.any, self.where(question).chunks)) if query.terms else []

    def semantic(self, question: Question) -> list[int]:
        """Nearest passages."""
        meaning = self._leg.understand(self._db, question.text)
        if not isinstance(meaning, Meaning):
            raise SystemExit(f"No vector: {meaning.reason}")
        matches = self._leg.nearest(self._db, meaning, self.where(question), LEG_DEPTH)
        return list(dict.fromkeys(match.exchange for match in matches))

    def fused(self, question: Question) -> list[int]:
        """Plain reciprocal rank fusion of both legs."""
        scores: dict[int, float] = defaultdict(float)
        for leg in (self.lexical(question), self.semantic(question)):
            for place, exchange in enumerate(leg[:LEG_DEPTH], 1):
                scores[exchange] += 1 / (RRF_K + place)
        return sorted(scores, key=lambda exchange: -scores[exchange])

    def hybrid(self, question: Question) -> list[int]:
        """The product's own."""
        reply = self._engine.api.search(
            SearchRequest(query=question.text, mode="hybrid", filters=SearchFilters(**question.filters), limit=DEPTH)
        )
        if reply.mode.realised != "hybrid":
            raise SystemExit(f"Not a hybrid answer: {reply.mode.reason}")
        found = [self.exchange_of(hit.message_uuid) for hit in reply.hits]
        return [exchange for exchange in found if exchange is not None]

    def _in_order(self, matches: Sequence[words.Match]) -> list[int]:
        exchange_of = {match.chunk: match.exchange for match in matches}
        return list(dict.fromkeys(exchange_of[chunk] for chunk in rank(matches, int(time.time() * 1000)).chunks))


def read_questions(path: Path) -> list[Question]:
    """Return the questions of a file."""
    found: list[Question] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.append(Question(row["id"], row["query"], row["type"], row.get("filters", {}), tuple(row["relevant"])))
    return found


def place_of(found: Sequence[int], relevant: set[int]) -> int | None:
    """Return the place of the first relevant exchange, from 1."""
    return next((place for place, exchange in enumerate(found, 1) if exchange in relevant), None)


def figures(places: Sequence[int | None]) -> Figures:
    """Return the figures of many places."""

    def share(limit: int) -> float:
        return sum(place is not None and place <= limit for place in places) / len(places)

    mrr = sum(1 / place for place in places if place is not None and place <= DEPTH) / len(places)
    return Figures(share(1), share(5), share(10), mrr)


def kinds_of(question: Question) -> tuple[str, ...]:
    """Return the lines of the table that a question counts in; a type may name its half of the questions."""
    half, colon, _ = question.type.partition(": ")
    return ("all", half, question.type) if colon else ("all", question.type)


def by_kind(rows: dict[str, list[int | None]], questions: Sequence[Question]) -> dict[str, dict[str, list[int | None]]]:
    """Return for each kind of question the places in each row."""
    found: dict[str, dict[str, list[int | None]]] = {}
    for index, question in enumerate(questions):
        for kind in kinds_of(question):
            for row, places in rows.items():
                found.setdefault(kind, {}).setdefault(row, []).append(places[index])
    return found


def shortfalls(kinds: dict[str, dict[str, list[int | None]]]) -> dict[tuple[str, int], tuple[int, int]]:
    """Return where the hybrid answers at least two fewer than its better leg: (kind, limit) and both counts."""
    found: dict[tuple[str, int], tuple[int, int]] = {}
    for kind, rows in kinds.items():
        for limit in (1, 5, 10):
            counts = {
                row: sum(place is not None and place <= limit for place in rows[row])
                for row in ("lexical", "semantic", "hybrid")
            }
            better = max(counts["lexical"], counts["semantic"])
            if counts["hybrid"] < better - 1:
                found[kind, limit] = (counts["hybrid"], better)
    return found


def table(rows: dict[str, list[int | None]], questions: Sequence[Question]) -> None:
    """Print hit@1/5/10 and MRR of each row, for all questions and by kind."""
    kinds = by_kind(rows, questions)
    print(f"{'':27}" + "".join(f"{row:>23}" for row in rows))
    for kind, places in kinds.items():
        cells = ""
        for row in rows:
            found = figures(places[row])
            cells += f"{f'{found.hit1:.2f} {found.hit5:.2f} {found.hit10:.2f} {found.mrr:.3f}':>23}"
        print(f"{f'{kind} ({len(next(iter(places.values())))})':27}{cells}")
    for (kind, limit), (hybrid, better) in shortfalls(kinds).items():
        print(f"below its better leg: {kind}, hit@{limit}: {hybrid} against {better}")


def recall(connection: Connection, recorded: Path) -> None:
    """Print recall@10 of the vector search against exact float32 brute force, without and with each filter."""
    current = generations.answering(connection)
    if current is None or not recorded.exists():
        print("recall: no exact vectors were kept (embed into a fresh --home)")
        return
    kept = np.load(recorded)
    exact_of = dict(zip(kept["hashes"].tolist(), range(len(kept["hashes"])), strict=True))
    offsets, all_exact = kept["offsets"], kept["vectors"]
    ids: list[int] = []
    exact: list[np.ndarray[Any, Any]] = []
    for chunk, text in all_rows(connection, "SELECT id, plain_text(text) FROM texts"):
        numbers = [
            row[0]
            for row in connection.execute(
                "SELECT id FROM passages WHERE generation = ? AND chunk_id = ? ORDER BY id", (current.id, chunk)
            )
        ]
        at = exact_of.get(generations.text_hash(text))
        if at is None or not numbers:
            continue
        ids += numbers
        exact += list(all_exact[offsets[at] : offsets[at] + len(numbers)])
    table_ = np.asarray(exact, np.float32)
    numbers_ = np.asarray(ids)
    span = all_rows(connection, "SELECT min(time_ms), max(time_ms) FROM chunks")[0]
    folder = all_rows(connection, "SELECT folder_id FROM chunks GROUP BY 1 ORDER BY count(*) DESC LIMIT 1 OFFSET 3")
    everything = ChunkFilter(span=TimeSpan(), low_signal=True, sidechains=True)
    filters = {
        "no filter": everything,
        "default (no low signal)": replace(everything, low_signal=False, sidechains=False),
        "one folder": replace(everything, folders=tuple(int(row[0]) for row in folder)),
        "a tenth of the time": replace(everything, span=TimeSpan(span[0], span[0] + (span[1] - span[0]) // 10)),
        "role user": replace(everything, role=scope.Role.USER),
        "kind tool_use": replace(everything, kinds=(scope.Kind.TOOL_USE,)),
    }
    rng = np.random.default_rng(5)
    questions = table_[rng.choice(len(table_), min(RECALL_QUERIES, len(table_)), replace=False)]
    questions = questions + 0.3 * rng.standard_normal(questions.shape).astype(np.float32) / np.sqrt(questions.shape[1])
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    print(f"recall@10 against exact float32, {len(table_):,} vectors, {len(questions)} questions near random passages")
    for name, chosen in filters.items():
        allowed = np.isin(numbers_, np.asarray(vectors.allowed_passages(connection, current.id, chosen)))
        if not allowed.any():
            print(f"  {name:26} lets nothing through here")
            continue
        shares: list[float] = []
        taken: list[float] = []
        for question in questions:
            near = table_[allowed] @ question
            # Identical texts have identical vectors: any of those that tie for the last place is right.
            enough = np.sort(near)[-min(10, len(near)) :][0] - 1e-5 if len(near) else 1.0
            best = set(numbers_[allowed][near >= enough].tolist())
            started = time.perf_counter()
            found = vectors.nearest(connection, current.id, question, chosen, 10)
            taken.append(time.perf_counter() - started)
            shares.append(len(best & {match.passage for match in found}) / max(1, min(10, len(near))))
        print(f"  {name:26} {statistics.mean(shares):.4f}  {1000 * statistics.median(taken):6.1f} ms")


def main(arguments: Sequence[str]) -> int:
    """Index, embed, ask, print."""
    parser = argparse.ArgumentParser(prog="bench retrieval")
    shared = Path(__file__).resolve().parents[3] / "shared"
    parser.add_argument("folder", nargs="?", default=os.environ.get("BACKSCROLL_CORPUS", str(shared / "corpus")))
    parser.add_argument("queries", nargs="?", default=str(shared / "eval" / "queries.jsonl"))
    parser.add_argument("--home")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--beside", type=int, default=0)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(options.home or temporary)
        folder, queries = Path(options.folder), Path(options.queries)
        if options.folder == "conversations":
            folder, queries = write_conversations(home / "conversations")
            write_small_talk(folder / "projects", options.beside, cwd=HOME)
        root = folder / "projects" if (folder / "projects").is_dir() else folder
        settings = Settings(embedding_threads=options.threads, search_semantic_wait_s=120.0, time_zone="UTC")
        paths = Paths.below(home)
        engine = Engine(paths, settings, SystemClock(), roots=(Root(root, "bench"),))
        client = RecordingClient.replacing(engine)
        engine.start(watch=False)
        try:
            engine.run_once()
            client.save(home / "exact.npz")
            connection = open_reader(paths.database)
            ask(Bench(engine, connection), read_questions(queries), misses=options.misses)
            recall(connection, home / "exact.npz")
            connection.close()
        finally:
            engine.stop()
    return 0


def places(bench: Bench, questions: Sequence[Question], ways: Sequence[str] = WAYS) -> dict[str, list[int | None]]:
    """Ask everything in the ways given, and return the place of each right answer."""
    relevant = [
        {found for uuid in question.relevant if (found := bench.exchange_of(uuid)) is not None}
        for question in questions
    ]
    asked: dict[str, Callable[[Question], list[int]]] = {
        "keyword": bench.keyword,
        "lexical": bench.lexical,
        "semantic": bench.semantic,
        "rrf": bench.fused,
        "hybrid": bench.hybrid,
    }
    rows: dict[str, list[int | None]] = {}
    for name in ways:
        started = time.perf_counter()
        rows[name] = [
            place_of(asked[name](question), wanted) for question, wanted in zip(questions, relevant, strict=True)
        ]
        print(f"{name}: {1000 * (time.perf_counter() - started) / len(questions):.0f} ms a question", file=sys.stderr)
    return rows


def ask(bench: Bench, questions: Sequence[Question], *, misses: bool) -> None:
    """Ask everything and print the table."""
    rows = places(bench, questions)
    table(rows, questions)
    if misses:
        for question, place in zip(questions, rows["hybrid"], strict=True):
            if place is None or place > 1:
                print(f"  {question.id} {question.type:10} {place or '-':>3}  {question.text}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
