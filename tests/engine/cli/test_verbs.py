from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.cli.coverage import bar
from engine.cli.output import Output
from engine.cli.session_rows import session_table
from engine.core.errors import Ambiguous, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.engine.cli.conftest import Run

SESSION: dict[str, Any] = {
    "session_id": "4fb0d9f2-0a54-5b21-8e2d-a0f7c26c4e72",
    "title": "Flaky CI: a [red]test[/red]\x1b[2J",
    "project": "/srv/shelfmark/web",
    "started_at": "2026-03-04T09:05:37+00:00",
    "last_at": "2026-03-04T09:12:00+00:00",
    "messages": 19,
    "prompts": 2,
    "on_disk": False,
    "archived": True,
    "resume_command": "cd /srv/shelfmark/web && claude --resume 4fb0d9f2",
    "opening": "CI is flaky again",
    "highlights": ["pinned the clock"],
}

STATUS: dict[str, Any] = {
    "engine": {"state": "running", "pid": 12, "version": "0.1.0", "uptime_s": 61.0},
    "ingest": {
        "state": "indexing",
        "files_pending": 3,
        "bytes_pending": 2_000_000,
        "rate": 1_000_000.0,
        "eta_s": 2.0,
        "last_at": "2026-03-04T09:12:00+00:00",
    },
    "embedding": {"state": "embedding", "backlog": 120, "rate": 60.0, "eta_s": 125.0, "reason": "on battery"},
    "clients": 2,
    "paths": {"database": "/srv/b/index.db", "log": "/srv/b/log"},
    "database_bytes": 540_000,
    "archive_bytes": 0,
    "sessions": 8,
    "messages": 1234,
    "warnings": [{"id": "polling", "text": "Changes are polled.", "hint": "Raise the limit."}],
    "job": {"id": "reindex-1", "kind": "reindex", "done": 1, "total": 4, "state": "running"},
    "redacted": {"aws": 2, "jwt": 1},
}

COVERAGE: dict[str, Any] = {
    "files": {"seen": 9, "indexed": 8, "gone": 1, "unreadable": 0},
    "sessions": 8,
    "messages": 134,
    "prompts": 1,
    "answers": 75,
    "tool_calls": 36,
    "chunks": 200,
    "embedded": 124,
    "vectors": 130,
    "percent": 62.0,
    "archived_bytes": 1_500_000,
    "lines": {"damaged": 2, "salvaged": 1, "unknown_types": {"new-thing": 3}},
    "problems": [{"file": "a.jsonl", "what": "cut off", "line": 7}],
    "by": [
        {"project": "/srv/api", "chunks": 100, "embedded": 50, "messages": 60, "sessions": 4, "percent": 50.0},
    ],
    "next_offset": 50,
}


def sessions(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"sessions": list(rows), "total": len(rows), **more}


def message(text: str, **more: Any) -> dict[str, Any]:
    return {
        "message_uuid": "u",
        "session_id": SESSION["session_id"],
        "timestamp": "2026-03-04T09:05:37+00:00",
        "role": "user",
        "is_sidechain": False,
        "source": "transcript",
        "blocks": [{"kind": "text", "text": text}],
        **more,
    }


def page(*messages: dict[str, Any], index: int = 0, **more: Any) -> dict[str, Any]:
    return {"messages": list(messages), "session": SESSION, "position": {"index": index, "of": 3}, **more}


# sessions and period


def test_sessions_are_listed_with_their_short_ids(backscroll: Callable[..., Run]) -> None:
    run = backscroll("sessions", "-p", "web", "--when", "7d", list_sessions=sessions(SESSION))
    assert run.asked == [("list_sessions", {"project": "web", "when": "7d"})]
    assert "4fb0d9f2" in run.out
    assert "Flaky CI: a [red]test[/red]\u241b[2J  archive only" in run.out
    assert run.err == "1 of 1 session\n"


def test_no_session_is_exit_code_1(backscroll: Callable[..., Run]) -> None:
    run = backscroll("sessions", list_sessions=sessions(projects=["/srv/a"], note="Nothing there."))
    assert run.code == 1
    assert run.err == "No session\nProjects that do match: /srv/a\nNothing there.\n"


