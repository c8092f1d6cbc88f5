"""Code stands on a surface of its own, one for each fence and each opened tool call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.search.code_surface import CODE_EDGE, surfaces_of
from desktop.search.document import Look, document_of
from desktop.theme import LIGHT
from tests.desktop.fakes import message

if TYPE_CHECKING:
    from PySide6.QtGui import QTextDocument
    from PySide6.QtWidgets import QApplication

WIDTH = 500


@pytest.fixture
def look(qapp: QApplication) -> Look:
    return Look(LIGHT, qapp.font(), WIDTH)


def laid(text: str, look: Look, *, kind: str = "text", opened: tuple[int, ...] = ()) -> QTextDocument:
    document = document_of(message("u", "s", text, kind=kind), opened, look)
    document.setTextWidth(WIDTH)
    return document


def test_prose_has_no_surface(look: Look) -> None:
    assert surfaces_of(laid("Some **bold** and `code`.\n\n- one", look)) == ()


def test_each_fence_has_one_surface_over_all_of_its_lines(look: Look) -> None:
    document = laid("Before\n\n```py\nx = 1\n\ny = 2\n```\n\nBetween\n\n```\nz\n```\n", look)
    first, second = surfaces_of(document)

    assert first.bottom() < second.top()
    assert first.height() > 2 * second.height() - 2 * CODE_EDGE
    assert first.left() >= 0
    assert first.right() <= WIDTH
    assert second.bottom() <= document.size().height() + CODE_EDGE


def test_an_opened_result_stands_on_a_surface_and_its_text_is_what_it_was(look: Look) -> None:
    document = laid("  indented\nsecond line", look, kind="tool_result", opened=(0,))

    assert len(surfaces_of(document)) == 1
    assert document.toPlainText().endswith("\n  indented\nsecond line")


def test_text_is_set_in_from_its_surface(look: Look) -> None:
    document = laid("```\nx\n```", look)
    (surface,) = surfaces_of(document)

    assert document.begin().layout().lineAt(0).x() - surface.left() == CODE_EDGE
    assert surface.left() == 0
