"""Keyword search finds each term where it stands, whatever is typed, and says what it left out."""

from __future__ import annotations

import random
import re
import string
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.core.errors import Ambiguous, InvalidArgument, NotFound
from engine.core.ids import chunk_id
from engine.core.models.asking import SearchFilters, SearchRequest
from engine.core.models.kinds import Role
from engine.core.text import camel_parts, has_cjk, is_camel, stem
from engine.store.codes import ROLE_OF
from engine.store.connection import open_reader
from tests.engine.search.conftest import AUTH, LINT, SIDE, TOKYO

if TYPE_CHECKING:
    from engine.core.models.hits import Hit, SearchReply
    from engine.service import Engine

EVERYTHING = SearchFilters(include_low_signal=True, include_sidechains=True)


def search(engine: Engine, query: str, **options: object) -> SearchReply:
    filters = {key: options.pop(key) for key in list(options) if key in SearchFilters.__dataclass_fields__}
    request = SearchRequest(query=query, mode="keyword", filters=SearchFilters(**filters))  # pyright: ignore[reportArgumentType] - a test's shorthand
    return engine.api.search(replace(request, **options))  # pyright: ignore[reportArgumentType] - as above


def snippets(reply: SearchReply) -> list[str]:
    return [hit.snippet for hit in reply.hits]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("getUserName", "getUserName()"),
        ("username", None),
        ("user name", "getUserName()"),
        ("UserName", "getUserName()"),
        ("sqlite-vec", "sqlite-vec"),
        ("src/auth", "src/auth/token_store.py"),
        ("/token_store.py:42", "token_store.py:42"),
        ("token_store", "token_store.py"),
        ("--maxfail=1", "--maxfail=1"),
        ("NEAR(misses)", "NEAR(misses)"),
        ("a:b", "a:b"),
        ("don't", "don't"),
        ("configuration", "configuration"),
        ("naive", "naïve"),
        ("CAFÉ", "café"),
        ("保存", "保存"),
        ("잠", "잠금은"),
        ("库", "数据库"),
        ("AND OR NOT", None),
        ("config*", None),
    ],
)
def test_each_form_is_found_as_typed_and_by_its_parts(engine: Engine, typed: str, found: str | None) -> None:
    reply = search(engine, typed, fuzzy_fallback=False)

    if found is None:
        assert reply.hits == ()
    else:
        assert any(found in snippet for snippet in snippets(reply))


def test_codes_are_found_in_failed_results(engine: Engine) -> None:
    (hit,) = search(engine, "E0308").hits

    assert (hit.role, hit.kind, hit.tool, hit.signal) == ("tool", "tool_result", "Bash", "medium")


def test_an_exact_word_comes_before_its_stem(engine: Engine) -> None:
    first, *rest = search(engine, "runs", fuzzy_fallback=False).hits

    assert "runs" in first.snippet
    assert any("run" in hit.snippet.lower() and "runs" not in hit.snippet for hit in rest)


def test_a_quoted_phrase_needs_exact_words_in_order(engine: Engine) -> None:
    assert search(engine, '"refresh tokens"').hits
    assert not search(engine, '"refresh token"', fuzzy_fallback=False).hits
    assert not search(engine, '"tokens refresh"', fuzzy_fallback=False).hits


def test_every_word_must_match_in_the_same_chunk(engine: Engine) -> None:
    assert search(engine, "eslint jobs").total == 1
    assert search(engine, "eslint refresh", fuzzy_fallback=False).total == 0


def test_the_word_being_typed_matches_as_a_prefix(engine: Engine) -> None:
    assert search(engine, "configuratio", prefix_last=True, fuzzy_fallback=False).hits
    assert not search(engine, "configuratio ", prefix_last=True, fuzzy_fallback=False).hits


def test_a_typo_is_corrected_once_and_said(engine: Engine) -> None:
    reply = search(engine, "refrseh tokens")

    assert reply.corrected_query == "refresh tokens"
    assert reply.hits
    assert reply.note is not None
    assert "corrected_query" in reply.note