def test_a_narrow_terminal_gets_two_lines_a_session(tmp_path: Path) -> None:
    output = Output(home=tmp_path)
    output.console.width = 60
    assert len(list(session_table([SESSION], output))) == 2
    output.console.width = 120
    assert len(list(session_table([SESSION], output))) == 1


def test_a_period_without_a_time_is_today(backscroll: Callable[..., Run]) -> None:
    run = backscroll("period", get_period=sessions(SESSION, next_offset=1))
    assert run.asked == [("get_period", {"when": "today"})]
    assert "» CI is flaky again" in run.out
    assert "● pinned the clock" in run.out
    assert run.err.endswith("More: --offset 1\n")


def test_a_period_may_be_said_in_words_or_dates(backscroll: Callable[..., Run]) -> None:
    assert backscroll("period", "last", "week", get_period=sessions(SESSION)).asked[0][1] == {"when": "last week"}
    run = backscroll("period", "--from", "2026-03-01", get_period=sessions(SESSION))
    assert run.asked[0][1] == {"date_from": "2026-03-01"}
    run = backscroll("period", "2026-03-01", get_period=sessions(SESSION))
    assert run.asked[0][1] == {"date_from": "2026-03-01", "date_to": "2026-03-01"}


def test_an_empty_period_is_exit_code_1(backscroll: Callable[..., Run]) -> None:
    assert backscroll("period", "--json", get_period=sessions()).code == 1


# show


def test_a_page_of_a_session_says_how_to_go_on(backscroll: Callable[..., Run]) -> None:
    reply = page(message("hello"), message("world"), next_offset=2, note="One message was cut.")
    run = backscroll("show", "4fb0", get_session=reply)
    assert run.asked == [("get_session", {"session_id": "4fb0", "limit": 50, "max_tokens": 20_000})]
    assert "  hello\n" in run.out
    assert "claude --resume 4fb0d9f2" in run.err
    assert run.err.endswith("One message was cut.\n2 of 3 messages. More: --offset 2, or --all\n")


def test_all_pages_follow_where_each_ended(backscroll: Callable[..., Run]) -> None:
    pages = [page(message("one"), next_offset=1), page(message("two"), index=1)]
    run = backscroll("show", "4fb0", "--all", "--role", "user", "--role", "tool", "--sidechains", get_session=pages)
    assert [arguments.get("offset") for _, arguments in run.asked] == [None, 1]
    assert run.asked[0][1]["roles"] == ["user", "tool"]
    assert run.asked[0][1]["include_sidechains"] is True
    assert run.out.index("one") < run.out.index("two")
    assert run.out.count("Flaky CI") == 1


def test_a_hit_is_shown_with_its_neighbours(backscroll: Callable[..., Run]) -> None:
    run = backscroll(
        "show", "--hit", "abc", "--before", "1", "--after", "0", get_context=page(message("x", in_hit=True))
    )
    assert run.asked == [("get_context", {"ids": ["abc"], "before": 1, "after": 0})]
    assert "◀" in run.out


def test_show_without_a_session_is_wrong_use(backscroll: Callable[..., Run]) -> None:
    run = backscroll("show")
    assert run.code == 2
    assert "backscroll sessions" in run.err


def test_an_unknown_session_is_nothing_found_and_several_are_wrong_use(backscroll: Callable[..., Run]) -> None:
    assert backscroll("show", "x", get_session=NotFound("No such session")).code == 1
    run = backscroll("show", "4", get_session=Ambiguous("Several", candidates=("4a", "4b")))
    assert run.code == 2
    assert "Candidates: 4a, 4b" in run.err


@pytest.mark.parametrize(
    ("block", "short", "full"),
    [
        ({"kind": "thinking", "text": " why"}, "(thinking) why", "(thinking) why"),
        (
            {"kind": "tool_use", "tool": "Bash", "input": {"command": "ls", "description": "List"}},
            "▸ Bash ls",
            '▸ Bash {\n      "command": "ls",',
        ),
        ({"kind": "tool_use", "tool": "Bash", "input": {"command": "x" * 200}}, "x" * 160 + " …", "x" * 200),
        ({"kind": "tool_use", "tool": "TodoWrite", "input": {"todos": []}}, '▸ TodoWrite {"todos": []}', '"todos"'),
        ({"kind": "tool_result", "text": "\n".join("abcdefghijkl")}, "… 4 more lines (--full)", "\n      l\n"),
        ({"kind": "tool_result", "text": "x" * 1_200}, "x … 200 more characters (--full)", "x" * 1_200),
        ({"kind": "text", "text": "\n\n Well.\n"}, "\n  Well.\n", "\n  Well.\n"),
        ({"kind": "image"}, "[image]", "[image]"),
        (
            {"kind": "text", "text": "x", "truncated": "Cut; use get_context."},
            "Cut; use `backscroll",
            "Cut; use `backscroll",
        ),
    ],
)
def test_blocks_are_short_unless_asked(
    backscroll: Callable[..., Run], block: dict[str, Any], short: str, full: str
) -> None:
    reply = page(message("", blocks=[block], is_sidechain=True, removed=True))
    out = backscroll("show", "4fb0", get_session=reply).out
    assert short in out
    assert "subagent" in out
    assert "removed from its transcript" in out
    assert full in backscroll("show", "4fb0", "--full", get_session=reply).out


