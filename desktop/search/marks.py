"""What stands out in a transcript: its matches, and what was selected with the mouse."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QAbstractTextDocumentLayout, QTextCharFormat, QTextCursor, QTextDocument

from desktop.theme import colour


@dataclass(frozen=True, slots=True)
class Place:
    """A match: which message, and which of its matches."""

    message: int
    mark: int


@dataclass(frozen=True, slots=True)
class Selected:
    """A stretch of one message, from where the mouse was pressed to where it is."""

    message: int
    start: int
    end: int

    def text_in(self, document: QTextDocument) -> str:
        """Return what was selected, with the line ends of plain text."""
        cursor = QTextCursor(document)
        cursor.setPosition(min(self.start, self.end))
        cursor.setPosition(max(self.start, self.end), QTextCursor.MoveMode.KeepAnchor)
        return cursor.selectedText().replace("\u2029", "\n").replace("\u2028", "\n")


def painted(
    document: QTextDocument, start: int, end: int, back: str, front: str
) -> QAbstractTextDocumentLayout.Selection:
    """Return a stretch of a document in colours of its own, as the painter takes it.

    Args:
        document: The message's.
        start: First character.
        end: Behind the last one.
        back: Colour behind the text.
        front: Colour of the text.
    """
    made = QAbstractTextDocumentLayout.Selection()
    cursor = QTextCursor(document)
    last = document.characterCount() - 1
    cursor.setPosition(min(start, last))
    cursor.setPosition(min(end, last), QTextCursor.MoveMode.KeepAnchor)
    made.cursor = cursor
    form = QTextCharFormat()
    form.setBackground(colour(back))
    form.setForeground(colour(front))
    made.format = form
    return made
