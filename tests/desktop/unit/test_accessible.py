"""Every control of every window has a name and can be reached with the keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QCalendarWidget,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QTextBrowser,
    QWidget,
)

from desktop.windows import MAKERS
from tests.desktop.rooms import OFFSCREEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from desktop.services import Services
    from tests.desktop.rooms import MakesSearch

pytestmark = pytest.mark.qt_log_ignore(OFFSCREEN, extend=True)

CONTROLS = (
    QAbstractButton, QAbstractItemView, QAbstractSpinBox, QComboBox, QLineEdit, QPlainTextEdit, QProgressBar,
    QTextBrowser,
)  # fmt: skip
WITHOUT_KEYS = frozenset({"hits", "actionList"})
"""Lists whose keys the field beside them passes on."""


def controls(window: QWidget) -> Iterator[QWidget]:
    """Yield the controls of a window that are not parts of another one."""
    for each in window.findChildren(QWidget):
        parents: list[QWidget] = []
        parent = each.parentWidget()
        while parent is not None and parent is not window:
            parents.append(parent)
            parent = parent.parentWidget()
        is_part = any(isinstance(one, (QComboBox, QAbstractSpinBox, QCalendarWidget)) for one in parents)
        is_inner = any(isinstance(one, QAbstractItemView) for one in parents) or each.window() is not window
        is_inner = is_inner or (isinstance(each, QAbstractButton) and isinstance(each.parentWidget(), QLineEdit))
        if isinstance(each, CONTROLS) and not is_part and not is_inner:
            yield each


def name_of(control: QWidget, labels: list[QLabel]) -> str:
    """Return how a program for the blind would call it."""
    if control.accessibleName():
        return control.accessibleName()
    if isinstance(control, QAbstractButton):
        return control.text()
    return next((each.text() for each in labels if each.buddy() is control), "")


def check(window: QWidget) -> None:
    labels = window.findChildren(QLabel)
    nameless = [
        each for each in controls(window) if not name_of(each, labels) and not isinstance(each, QAbstractButton)
    ]
    # A button that says nothing yet gets its text and its name together, before it is shown.
    nameless += [
        each
        for each in controls(window)
        if isinstance(each, QAbstractButton) and not each.isHidden() and not name_of(each, labels)
    ]
    assert [f"{type(each).__name__} {each.objectName()}" for each in nameless] == []
    unreachable = [
        each
        for each in controls(window)
        if not each.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not isinstance(each, QProgressBar)
        and each.objectName() not in WITHOUT_KEYS
    ]
    assert [f"{type(each).__name__} {name_of(each, labels)}" for each in unreachable] == []


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_every_control_of_a_window_has_a_name_and_takes_the_keyboard(
    services: Services, qtbot: QtBot, name: str
) -> None:
    window = MAKERS[name](services)
    qtbot.addWidget(window)
    assert any(True for _ in controls(window))
    check(window)


def test_every_control_of_the_search_window_does(make_search: MakesSearch) -> None:
    check(make_search())