def test_typos_stay_when_correction_is_off(engine: Engine) -> None:
    reply = search(engine, "refrseh tokens", fuzzy_fallback=False)

    assert reply.hits == ()
    assert reply.corrected_query is None


def test_low_signal_is_left_out_counted_and_shown_when_asked(engine: Engine) -> None:
    hidden = search(engine, "needle_in_the_tail")
    shown = search(engine, "needle_in_the_tail", include_low_signal=True)

    assert hidden.hits == ()
    assert hidden.low_signal_matches == 1
    assert hidden.note is not None
    assert [hit.signal for hit in shown.hits] == ["low"]


@pytest.mark.parametrize("implied", [{"role": Role.TOOL}, {"kind": "tool_result"}, {"kind": "tool"}, {"tool": "Bash"}])
def test_a_filter_on_something_low_by_nature_includes_low_signal(engine: Engine, implied: dict[str, object]) -> None:
    assert search(engine, "needle_in_the_tail", **implied).total == 1


def test_our_own_calls_and_answers_are_never_found_unless_the_tool_is_named(engine: Engine) -> None:
    everything = search(engine, "old answer", include_low_signal=True)
    named = search(engine, "old answer", tool="mcp__backscroll__keyword_search")

    assert everything.hits == ()
    assert everything.low_signal_matches is None
    assert named.total == 1


def test_project_is_a_part_of_the_path_whatever_its_case(engine: Engine) -> None:
    assert {hit.session_id for hit in search(engine, "flock", project="DEV/WEB").hits} == {LINT}
    assert {hit.session_id for hit in search(engine, "保存", project="日本").hits} == {TOKYO}


def test_an_empty_answer_under_a_project_names_projects_that_do_match(engine: Engine) -> None:
    reply = search(engine, "eslint", project="api")

    assert reply.hits == ()
    assert reply.projects == ("/home/dev/web",)


def test_session_takes_a_unique_prefix_and_explains_other_ones(engine: Engine) -> None:
    assert {hit.session_id for hit in search(engine, "flock", session="BBBB").hits} == {LINT}
    with pytest.raises(NotFound, match="list_sessions"):
        search(engine, "flock", session="ffff")


def test_an_ambiguous_session_prefix_lists_the_candidates(engine: Engine) -> None:
    with pytest.raises(NotFound):
        search(engine, "flock", session="")
    with pytest.raises(Ambiguous) as caught:
        search(engine, "flock", session="aaaa")
    assert set(caught.value.candidates) == {AUTH, SIDE}


def test_date_filters_take_whole_local_days_and_are_echoed(engine: Engine) -> None:
    reply = search(engine, "tokens", date_from="2026-03-03", date_to="2026-03-03")

    assert {hit.session_id for hit in reply.hits} == {LINT}
    assert reply.range is not None
    assert reply.range.date_from == "2026-03-03T00:00:00+00:00"
    assert reply.range.date_to == "2026-03-03T23:59:59+00:00"


def test_when_and_dates_together_are_refused(engine: Engine) -> None:
    with pytest.raises(InvalidArgument, match="when"):
        search(engine, "x", when="today", date_from="2026-03-03")


def test_a_hit_inside_an_exchange_carries_its_prompt(engine: Engine) -> None:
    (hit,) = search(engine, "E0308").hits

    assert hit.exchange is not None
    assert hit.exchange.prompt is not None
    assert hit.exchange.prompt.startswith("How should we store")
    assert hit.exchange.answer is not None
    assert hit.exchange.answer.startswith("Done:")


def test_read_gives_the_first_hits_their_whole_exchange(engine: Engine) -> None:
    reply = search(engine, "flock approach", read=1)

    messages = reply.hits[0].messages
    assert messages is not None
    assert [message.role for message in messages] == ["user", "assistant"]
    assert messages[0].in_hit


