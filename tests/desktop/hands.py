# pyright: reportUnknownMemberType=false
# pytest-qt leaves the keyword arguments of its keys untyped.
"""What a person does with the search window: presses keys, types words, looks which row is selected, pastes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from desktop.search.rows import HitRow, SessionItem

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.search.window import SearchWindow

CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)
Key = Qt.Key
TRANSCRIPT = Path("/home/you/.claude/projects/p/1.jsonl")
"""Of the first session of `FakeHistory.small`."""


def transcript(session: str) -> Path | None:
    """Find the transcript of the first session, and of no other."""
    return TRANSCRIPT if session.startswith("00000001") else None


def press(
    window: SearchWindow, qtbot: QtBot, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    """Press a key where the keyboard is."""
    target = window.session.view if window.in_session else window.bar.field
    if window.in_session and window.session.find_field.hasFocus():
        target = window.session.find_field
    qtbot.keyClick(target, key, modifiers)


def search(window: SearchWindow, qtbot: QtBot, text: str = "auth", count: int = 3) -> None:
    """Type words and wait for their rows."""
    window.bar.field.clear()
    qtbot.keyClicks(window.bar.field, text)
    window.controller.ask_now()
    qtbot.waitUntil(lambda: len([row for row in window.model.rows if isinstance(row, HitRow)]) == count)


def selected(window: SearchWindow) -> str:
    """Return the number of the session whose row is selected."""
    row = window.row
    assert isinstance(row, (HitRow, SessionItem))
    return row.session_id[:8].lstrip("0")


def clipboard() -> str:
    """Return what could be pasted."""
    return QGuiApplication.clipboard().text()
