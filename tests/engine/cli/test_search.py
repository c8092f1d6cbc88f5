from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console
from rich.theme import Theme

from engine.cli.hits import hit_lines, marked, search_footer
from engine.cli.output import THEME, Output
from engine.core.errors import InvalidArgument, StorageFailure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.engine.cli.conftest import Run

HIT: dict[str, Any] = {
    "chunk_id": "23mbna9b61rz0",
    "message_uuid": "287ea22e-bab4-563d-94da-97763342e65b",
    "session_id": "4fb0d9f2-0a54-5b21-8e2d-a0f7c26c4e72",
    "project": "/srv/shelfmark/web",
    "timestamp": "2026-03-04T09:05:37+00:00",
    "role": "assistant",
    "kind": "text",
    "signal": "high",
    "is_sidechain": False,
    "score": 1.25,
    "snippet": "one [bold]library[/bold] \x1b[31mred :smile: \udc80",
    "marks": [[10, 17]],
    "on_disk": True,
    "session_title": "Flaky CI",
    "exchange": {"prompt": "why\nso?", "answer": "because"},
}


def reply(*hits: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "hits": list(hits),
        "total": len(hits),
        "mode": {"requested": "keyword", "realised": "keyword"},
        "coverage": {"chunks": 10, "embedded": 5, "percent": 50.0},
        **more,
    }


def test_words_are_joined_and_options_become_arguments(backscroll: Callable[..., Run]) -> None:
    run = backscroll(
        "search", "auth", "rewrite", "--mode", "keyword", "-p", ".", "--from", "2026-03-01", "--to", "2026-03-02",
        "--role", "user", "--kind", "text", "--tool", "Bash", "--session", "4fb0", "--all", "--sidechains",
        "--read", "2", "-n", "5", "--offset", "10", keyword_search=reply(HIT),
    )  # fmt: skip
    assert run.code == 0
    assert run.asked == [
        (
            "keyword_search",
            {
                "query": "auth rewrite",
                "project": ".",
                "date_from": "2026-03-01",
                "date_to": "2026-03-02",
                "role": "user",
                "kind": "text",
                "tool": "Bash",
                "session": "4fb0",
                "include_low_signal": True,
                "include_sidechains": True,
                "read": 2,
                "limit": 5,
                "offset": 10,
            },
        )
    ]
    assert run.access.wrote == [False]


def test_what_was_not_given_is_left_out(backscroll: Callable[..., Run]) -> None:
    assert backscroll("search", "x", hybrid_search=reply(HIT)).asked == [("hybrid_search", {"query": "x"})]


def test_a_query_may_look_like_an_option(backscroll: Callable[..., Run]) -> None:
    run = backscroll("search", "--", "--flag", hybrid_search=reply(HIT))
    assert run.asked == [("hybrid_search", {"query": "--flag"})]


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_the_mode_chooses_the_operation(backscroll: Callable[..., Run], mode: str) -> None:
    run = backscroll("search", "x", "--mode", mode, **{f"{mode}_search": reply(HIT)})
    assert run.asked[0][0] == f"{mode}_search"


def test_json_is_the_reply_itself(backscroll: Callable[..., Run]) -> None:
    answer = reply(HIT)
    run = backscroll("search", "x", "--json", hybrid_search=answer)
    assert json.loads(run.out) == answer
    assert run.err == ""


def test_nothing_found_is_exit_code_1_in_both_forms(backscroll: Callable[..., Run]) -> None:
    assert backscroll("search", "x", hybrid_search=reply()).code == 1
    run = backscroll("search", "x", "--json", hybrid_search=reply())
    assert run.code == 1
    assert json.loads(run.out)["hits"] == []


def test_other_peoples_text_is_shown_and_never_acted_on(backscroll: Callable[..., Run]) -> None:
    out = backscroll("search", "x", hybrid_search=reply(HIT)).out
    assert "one [bold]library[/bold] \u241b[31mred :smile: \ufffd" in out
    assert "\x1b" not in out


def test_a_hit_says_when_who_where_and_its_ids(backscroll: Callable[..., Run]) -> None:
    head, *rest = backscroll("search", "x", hybrid_search=reply(HIT)).out.splitlines()
    assert head == "  1 2026-03-04 09:05  assistant  4fb0d9f2 23mbna9b61rz0  /srv/shelfmark/web  Flaky CI"
    assert rest[1:] == ["    » why so?", "    ● because", ""]


def test_numbers_go_on_with_the_offset(backscroll: Callable[..., Run]) -> None:
    assert backscroll("search", "x", "--offset", "10", hybrid_search=reply(HIT)).out.startswith(" 11 ")


