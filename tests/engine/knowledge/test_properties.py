"""Properties that hold for any input: bytes kept, dates bounded, scores equal, pages whole, availability fixed."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import apsw
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.knowledge.availability import Node, available_ids, chain_end
from engine.knowledge.dates import Bounds, parse_when
from engine.knowledge.frontmatter import FrontMatterRefused, edit_record, new_record, read_front, split_record
from engine.knowledge.names import cut_utf16, file_stem, utf16_length
from engine.knowledge.ontology import Ontology
from engine.knowledge.parsing import parse_record
from engine.knowledge.scoring import rank
from engine.knowledge.snippets import Sought, locate
from engine.knowledge.yamltext import YamlRefused, read_mapping
from engine.store.knowledge_index import Words

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
ONE_LINE = TEXT.map(lambda text: " ".join(text.split()) or "x")
SCALAR = st.one_of(
    TEXT, st.integers(-(10**9), 10**9), st.booleans(), st.none(), st.sampled_from(["no", "1_000", "0x1F"])
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT.filter(bool), inner, max_size=3)),
    max_leaves=6,
)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,10}", fullmatch=True), VALUE, max_size=6), TEXT)
def test_what_is_written_is_read_back(values: dict[str, Any], body: str) -> None:
    data = new_record(values, body)
    parts = split_record(data) if b"\0" not in data else None
    if parts is not None:
        assert read_front(parts).values == values
        assert parts.text().encode() == data


UNKNOWN_LINES = st.sampled_from(
    [
        "custom: value   # kept",
        "# a comment on its own",
        "",
        "nested:\n  deep: [1, 2]\n  list:\n    - a\n    - b: c",
        "block: |\n  text\n    indented\n",
        "folded: >-\n  one\n  two",
        "quoted: 'it''s'",
        "'quoted key': yes",
        "empty:",
        "flow: {a: 1, b: [x, y]}",
        "unicode: Zoë 😀",
    ]
)
OUR_VALUES: dict[str, Any] = {
    "revision": 7,
    "title": 'A: "new" title',
    "lifecycle": "superseded",
    "tags": ["a", "b c"],
    "lifecycle_change": {"reason": "why: because", "at": "2026-03-05T10:00:00Z"},
    "evidence": [{"id": "ev_1", "lines": [1, 2], "quote": "x # y"}],
}
OUR_LINES = {
    "revision": "revision: 3  # mine",
    "title": "title: Old title",
    "tags": "tags:\n  - x   # first\n  - y",
    "evidence": "evidence:\n- id: ev_0",
}


@given(
    st.permutations(
        ["custom: value   # kept", "# comment", "", "nested:\n  deep: [1, 2]", "block: |\n  text\n\n  more", "empty:"]
    ),
    st.sets(st.sampled_from(sorted(OUR_LINES))),
    st.sets(st.sampled_from(sorted(OUR_VALUES)), min_size=1),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(0, 10_000),
)
def test_changing_our_keys_keeps_every_other_byte(  # noqa: PLR0917 - hypothesis passes them by position
    foreign: list[str],
    present: set[str],
    changed: set[str],
    eol: str,
    bom: bool,  # noqa: FBT001 - a parameter of the test
    seed: int,
) -> None:
    blocks = list(foreign)
    for number, key in enumerate(sorted(present)):
        blocks.insert((seed + number * 7) % (len(blocks) + 1), OUR_LINES[key])
    front = "\n".join(blocks) + "\n"
    body = "\nBody  \n\n---\ntrailing \n\n"
    data = (("\ufeff" if bom else "") + f"---\n{front}---\n{body}").replace("\n", eol).encode()
    new = edit_record(data, {key: OUR_VALUES[key] for key in sorted(changed)})
    before, after = read_front(split_record(data)).values, read_front(split_record(new)).values
    assert after == {**before, **{key: OUR_VALUES[key] for key in changed}}
    assert split_record(new).body == split_record(data).body
    assert new.startswith(b"\xef\xbb\xbf") is bom
    kept = new.decode()
    for block in foreign:
        assert block.replace("\n", eol) in kept
    assert kept.count("\r\n") in (0, kept.count("\n"))
    if "revision" in present & changed:
        assert "revision: 7  # mine" in kept
    if not present & changed:
        removed = edit_record(new, {}, remove=frozenset(changed))
        assert removed == data


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    ontology = Ontology((), ())
    for candidate in (data, b"---\n" + data, b"---\n" + data + b"\n---\nbody"):
        assert parse_record("x.md", candidate, ontology).hash
        with suppress(FrontMatterRefused):
            edit_record(candidate, {"revision": 2})


@given(st.text(max_size=200))
def test_no_text_breaks_the_yaml_reader(text: str) -> None:
    with suppress(YamlRefused):
        mapping = read_mapping(text)
        assert all(isinstance(key, str) for key in mapping.values)


DAYS = st.dates(min_value=datetime(2025, 12, 30, tzinfo=UTC).date(), max_value=datetime(2026, 1, 3, tzinfo=UTC).date())
STAMPS = st.tuples(DAYS, st.integers(0, 86_399), st.sampled_from([None, 0, 60, -90, 14 * 60]))


def text_of(stamp: tuple[Any, int, int | None], *, day_only: bool) -> str:
    day, second, offset = stamp
    if day_only:
        return day.isoformat()
    clock = f"{second // 3600:02}:{second % 3600 // 60:02}:{second % 60:02}"
    zone = "Z" if offset is None else f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    return f"{day.isoformat()}T{clock}{zone}"


def oracle(text: str) -> tuple[datetime, datetime]:
    """Return first and last microsecond by the standard library."""
    if len(text) == 10:
        start = datetime.fromisoformat(text).replace(tzinfo=UTC)
        return start, start + timedelta(days=1, microseconds=-1)
    instant = datetime.fromisoformat(text).astimezone(UTC)
    return instant, instant


@given(st.tuples(STAMPS, st.booleans()), st.tuples(STAMPS, st.booleans()), st.tuples(STAMPS, st.booleans()))
def test_bounds_agree_with_brute_force(record: Any, since: Any, until: Any) -> None:
    texts = [text_of(stamp, day_only=day_only) for stamp, day_only in (record, since, until)]
    whens = [parse_when(text) for text in texts]
    assert all(when is not None for when in whens)
    when, low, high = (one for one in whens if one is not None)
    first, last = oracle(texts[0])
    expected = last >= oracle(texts[1])[0] and first <= oracle(texts[2])[1]
    assert Bounds(low.start_ns, high.end_ns).holds(when) is expected


WORDS = st.sampled_from(["ana", "atlas", "price", "list", "kickoff"])
FIELD = st.lists(WORDS, max_size=6).map(" ".join)
DOCUMENT = st.tuples(FIELD, FIELD, FIELD)


def index(documents: list[tuple[str, str, str]]) -> Any:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(title, aliases, body, tokenize='unicode61')")
    for number, document in enumerate(documents):
        connection.execute("INSERT INTO t (rowid, title, aliases, body) VALUES (?, ?, ?, ?)", (number, *document))
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab('t', 'instance')")
    return connection


@dataclass
class Occurring:
    """Occurrences of words, straight from FTS5's own vocabulary table."""

    connection: Any

    def positions(self, word: str) -> list[tuple[int, int, int]]:
        columns = {"title": 0, "aliases": 1, "body": 2}
        rows = self.connection.execute("SELECT doc, col, offset FROM v WHERE term = ?", (word,))
        return [(row, columns[column], offset) for row, column, offset in rows]

    def counts(self, word: str) -> tuple[Counter[int], Counter[int], Counter[int]]:
        found = (Counter[int](), Counter[int](), Counter[int]())
        for row, column, _ in self.positions(word):
            found[column][row] += 1
        return found

    def alias_ends(self, row: int) -> tuple[int, ...]:
        return (10**6 + row,)


