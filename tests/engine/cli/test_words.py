from __future__ import annotations

from pathlib import Path

import pytest

from engine.cli import words


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, "-"),
        (0.4, "0 s"),
        (59.6, "1 min 0 s"),
        (125, "2 min 5 s"),
        (601, "10 min"),
        (3_661, "1 h 1 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_durations(seconds: float | None, said: str) -> None:
    assert words.duration(seconds) == said


def test_a_moment_is_shown_in_the_zone_it_carries() -> None:
    assert words.moment("2026-03-04T23:30:59.123+09:00") == "2026-03-04 23:30"
    assert words.moment(None) == "-"
    assert words.moment("nonsense that is long") == "nonsense that is"


def test_counts_have_their_noun() -> None:
    assert words.count(1, "match", "matches") == "1 match"
    assert words.count(1234, "file") == "1,234 files"


def test_the_home_is_a_tilde() -> None:
    home = Path("/home/u")
    assert words.place("/home/u/code/api", home) == "~/code/api"
    assert words.place("/home/u", home) == "~"
    assert words.place("/home/user2/x", home) == "/home/user2/x"
    assert words.place("C:\\code", home) == "C:\\code"
    assert words.place(None, home) == "-"