def test_pages_cover_every_hit_once(engine: Engine) -> None:
    whole = [hit.chunk_id for hit in search(engine, "tokens", include_low_signal=True, limit=500).hits]
    paged: list[str] = []
    offset: int | None = 0
    while offset is not None:
        reply = search(engine, "tokens", include_low_signal=True, limit=1, offset=offset)
        paged += [hit.chunk_id for hit in reply.hits]
        offset = reply.next_offset

    assert paged == whole
    assert len(set(paged)) == len(paged) > 2


def test_hits_of_one_exchange_can_be_grouped_under_the_best(engine: Engine) -> None:
    single = search(engine, "tokens", include_low_signal=True)
    grouped = search(engine, "tokens", include_low_signal=True, group="exchange")

    assert grouped.total < single.total
    assert grouped.hits[0].chunk_id == single.hits[0].chunk_id
    assert sum(1 + (hit.similar or 0) for hit in grouped.hits) == single.total


def test_a_limit_over_the_maximum_is_answered_with_the_maximum_and_said(engine: Engine) -> None:
    assert search(engine, "tokens", limit=9_999).limit_applied == 500
    assert search(engine, "tokens", limit=10).limit_applied is None


def test_a_query_without_words_says_so(engine: Engine) -> None:
    reply = search(engine, "=> {}")

    assert reply.hits == ()
    assert reply.note is not None


def test_chunk_ids_are_short_and_the_same_after_a_rebuild(engine: Engine) -> None:
    before = {hit.chunk_id for hit in search(engine, "flock", include_low_signal=True).hits}
    engine.reindex(None, full=True)
    engine.run_once()

    assert {hit.chunk_id for hit in search(engine, "flock", include_low_signal=True).hits} == before
    assert max(map(len, before)) <= 14


# Against a naive scan --------------------------------------------------------------------------------------------


def naive_tokens(text: str) -> list[str]:
    folded = unicodedata.normalize("NFD", text.lower())
    folded = unicodedata.normalize("NFC", "".join(c for c in folded if not "\u0300" <= c <= "\u036f"))
    tokens: list[str] = []
    for run in re.findall(r"[^\W_]+", folded):
        word = ""
        for character in run:
            if has_cjk(character):
                tokens += [word] if word else []
                tokens.append(character)
                word = ""
            else:
                word += character
        tokens += [word] if word else []
    return tokens


def contains(tokens: list[str], phrase: list[str]) -> bool:
    return any(tokens[i : i + len(phrase)] == phrase for i in range(len(tokens) - len(phrase) + 1))


@dataclass(frozen=True)
class Chunk:
    """A chunk as a naive reader of the whole history sees it."""

    id: str
    text: str
    session_id: str
    role: str
    day: str

    @property
    def tokens(self) -> list[str]:
        return naive_tokens(self.text)

    def holds(self, word: str) -> bool:
        """True when the word, its stem, or a part of an identifier that is the word stands here."""
        tokens = self.tokens
        stems = {stem(token) for token in tokens}
        parts = {part for raw in re.findall(r"[A-Za-z0-9]+", self.text) if is_camel(raw) for part in camel_parts(raw)}
        return bool({word, stem(word)} & (set(tokens) | parts)) or stem(word) in stems or word in stems


def every_chunk(engine: Engine) -> list[Chunk]:
    connection = open_reader(engine.paths.database)
    rows: list[tuple[Any, ...]] = connection.execute(
        """SELECT m.key, c.block, plain_text(x.text), s.session_id, m.role,
             date(m.time_ms / 1000, 'unixepoch') FROM chunks c
           JOIN texts x ON x.id = c.id JOIN messages m ON m.id = c.message_id JOIN sessions s ON s.id = m.session_id
           LEFT JOIN tools t ON t.id = c.tool_id WHERE t.name IS NULL OR t.name NOT LIKE 'mcp__backscroll__%'"""
    ).fetchall()
    connection.close()
    return [Chunk(chunk_id(row[0], row[1]), row[2], row[3], ROLE_OF[row[4]].value, row[5]) for row in rows]


def found(engine: Engine, query: str, **filters: object) -> set[str]:
    request = SearchRequest(
        query=query,
        mode="keyword",
        filters=replace(EVERYTHING, **filters),  # pyright: ignore[reportArgumentType] - a test's shorthand
        limit=500,
        fuzzy_fallback=False,
    )
    return {hit.chunk_id for hit in engine.api.search(request).hits}