@given(
    st.lists(DOCUMENT, min_size=1, max_size=12),
    st.sets(st.integers(0, 11)),
    st.lists(WORDS, min_size=1, max_size=3),
    st.sampled_from(["all", "any", "phrase"]),
)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_scores_equal_bm25_of_a_table_of_only_the_allowed_rows(
    documents: list[tuple[str, str, str]], chosen: set[int], words: list[str], mode: Any
) -> None:
    allowed = {number: document for number, document in enumerate(documents) if number in chosen}
    whole = index(documents)
    sizes = {number: len(" ".join(document).split()) for number, document in allowed.items()}
    scored = rank(words, mode, sizes, Occurring(whole)).scores
    alone = index([allowed[number] for number in sorted(allowed)])
    query = {"all": " AND ".join(words), "any": " OR ".join(words), "phrase": f'"{" ".join(words)}"'}[mode]
    rows: list[tuple[int, float]] = alone.execute(
        "SELECT rowid, -bm25(t, 8, 6, 1) FROM t WHERE t MATCH ?", (query,)
    ).fetchall()
    expected = {sorted(allowed)[row]: score for row, score in rows}
    assert scored.keys() == expected.keys()
    for row, score in scored.items():
        assert abs(score - expected[row]) < 1e-9


NAMES = [f"n{number}" for number in range(8)]
NODE = st.builds(
    Node,
    st.sampled_from(["present", "present", "present", "gone"]),
    st.lists(st.sampled_from([*NAMES, "missing"]), max_size=3).map(tuple),
)
MERGED = st.builds(Node, st.just("merged"), st.tuples(st.sampled_from(NAMES)))


