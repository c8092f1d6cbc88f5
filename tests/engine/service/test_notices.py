"""What the tray says of an engine that only half works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import engine.service.engine
from engine.service.notices import degraded, given_up

STARTED = re.findall(r'self\._begin\("([\w-]+)"', Path(engine.service.engine.__file__).read_text(encoding="utf-8"))


def test_every_thread_of_the_engine_is_known() -> None:
    assert len(STARTED) >= 4


@pytest.mark.parametrize("worker", STARTED)
def test_a_thread_that_was_given_up_is_told_by_what_no_longer_works(worker: str) -> None:
    (notice,) = degraded(given_up(worker))

    assert "any more (" in notice.text
    assert worker in notice.text
    assert notice.hint