@given(seed=st.integers(0, 2**32))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=120)
def test_quoted_phrases_and_cjk_substrings_match_exactly_where_a_naive_scan_finds_them(
    engine: Engine, seed: int
) -> None:
    chunks = every_chunk(engine)
    chance = random.Random(seed)
    tokens = chance.choice(chunks).tokens
    start = chance.randrange(len(tokens))
    phrase = tokens[start : start + chance.randint(1, 4)]
    expected = {chunk.id for chunk in chunks if contains(chunk.tokens, phrase)}

    assert found(engine, f'"{" ".join(phrase)}"') == expected
    if all(map(has_cjk, phrase)):
        assert found(engine, "".join(phrase)) == expected


@given(seed=st.integers(0, 2**32))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=150)
def test_plain_words_under_filters_match_exactly_where_a_naive_scan_finds_them(engine: Engine, seed: int) -> None:
    chunks = every_chunk(engine)
    chance = random.Random(seed)
    words = [token for token in chance.choice(chunks).tokens if not has_cjk(token)]
    asked = [chance.choice(words) for _ in range(chance.randint(1, 3))] if words else ["flock"]
    filters: dict[str, object] = {}
    expected = [chunk for chunk in chunks if all(chunk.holds(word) for word in asked)]
    if chance.random() < 0.5:
        filters["role"] = role = chance.choice([Role.USER, Role.ASSISTANT, Role.TOOL])
        expected = [chunk for chunk in expected if chunk.role == role]
    if chance.random() < 0.5:
        filters["session"] = session = chance.choice([AUTH, LINT, TOKYO])
        expected = [chunk for chunk in expected if chunk.session_id == session]
    if chance.random() < 0.5:
        filters["date_from"] = filters["date_to"] = day = chance.choice(["2026-03-02", "2026-03-03"])
        expected = [chunk for chunk in expected if chunk.day == day]

    assert found(engine, " ".join(asked), **filters) == {chunk.id for chunk in expected}


HOSTILE = [
    '"', '""', '"""', "NEAR(a b)", "NEAR(", "a NOT", "NOT", "AND", "OR", "a AND", "*", "a*", "^a", "a:b",
    "words:flock", "{words}: x", "-flag", "--flag", "+a", "(", ")", "()", "a)(b", "\0", "a\0b", "\ud800",
    "\udfff\ud800", "👍🏽", "👨‍👩‍👧‍👦",
    "'; DROP TABLE chunks; --", "%", "_", "\\", "\n\t\r", "\u2028", "\u202e", "İ", "ß", "ﬁ", "x" * 10_000,
    "a " * 5_000,
    "'" * 500, '"a' * 500, "٣", "１２", "Ａ", "\ue000", "e\u0301", "한국어", "中" * 3_000,
]  # fmt: skip


@pytest.mark.parametrize("typed", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_queries_neither_raise_nor_hang(engine: Engine, typed: str) -> None:
    for prefix in (False, True):
        assert search(engine, typed, prefix_last=prefix).total >= 0


def test_four_hundred_random_hostile_queries_neither_raise_nor_hang(engine: Engine) -> None:
    chance = random.Random(20260302)
    pieces = [*HOSTILE, *string.punctuation, "flock", "tokens", "認証"]
    for _ in range(400):
        typed = "".join(chance.choice(pieces) + chance.choice(["", " "]) for _ in range(chance.randint(1, 6)))[:10_000]
        assert search(engine, typed).total >= 0


def hit_of(reply: SearchReply) -> Hit:
    return reply.hits[0]


def test_timestamps_carry_the_zone_and_cwd_is_relative_to_its_project(engine: Engine) -> None:
    hit = hit_of(search(engine, "eslint jobs"))

    assert hit.timestamp == "2026-03-03T08:00:10+00:00"
    assert (hit.project, hit.cwd) == ("/home/dev/web", None)
