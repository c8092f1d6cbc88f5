from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import QObject


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal from Python 3.12 on")
def test_calls_that_return_nothing_leave_none_alone() -> None:
    """PySide6 6.12.0 fails this: after some ten thousand calls Python 3.11 ends with a fatal error."""
    thing = QObject()
    before = sys.getrefcount(None)
    for _ in range(1000):
        thing.setObjectName("x")
    assert abs(sys.getrefcount(None) - before) < 500