def said(role: str, *blocks: dict[str, Any], at: str = "09:05", **more: Any) -> dict[str, Any]:
    return message("", role=role, blocks=list(blocks), timestamp=f"2026-03-04T{at}:00+00:00", **more)


def text(words: str) -> dict[str, Any]:
    return {"kind": "text", "text": words}


CALL = {"kind": "tool_use", "tool": "Bash", "input": {"command": "ls"}}
RESULT = {"kind": "tool_result", "text": "a.txt"}


def test_who_speaks_is_said_where_it_changes_and_results_stand_below_their_calls(
    backscroll: Callable[..., Run],
) -> None:
    talk = (
        said("user", text("List them.")),
        said("assistant", text("I look.")),
        said("assistant", CALL),
        said("tool", RESULT, at="09:06"),
        said("assistant", text("One file.")),
        said("assistant", text("Done."), at="09:07"),
    )
    assert backscroll("show", "4fb0", get_session=page(*talk)).out.splitlines()[1:] == [
        "user  2026-03-04 09:05",
        "  List them.",
        "",
        "assistant  2026-03-04 09:05",
        "  I look.",
        "  ▸ Bash ls",
        "    ⎿ a.txt",
        "",
        "  One file.",
        "",
        "assistant  2026-03-04 09:07",
        "  Done.",
        "",
    ]


def test_results_without_their_calls_say_when(backscroll: Callable[..., Run]) -> None:
    talk = (said("tool", RESULT), said("tool", RESULT, at="09:06"), said("tool", RESULT, at="09:07", in_hit=True))
    out = backscroll("show", "4fb0", "--role", "tool", get_session=page(*talk)).out
    assert [line for line in out.splitlines() if line.startswith("tool")] == [
        "tool  2026-03-04 09:05",
        "tool  2026-03-04 09:06",
        "tool  2026-03-04 09:07  ◀",
    ]


def test_messages_that_say_nothing_are_skipped(backscroll: Callable[..., Run]) -> None:
    talk = (said("assistant", text("\n\n")), said("assistant", {"kind": "thinking", "text": ""}), said("user"))
    out = backscroll("show", "4fb0", get_session=page(*talk)).out
    assert out.splitlines()[1:] == [""]
    assert "(thinking) not kept by Claude Code" in backscroll("show", "4fb0", "--full", get_session=page(*talk)).out
    assert "◀" in backscroll("show", "4fb0", get_session=page(said("user", in_hit=True))).out


def test_a_limit_of_nothing_is_left_to_the_engine_to_refuse(backscroll: Callable[..., Run]) -> None:
    assert backscroll("show", "4fb0", "-n", "0", get_session=page()).asked[0][1]["limit"] == 0


# status, coverage, reindex, export


def test_a_timed_pause_says_until_when(backscroll: Callable[..., Run]) -> None:
    ingest = {"state": "paused", "paused_until": "2026-03-04T10:12:00+00:00", "files_pending": 0, "bytes_pending": 0}
    assert "paused until 2026-03-04 10:12\n" in backscroll("status", status={**STATUS, "ingest": ingest}).out


def test_status_shows_rates_and_times_in_words(backscroll: Callable[..., Run]) -> None:
    run = backscroll("status", status=STATUS)
    lines = run.out.splitlines()
    assert "Engine      running  pid 12, up 1 min 1 s" in lines
    assert "Indexing    indexing, 3 files (2.0 MB) to go, 1.0 MB/s, 2 s left, last 2026-03-04 09:12" in lines
    assert "By meaning  embedding, 120 chunks to go, 60/s, 2 min 5 s left (on battery)" in lines
    assert "Redacted    3 secrets before they entered the index" in lines
    assert "Job         reindex: running, 1 of 4" in lines
    assert run.err == "Changes are polled.\n  Raise the limit.\n"


