from __future__ import annotations

from engine.mcp.outline import TEXT_CAP
from engine.mcp.render import render
from tests.engine.mcp.fakes import hit, message, reading, search_reply, session_row


def test_a_search_is_a_line_for_each_hit_with_what_was_read_along() -> None:
    wire = search_reply(
        [{**hit(1), "messages": [message(2, "Rotate\nthem.")]}], 7, next_offset=1, note="Still indexing."
    )

    assert render("hybrid_search", wire, {}).text.splitlines() == [
        "Still indexing.",
        "1 of 7 hits (hybrid search, 87.0 % of the history embedded)",
        "[c000000001] 2026-04-30T10:11:12+02:00 assistant /home/ada/code/shop: We settled on rotating refresh tokens.",
        "    2026-04-30T10:11:12+02:00 assistant: Rotate them.",
        "More with offset=1.",
    ]


def test_messages_show_their_speaker_their_text_and_their_tools() -> None:
    row = message(1)
    row["blocks"].append({"kind": "tool_use", "tool": "Bash", "input": {"command": "ls"}})

    assert render("get_session", reading([row]), {}).text == (
        '2026-04-30T10:11:12+02:00 assistant: Rotate them on each use. (Bash {"command": "ls"})'
    )


def test_sessions_show_when_where_and_what() -> None:
    text = render("list_sessions", {"sessions": [session_row(3)], "total": 1}, {}).text

    assert (
        "2026-04-30T10:00:00+02:00 to 2026-04-30T11:00:00+02:00, /home/ada/code/shop, 214 messages: Auth rewrite"
        in text
    )


def test_everything_else_is_shown_as_it_is() -> None:
    assert render("reindex", {"job": "j1", "queued_files": 4}, {}).text == '{"job": "j1", "queued_files": 4}'


def test_the_text_stays_short() -> None:
    messages = [message(number, "word " * 200) for number in range(60)]

    assert len(render("get_session", reading(messages), {"max_tokens": 20_000}).text) <= TEXT_CAP