def test_a_read_exchange_is_shown_in_full(backscroll: Callable[..., Run]) -> None:
    message = {
        "message_uuid": "u",
        "session_id": "s",
        "timestamp": "2026-03-04T09:05:37+00:00",
        "role": "tool",
        "is_sidechain": False,
        "source": "archive",
        "blocks": [{"kind": "tool_result", "text": "\n".join(f"line {n}" for n in range(30))}],
    }
    out = backscroll("search", "x", hybrid_search=reply({**HIT, "messages": [message]})).out
    assert "line 29" in out
    assert "from the archive" in out


def test_marks_are_set_apart_without_colour_too() -> None:
    file = io.StringIO()
    console = Console(
        file=file, force_terminal=True, color_system="truecolor", no_color=True, width=80, theme=Theme(THEME)
    )
    console.print(marked("one library", [(4, 11)]))
    assert file.getvalue() == "one \x1b[1mlibrary\x1b[0m\n"


def test_the_footer_says_what_a_reader_must_know() -> None:
    lines = dict(
        search_footer(
            reply(
                HIT,
                total=128,
                mode={"requested": "hybrid", "realised": "keyword", "reason": "The model is loading."},
                corrected_query="rewrite",
                low_signal_matches=4,
                note="These hits are for corrected_query. Two hits of this session were left out.",
                limit_applied=500,
                next_offset=10,
                total_is="candidates",
            )
        )
    )
    assert list(lines) == [
        "1 of 128 candidates · keyword instead of hybrid search",
        "The model is loading.",
        "Nothing matched as written; searched for: rewrite",
        "4 more matches in what says little: --all",
        "Two hits of this session were left out.",
        "At most 500 at a time",
        "More: --offset 10",
    ]
    assert lines["Nothing matched as written; searched for: rewrite"] == "note"


@pytest.mark.parametrize(("percent", "said"), [(50.0, True), (100.0, False)])
def test_an_answer_by_meaning_says_how_much_of_the_history_it_covers(percent: float, *, said: bool) -> None:
    coverage = {"chunks": 10, "embedded": 5, "percent": percent}
    made = {"requested": "hybrid", "realised": "hybrid"}
    first, _style = next(search_footer(reply(HIT, mode=made, coverage=coverage)))
    assert ("by meaning: 50 % of the history" in first) is said


def test_what_knowledge_has_on_it_stands_below(backscroll: Callable[..., Run]) -> None:
    row = {"id": "k_1", "kind": "claim", "title": "Retries", "snippet": "Three times.", "revision": 1}
    out = backscroll("search", "x", hybrid_search=reply(HIT, knowledge_hits=[row])).out
    assert out.endswith("Recorded in Knowledge\n    Retries  k_1\n    Three times.\n\n")


def test_a_narrow_terminal_gets_place_and_title_on_a_line_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = Output(home=tmp_path)
    output.console.width = 80
    output.show(*hit_lines({**HIT, "session_title": "A long title " * 9, "similar": 2}, 1, output))
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "  1 2026-03-04 09:05  assistant  4fb0d9f2 23mbna9b61rz0  +2 alike"
    assert second.startswith("    /srv/shelfmark/web  A long title")
    assert len(second) == 80
    assert second.endswith("…")


def test_an_empty_answer_names_projects_that_do_match() -> None:
    said = "Nothing in this project; `projects` names where the words do occur."
    lines = dict(search_footer(reply(projects=["/srv/a"], note=said)))
    assert "Projects that do match: /srv/a" in lines
    assert "Nothing in this project." in lines


def test_a_refused_argument_is_wrong_use_with_its_repair(backscroll: Callable[..., Run]) -> None:
    error = InvalidArgument("limit must be at least 1", "You sent 0.", "", candidates=("10",))
    run = backscroll("search", "x", hybrid_search=error)
    assert run.code == 2
    assert run.out == ""
    expected = ["--limit must be at least 1", "You sent 0.", "Candidates: 10"]
    assert run.err.splitlines() == expected


def test_errors_and_notes_are_shown_safely_too(backscroll: Callable[..., Run]) -> None:
    assert "\x1b" not in backscroll("search", "x", hybrid_search=InvalidArgument("no \x1b[2J", "\x1b]0;x")).err
    assert "\x1b" not in backscroll("search", "x", hybrid_search=reply(HIT, note="\x1b[2J")).err


def test_a_failure_is_exit_code_3_and_an_object_with_json(backscroll: Callable[..., Run]) -> None:
    run = backscroll("search", "x", "--json", hybrid_search=StorageFailure("The disk is full", hint="Make room."))
    assert run.code == 3
    assert run.out == ""
    assert json.loads(run.err) == {
        "error": {"code": "storage_failure", "title": "The disk is full", "hint": "Make room."}
    }
