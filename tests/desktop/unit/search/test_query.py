from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.search import query
from desktop.search.query import Chip
from engine.core.models.kinds import Role

NOW = datetime(2026, 3, 12, 12, 0, tzinfo=UTC)


def test_filters_are_told_from_words_wherever_they_stand() -> None:
    found = query.read("project:api auth role:user rewrite after:7d")
    assert found.words == "auth  rewrite"
    assert found.chips == (Chip("project", "api"), Chip("role", "user"), Chip("after", "7d"))


@pytest.mark.parametrize("text", ["http://x", "std::vector", "foo:bar", "project:", "reproject:x", 'say "project" now'])
def test_what_only_looks_like_a_filter_stays_a_word(text: str) -> None:
    assert query.read(text) == query.Typed(text)


def test_a_filter_becomes_a_chip_when_white_space_follows() -> None:
    assert query.absorb("auth project:api") == query.Typed("auth project:api")
    assert query.absorb("auth project:api ") == query.Typed("auth ", (Chip("project", "api"),))
    assert query.absorb('project:"my app" x') == query.Typed("x", (Chip("project", "my app"),))


def test_a_second_filter_of_a_kind_replaces_the_first() -> None:
    assert query.with_chip((Chip("role", "user"), Chip("tool", "Bash")), Chip("role", "tool")) == (
        Chip("tool", "Bash"),
        Chip("role", "tool"),
    )


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("today", "2026-03-12"),
        ("yesterday", "2026-03-11"),
        ("7d", "2026-03-05"),
        ("2w", "2026-02-26"),
        ("2026-03", "2026-03-01"),
        ("2026-03-01", "2026-03-01"),
        ("24h", "2026-03-11T12:00:00+00:00"),
        ("9999y", "0001-01-01"),
        ("soon", None),
        ("2026-13-01", None),
    ],
)
def test_dates_are_read_as_people_write_them(text: str, day: str | None) -> None:
    assert query.moment_of(text, NOW) == day


def test_every_filter_reaches_the_engine() -> None:
    chips = query.read("project:api after:2026-03-01 before:today role:me kind:tool tool:Bash").chips
    filters = query.wanted(chips, everything=True, now=NOW).filters
    assert (filters.project, filters.date_from, filters.date_to) == ("api", "2026-03-01", "2026-03-12")
    assert (filters.role, filters.kind, filters.tool) == (Role.USER, "tool", "Bash")
    assert filters.include_low_signal
    assert filters.include_sidechains


@pytest.mark.parametrize("text", ["role:boss", "kind:poem", "after:soon", "in:orbit"])
def test_a_filter_that_is_not_understood_is_said_in_words(text: str) -> None:
    problem = query.wanted(query.read(text).chips, everything=False, now=NOW).problem
    assert problem is not None
    assert text in problem


def test_knowledge_is_a_place() -> None:
    assert query.wanted(query.read("in:knowledge").chips, everything=False, now=NOW).in_knowledge


def test_a_pasted_id_is_recognised() -> None:
    assert query.identity_in(" 4FB0D9F2-0a54-5b21-8e2d-a0f7c26c4e72\n") == "4fb0d9f2-0a54-5b21-8e2d-a0f7c26c4e72"
    assert query.identity_in("4fb0d9f2") is None


def test_the_project_being_typed_is_completed() -> None:
    assert query.project_prefix("auth project:sh") == "sh"
    assert query.project_prefix("project:") == ""
    assert query.project_prefix("project:sh auth") is None


@given(st.text(max_size=80))
def test_any_text_can_be_typed(text: str) -> None:
    typed = query.read(text)
    assert query.wanted(typed.chips, everything=False, now=NOW).filters is not None
    assert query.read(typed.words).chips == ()
    absorbed = query.absorb(text)
    assert bool(absorbed.chips) == (absorbed.words != text)
    assert len(absorbed.words) <= len(text)
    assert query.identity_in(text) is None or "-" in text
    assert query.project_prefix(text) is None or ":" in text


@given(
    st.sampled_from(query.KEYS),
    st.text(alphabet=st.characters(exclude_categories=["C", "Z"], exclude_characters='"'), min_size=1),
)
def test_a_chip_written_out_is_read_back(key: str, value: str) -> None:
    assert query.read(Chip(key, value).text).chips == (Chip(key, value),)