def naive(nodes: dict[str, Node]) -> set[str]:
    """Start from everything and take out until nothing changes; a merged ring is out because it has no survivor."""
    alive = set(nodes)
    while True:
        out = {
            name
            for name in alive
            if nodes[name].standing == "gone" or not all(required in alive for required in nodes[name].requires)
        }
        for name in alive - out:
            seen, step = {name}, name
            while nodes[step].standing == "merged":
                step = nodes[step].requires[0]
                if step in seen or step not in alive:
                    out.add(name)
                    break
                seen.add(step)
        if not out:
            return alive
        alive -= out


@given(st.dictionaries(st.sampled_from(NAMES), st.one_of(NODE, NODE, MERGED), max_size=8))
def test_availability_is_the_greatest_fixed_point(nodes: dict[str, Node]) -> None:
    assert set(available_ids(nodes)) == naive(nodes)


@given(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(NAMES), max_size=6), st.sets(st.sampled_from(NAMES)))
def test_a_chain_ends_in_a_current_record_or_nowhere(replaced_by: dict[str, str], current: set[str]) -> None:
    current -= replaced_by.keys()
    for name in replaced_by:
        step, steps = name, 0
        while step in replaced_by and steps < 20:
            step, steps = replaced_by[step], steps + 1
        expected = step if step in current else None
        assert chain_end(name, replaced_by, current) == expected


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=300), st.lists(TEXT, max_size=3), st.integers(20, 480)
)
def test_a_snippet_lies_in_its_field(text: str, extra: list[str], units: int) -> None:
    words = Words(apsw.Connection(":memory:"))
    field = f"{text} needle {' needle '.join(extra)}"
    found = locate("body", field, Sought(("needle",), phrase=False), units, words_of=words.of, body_line=10)
    assert found is not None
    assert utf16_length(found.text) <= units
    assert field.encode("utf-16-le")[2 * found.start : 2 * found.end].decode("utf-16-le") == found.text
    assert "needle" in found.text
    assert found.start_line is not None
    assert found.end_line == found.start_line + found.text.count("\n")


@given(st.text(max_size=300))
def test_file_names_are_legal_everywhere(title: str) -> None:
    stem = file_stem(title.encode("utf-8", "replace").decode())
    assert stem == stem.strip(" .")
    assert stem
    assert not set(stem) & set('<>:"/\\|?*\0\n')
    assert len(stem.encode()) <= 130


@given(TEXT, st.integers(0, 60))
def test_cutting_never_halves_a_pair(text: str, limit: int) -> None:
    piece = cut_utf16(text, limit)
    assert text.startswith(piece)
    assert utf16_length(piece) <= limit
    assert utf16_length(text) <= limit or utf16_length(piece) >= limit - 1
