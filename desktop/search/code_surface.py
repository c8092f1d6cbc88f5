"""The surface behind code: paragraphs that are set in, and where the rounded rectangles behind them lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QTextBlock, QTextBlockFormat, QTextFormat

if TYPE_CHECKING:
    from PySide6.QtCore import QRectF
    from PySide6.QtGui import QTextDocument

CODE_PROPERTY: Final = QTextFormat.Property.UserProperty.value + 1
"""Set on the paragraphs that are code."""

CODE_EDGE: Final = 9
"""Pixels around code."""


def is_fenced(block: QTextBlock) -> bool:
    """Return whether Qt read a block as a line of a code fence."""
    form = block.blockFormat()
    return block.isValid() and (
        form.hasProperty(QTextFormat.Property.BlockCodeFence)
        or form.hasProperty(QTextFormat.Property.BlockCodeLanguage)
    )


def code_format(form: QTextBlockFormat, left: float, *, is_first: bool, is_last: bool) -> QTextBlockFormat:
    """Return the format of a line of code: set in, so that a surface behind all of them has an edge around."""
    form.setProperty(CODE_PROPERTY, True)
    form.setLeftMargin(left + CODE_EDGE)
    form.setRightMargin(CODE_EDGE)
    form.setTopMargin(CODE_EDGE + 3 if is_first else 0)
    form.setBottomMargin(CODE_EDGE + 3 if is_last else 0)
    return form


def surfaces_of(document: QTextDocument) -> tuple[QRectF, ...]:
    """Return where the surfaces behind code lie, in a document that has its width."""
    found: list[QRectF] = []
    was_code = False
    layout = document.documentLayout()
    block = document.begin()
    while block.isValid():
        is_code = block.blockFormat().hasProperty(CODE_PROPERTY)
        if is_code:
            # Qt's rectangle has the width of the lines and forgets how far they are set in.
            rect = layout.blockBoundingRect(block).translated(block.layout().lineAt(0).x(), 0)
            found.append(found.pop().united(rect) if was_code else rect)
        was_code = is_code
        block = block.next()
    edge = CODE_EDGE - 2
    return tuple(rect.adjusted(-CODE_EDGE, -edge, CODE_EDGE, edge) for rect in found)
