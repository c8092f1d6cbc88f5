from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.desktop.hands import transcript

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from desktop.search.window import SearchWindow
    from tests.desktop.fakes import FakeHistory
    from tests.desktop.rooms import MakesSearch


@pytest.fixture
def window(make_search: MakesSearch, history: FakeHistory, qtbot: QtBot) -> SearchWindow:
    """Give a window that shows the recent sessions."""
    made = make_search(find_file=transcript)
    made.attach(history)
    made.present()
    qtbot.waitUntil(lambda: made.model.rowCount() == 5)
    return made
