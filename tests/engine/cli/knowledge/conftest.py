"""The command line over a real store of Knowledge, without an engine and without an index of the history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from engine.cli.access import InstalledAccess
from engine.cli.app import main
from tests.engine.knowledge.fixture_f import empty_store, fixture_f

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.core.paths import Paths
    from tests.engine.knowledge.fixture_f import Store


@dataclass
class Said:
    """What one run of the program left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def utc(paths: Paths) -> Paths:
    """Give an installation whose days are UTC's."""
    paths.settings_file.write_text('time_zone = "UTC"\n', encoding="utf-8")
    return paths


@pytest.fixture
def knowledge(utc: Paths, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run `backscroll knowledge …`."""

    def run(*argv: Any) -> Said:
        code = main(["knowledge", *argv], access=InstalledAccess(utc))
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return run


@pytest.fixture
def store(utc: Paths) -> Iterator[Store]:
    """Give the sixteen records of the contract."""
    store = fixture_f(empty_store(utc.data))
    yield store
    store.service.close()
