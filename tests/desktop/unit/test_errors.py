from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QGuiApplication

from desktop.errors import Trouble, details_of, install_hooks, trouble_of
from desktop.trouble import TroubleBox
from engine.core.errors import ConfigurationRefused

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


def test_an_error_for_people_has_no_details_and_a_bug_has() -> None:
    known = trouble_of(ConfigurationRefused("No", "It cannot.", "Repair it."))
    assert (known.title, known.text, known.details) == ("No", "It cannot. Repair it.", "")
    bug = trouble_of(ZeroDivisionError("x"))
    assert "ZeroDivisionError" in bug.details
    assert "Qt" in details_of(ZeroDivisionError())


@pytest.mark.expect_log("Uncaught")
def test_what_nobody_caught_is_shown_and_logged() -> None:
    import sys

    seen: list[Trouble] = []
    undo = install_hooks(seen.append)
    try:
        error = ZeroDivisionError("x")
        sys.excepthook(ZeroDivisionError, error, None)
    finally:
        undo()
    assert ["ZeroDivisionError" in each.details for each in seen] == [True]


def test_a_bug_is_shown_with_its_details_to_copy(qtbot: QtBot) -> None:
    boxes = TroubleBox()
    box = boxes.show(Trouble("Something", "It broke.", "", "the details"))
    copy = next(button for button in box.buttons() if button.text() == "Copy details")
    copy.click()
    assert QGuiApplication.clipboard().text() == "the details"
    boxes.close()
    assert qtbot is not None
