from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.cli.output import Output
from engine.cli.usage import Grouping, money, round_number, table_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.engine.cli.conftest import Run


def row(**fields: Any) -> dict[str, Any]:
    return {
        "input_tokens": 1_000,
        "output_tokens": 2_000,
        "cache_write_5m_tokens": 0,
        "cache_write_1h_tokens": 3_000,
        "cache_read_tokens": 4_000_000,
        "cost_usd": 12.5,
        "calls": 3,
        "unpriced_calls": 0,
        "incomplete": False,
        **fields,
    }


def report(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"rows": list(rows), "totals": row(cost_usd=99.0), "time_zone": "UTC", "total": len(rows), **more}


def test_usage_is_by_day_unless_told_otherwise(backscroll: Callable[..., Run]) -> None:
    run = backscroll("usage", "--when", "7d", get_usage=report(row(day="2026-03-04")))

    assert run.asked == [("get_usage", {"by": "day", "when": "7d"})]
    assert "2026-03-04" in run.out
    assert "4,000,000" in run.out
    assert "$12.50" in run.out
    assert "$99.00" in run.out


def test_a_row_in_which_some_calls_have_no_price_says_so(backscroll: Callable[..., Run]) -> None:
    run = backscroll(
        "usage",
        "--by",
        "model",
        get_usage=report(row(model="glm", cost_usd="unpriced", unpriced_calls=3), row(model="mixed", unpriced_calls=1)),
    )

    assert "unpriced" in run.out
    assert "$12.50 +?" in run.out


def test_rows_with_too_few_output_tokens_say_so(backscroll: Callable[..., Run]) -> None:
    reply = report(row(day="2026-03-04", incomplete=True), row(day="2026-03-05"))
    reply["totals"]["incomplete"] = True
    lines = backscroll("usage", get_usage=reply).out.splitlines()

    assert ["incomplete" in line for line in lines if "2026" in line or "Total" in line] == [True, False, True]
    assert "incomplete" not in backscroll("usage", get_usage=report(row(day="2026-03-04"))).out


def test_claude_codes_own_total_stands_beside_a_session(backscroll: Callable[..., Run]) -> None:
    own = {"cost_usd": 13.0, "difference_usd": 0.5, "why": "It has calls that no transcript line records."}
    run = backscroll("usage", "--by", "session", get_usage=report(row(session_id="a" * 36, cost_state=own)))

    assert "aaaaaaaa: $13.00 (+$0.5000). It has calls that no transcript line records." in " ".join(run.err.split())


@pytest.mark.parametrize(
    ("by", "fields", "shown"),
    [
        ("session", {"session_id": "4fb0d9f2-0a54", "title": "a [red]title[/red]"}, "4fb0d9f2 a [red]title[/red]"),
        ("project", {"project": "/srv/api"}, "/srv/api"),
        ("block", {"block": "2026-03-04T10:00:00+00:00", "active": True}, "2026-03-04 10:00 (now)"),
        ("month", {"month": "2026-03"}, "2026-03"),
    ],
)
def test_each_grouping_names_its_rows(
    backscroll: Callable[..., Run], by: str, fields: dict[str, Any], shown: str
) -> None:
    assert shown in backscroll("usage", "--by", by, get_usage=report(row(**fields))).out


def test_no_usage_is_exit_code_1_and_notes_are_said(backscroll: Callable[..., Run]) -> None:
    run = backscroll("usage", get_usage=report(note="Nothing was recorded."))

    assert run.code == 1
    assert run.err == "No usage\nNothing was recorded.\n"
    assert backscroll("usage", "--when", "today", get_usage=report()).err == "No usage in that time\n"


def test_whole_numbers_give_way_to_names_where_there_is_too_little_room(tmp_path: Path) -> None:
    many = row(input_tokens=123_456_789, output_tokens=123_456_789)
    rows = report({**many, "session_id": "4fb0d9f2-0a54", "title": "A session with a long title"})
    output = Output(home=tmp_path)
    shown: list[str] = []
    for width in (120, 95, 80):
        output.console.width = width
        with output.console.capture() as captured:
            output.console.print(table_of(rows, Grouping.SESSION, output))
        shown.append(captured.get())
    assert "123,456,789" in shown[0]
    assert "Cache 1 h" in shown[1]
    assert "123M" in shown[1]
    assert "Cache write" in shown[2]
    assert all(len(line.rstrip()) <= 80 for line in shown[2].splitlines())


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0"), (999, "999"), (1_000, "1.0k"), (99_950, "100k"), (999_600, "1.0M"), (451_965_504, "452M"),
        (2_000_000_000, "2.0G"),
    ],
)  # fmt: skip
def test_round_numbers_have_three_digits_at_most(count: int, shown: str) -> None:
    assert round_number(count) == shown


@pytest.mark.parametrize(
    ("cost", "shown"), [(0, "$0.00"), (0.0004, "$0.0004"), (1234.5, "$1,234.50"), ("unpriced", "unpriced")]
)
def test_small_amounts_keep_their_digits(cost: float | str, shown: str) -> None:
    assert money(cost) == shown
