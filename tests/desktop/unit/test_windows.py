# pyright: reportPrivateUsage=false
# A test looks inside.
from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.status.window import StatusWindow
from desktop.windows import MAKERS, Windows

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.desktop.rooms import World


def test_a_window_is_made_once_and_told_of_the_engine(world: World, qtbot: QtBot) -> None:
    windows = Windows(world.services)
    first = windows.open("status")
    assert windows.open("status") is first
    assert isinstance(first, StatusWindow)
    assert first._history is not None
    windows.attach(None)
    assert first._history is None
    windows.close()
    assert qtbot is not None


def test_a_window_that_does_not_exist_yet_says_so(world: World, qtbot: QtBot) -> None:
    windows = Windows(world.services, makers={})
    box = windows.open("anything")
    assert box.isVisible()
    windows.close()
    assert {"status", "settings", "connect", "first_run", "about"} <= {*MAKERS}
    assert qtbot is not None
