"""The process that prepares texts during a backfill, started as the program starts it."""

from __future__ import annotations

import psutil
import pytest

from engine.core.text import index_columns
from engine.ingest.second_process import FROZEN_VERB, SecondProcess
from tests.helpers import programs

pytestmark = pytest.mark.integration


def test_the_programs_own_verb_prepares_texts_and_ends_with_its_input() -> None:
    process = SecondProcess(programs.command_line(FROZEN_VERB))
    try:
        assert process.ask(["an emptyHandlerName", "日本語"], redacts=True)
        assert process.answer() == [index_columns("an emptyHandlerName"), index_columns("日本語")]
        assert process.is_ready
    finally:
        process.close()
    assert not psutil.pid_exists(process.pid)
