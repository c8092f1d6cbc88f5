from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.format import count
from desktop.search.document import (
    MAX_SHOWN,
    Look,
    SafeDocument,
    document_of,
    fold_line,
    input_text,
    plain_text,
    tool_summary,
)
from desktop.theme import LIGHT
from engine.core.models.sessions import Block, MessageView
from tests.desktop.fakes import message

if TYPE_CHECKING:
    from PySide6.QtGui import QTextDocument
    from PySide6.QtWidgets import QApplication


@pytest.fixture
def look(qapp: QApplication) -> Look:
    return Look(LIGHT, qapp.font(), 500)


def shown(text: str, look: Look, *, role: str = "assistant") -> QTextDocument:
    return document_of(message("u", "s", text, role=role), (), look)


def test_markdown_is_rendered(look: Look) -> None:
    document = shown("# Title\n\nSome **bold** and `code`.\n\n- one\n- two\n\n```py\nx = 1\n```", look)
    text = document.toPlainText()
    assert "**" not in text
    assert "```" not in text
    assert document.find("bold").charFormat().fontWeight() > 400
    assert document.find("code").charFormat().fontFamilies() != document.find("Some").charFormat().fontFamilies()


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script> and <b>bold</b>",
        "<img src='http://example.org/x.png'> <iframe src='file:///etc/passwd'>",
        "a <a href='javascript:alert(1)'>link</a>",
        "<style>* { color: red }</style><!-- comment --> x",
    ],
)
def test_html_is_shown_as_the_characters_it_is(look: Look, text: str) -> None:
    for role in ("assistant", "user"):
        plain = shown(text, look, role=role).toPlainText()
        assert "<" in plain
        assert "\ufffc" not in plain, "nothing was embedded"


def test_pictures_are_neither_loaded_nor_embedded(look: Look) -> None:
    document = shown("see ![a cat](http://example.org/cat.png) and ![x](file:///etc/passwd)", look)
    assert "\ufffc" not in document.toPlainText()
    assert "a cat" in document.toPlainText()
    loaded = SafeDocument().loadResource(2, "file:///etc/passwd")
    assert bytes(loaded.data()) == b""


def test_control_characters_and_colours_are_taken_out(look: Look) -> None:
    assert shown("\x1b[31mred\x1b[0m\x00\x07 \u202etxt", look).toPlainText() == "red txt"


@pytest.mark.parametrize("text", ["שלום **עולם**", "夜間同期の調査", "👩‍👩‍👧 emoji", "مرحبا"])
def test_every_script_is_shown(look: Look, text: str) -> None:
    assert shown(text, look).toPlainText().replace("*", "") == text.replace("*", "")


def test_an_endless_line_is_cut_with_a_note(look: Look) -> None:
    document = shown("x" * 1_000_000, look)
    assert document.characterCount() < MAX_SHOWN + 200
    assert count(980_000) in document.toPlainText()


@pytest.mark.parametrize(
    "text", ["[" * 5000, "*" * 5000, "> " * 2000, "`" * 5001, "|" * 3000 + "\n" + "-|" * 1500, "- " * 3000]
)
def test_markdown_made_to_hurt_is_survived(look: Look, text: str) -> None:
    document = shown(text, look)
    document.setTextWidth(400)
    assert document.size().height() > 0


def test_what_a_person_typed_keeps_its_lines(look: Look) -> None:
    assert shown("first\nsecond\n# no heading", look, role="user").toPlainText() == "first\nsecond\n# no heading"


def test_code_that_a_person_pasted_is_code(look: Look) -> None:
    assert "```" not in shown("look:\n```\nx = 1\n```", look, role="user").toPlainText()


def test_a_tool_call_is_one_line_until_it_is_opened(look: Look) -> None:
    command = {"command": "git status\ngit diff", "description": "Look"}
    call = message("u", "s", "", kind="tool_use", tool="Bash", input=command)
    folded = document_of(call, (), look)
    assert folded.toPlainText().startswith("▸ Bash")
    assert "\n" not in folded.toPlainText()
    opened = document_of(call, (0,), look)
    assert opened.toPlainText().splitlines()[0] == "▾ Bash"
    assert "git diff" in opened.toPlainText()
    assert opened.find("Bash").charFormat().anchorHref() == "fold:0"


def test_a_result_says_how_long_it_is_and_whether_it_failed() -> None:
    assert fold_line(Block(kind="tool_result", text="a\nb")) == ("Result, 2 lines", "a b")
    assert fold_line(Block(kind="tool_result", text="boom", is_error=True)) == ("Failed", "boom")
    assert fold_line(Block(kind="thinking", text="hmm")) == ("Thinking", "hmm")


def test_what_a_tool_was_told_is_readable() -> None:
    assert tool_summary({"file_path": "/a/b.py", "old_string": "x"}) == "/a/b.py"
    assert tool_summary({"odd": [1, 2]}) == '{"odd": [1, 2]}'
    assert tool_summary("text") == ""
    assert input_text({"command": "ls", "timeout": 5}) == 'ls\n{\n  "timeout": 5\n}'
    assert input_text({"a": "one\ntwo", "b": 3}) == "a:\none\ntwo\nb: 3"
    assert input_text(None) == ""


def test_copying_gives_the_words_and_not_the_markup_of_tools() -> None:
    both = MessageView(
        message_uuid="u", session_id="s", timestamp=None, role="assistant", is_sidechain=False, source="index",
        blocks=(Block(kind="text", text="Done: **yes**"), Block(kind="tool_use", tool="Bash", input={"command": "ls"})),
    )  # fmt: skip
    assert plain_text(both) == "Done: **yes**\n\nls"
