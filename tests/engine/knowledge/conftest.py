"""Stores for the tests of Knowledge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.knowledge.fixture_f import Store, empty_store, fixture_f

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Store]:
    store = empty_store(tmp_path)
    yield store
    store.service.close()


@pytest.fixture
def f(empty: Store) -> Store:
    return fixture_f(empty)