def test_status_with_json_is_the_reply(backscroll: Callable[..., Run]) -> None:
    run = backscroll("status", "--json", status=STATUS)
    assert json.loads(run.out) == STATUS
    assert run.err == ""


def test_coverage_names_what_is_missing(backscroll: Callable[..., Run]) -> None:
    run = backscroll("coverage", "--by", "project", coverage=COVERAGE)
    assert run.asked == [("coverage", {"by": "project"})]
    lines = run.out.splitlines()
    assert "Files          8 of 9 indexed, 1 deleted by Claude Code" in lines
    assert "Messages       134 (1 prompt, 75 answers, 36 tool calls)" in lines
    assert "By meaning     ███████░░░░░ 62 % (124 of 200)" in lines
    assert "Damaged lines  2, 1 of them read in part" in lines
    assert "Unknown lines  new-thing (3)" in lines
    assert "a.jsonl, line 7: cut off" in lines
    assert "██████░░░░░░ 50 %" in run.out
    assert run.err == "More: --offset 50\n"


def test_coverage_by_day_counts_no_sessions(backscroll: Callable[..., Run]) -> None:
    row = {"day": "2026-03-04", "chunks": 100, "embedded": 50, "messages": 60, "percent": 50.0}
    out = backscroll("coverage", "--by", "day", coverage={**COVERAGE, "by": [row]}).out
    assert "Day         Messages  Chunks  By meaning\n2026-03-04        60     100  ██████░░░░░░ 50 %\n" in out


def test_a_bar_is_full_only_at_the_whole() -> None:
    assert bar(0) == "░" * 12
    assert bar(99.99) == "█" * 11 + "░"
    assert bar(100) == "█" * 12


def test_reindex_writes_and_waits_where_nobody_else_would(backscroll: Callable[..., Run]) -> None:
    run = backscroll("reindex", "--full", "-p", "api", reindex={"job": "reindex-1", "queued_files": 2})
    assert run.asked == [("reindex", {"full": True, "project": "api"})]
    assert run.access.wrote == [True]
    assert run.access.door.finished == 1
    assert run.out == "2 files queued (job reindex-1).\n"


def test_export_writes_the_text_as_it_is(backscroll: Callable[..., Run]) -> None:
    reply = {"session_id": "4fb0", "format": "markdown", "text": "# Flaky [CI]\n"}
    run = backscroll("export", "4fb0", export_session=reply)
    assert run.asked == [("export_session", {"session_id": "4fb0", "format": "markdown"})]
    assert run.out == "# Flaky [CI]\n"
    assert run.err == ""


def test_export_into_a_file(backscroll: Callable[..., Run], tmp_path: Path) -> None:
    reply = {"session_id": "4fb0", "format": "jsonl", "text": '{"a": "é"}\n'}
    file = tmp_path / "session.jsonl"
    run = backscroll("export", "4fb0", "-f", "jsonl", "-o", str(file), "--json", export_session=reply)
    assert file.read_text(encoding="utf-8") == '{"a": "é"}\n'
    assert json.loads(run.out) == {"session_id": "4fb0", "format": "jsonl"}


def test_an_export_that_misses_lines_says_so_and_ends_with_4(backscroll: Callable[..., Run]) -> None:
    note = "Incomplete: of 2 lines no copy is left."
    reply = {"session_id": "4fb0", "format": "jsonl", "text": "{}\n", "missing": 2, "note": note}
    run = backscroll("export", "4fb0", "-f", "jsonl", export_session=reply)
    assert (run.code, run.out) == (4, "{}\n")
    assert "of 2 lines no copy is left" in run.err


def test_export_into_a_place_that_is_not_there_is_a_sentence(backscroll: Callable[..., Run], tmp_path: Path) -> None:
    reply = {"session_id": "4fb0", "format": "jsonl", "text": ""}
    run = backscroll("export", "4fb0", "-o", str(tmp_path / "no" / "file"), export_session=reply)
    assert run.code == 3
    assert "cannot be written" in run.err
