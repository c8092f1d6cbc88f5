from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop import format as shown

NOW = datetime(2026, 3, 12, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=12), "12 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(days=1), "yesterday"),
        (timedelta(days=4), "4 days ago"),
        (timedelta(days=9), "3 Mar"),
        (timedelta(days=400), "5 Feb 2025"),
    ],
)
def test_how_long_ago_is_said_as_people_say_it(ago: timedelta, words: str) -> None:
    assert shown.relative((NOW - ago).isoformat(), NOW) == words


@pytest.mark.parametrize("nonsense", [None, "", "yesterday-ish", "2026-99-99"])
def test_a_time_that_is_none_is_left_out(nonsense: str | None) -> None:
    assert shown.relative(nonsense, NOW) == ""
    assert shown.absolute(nonsense) == ""


@pytest.mark.parametrize(
    ("share", "words"), [(0, "0 %"), (0.2, "under 1 %"), (62.9, "62 %"), (99.99, "99 %"), (100, "100 %")]
)
def test_a_percentage_never_says_that_all_is_done_before_it_is(share: float, words: str) -> None:
    assert shown.percent(share) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (59, "59 s"), (240, "4 min"), (7200, "2 h"), (300_000, "3 days")]
)
def test_a_duration_has_one_unit(seconds: float, words: str) -> None:
    assert shown.duration(seconds) == words


def test_escape_sequences_and_reordering_characters_are_taken_out() -> None:
    assert shown.plain("\x1b[31mred\x1b[0m \x1b]0;title\x07plain\x00\x08") == "red plain"
    assert shown.plain("safe\u202egnp.exe\u2066x") == "safegnp.exex"
    assert shown.plain("lone \ud800 surrogate") == "lone \ufffd surrogate"
    assert shown.plain("one\r\ntwo\u2028three") == "one\ntwo\nthree"


def test_languages_and_emoji_are_left_alone() -> None:
    for text in ("夜間同期", "שלום עולם", "مرحبا", "👩‍👩‍👧‍👦 👍🏽 é"):
        assert shown.plain(text) == text


@given(st.text(alphabet=st.characters(codec=None), max_size=200))
def test_what_is_shown_never_holds_a_control_character(text: str) -> None:
    clean = shown.plain(text)
    assert not set(clean) & {chr(code) for code in [*range(9), *range(11, 32), 127, *range(0x80, 0xA0)]}
    assert shown.plain(clean) == clean
    clean.encode("utf-8")


def test_marks_are_counted_as_qt_counts() -> None:
    assert shown.utf16_marks("ab cd", ((3, 5),)) == [(3, 2)]
    assert shown.utf16_marks("😀a😀", ((1, 2), (2, 3))) == [(2, 1), (3, 2)]


def test_marks_move_with_what_is_taken_out_before_them() -> None:
    text, marks = shown.plain_marked("\x1b[1mfind\x1b[0m me\nhere", ((13, 15),))
    assert text == "find me here"
    assert [text[start:end] for start, end in marks] == ["me"]


@pytest.mark.parametrize(
    ("path", "name"), [("/home/you/api", "api"), (r"C:\Users\you\web", "web"), ("/", "/"), (None, "")]
)
def test_a_project_is_called_by_the_last_part_of_its_path(path: str | None, name: str) -> None:
    assert shown.project_name(path) == name


def test_a_tooltip_is_never_taken_for_html() -> None:
    assert "<" not in shown.for_tooltip("<b>bold</b>")


@pytest.mark.parametrize(
    ("text", "is_so"),
    [("שלום world", True), ("12 שלום", True), ("hello שלום", False), ("… 夜間", False), ("12…", False)],
)
def test_a_text_is_read_as_its_first_letter_is(text: str, *, is_so: bool) -> None:
    assert shown.starts_right(text) == is_so
