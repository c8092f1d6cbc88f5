"""The bundle must pass what the source passes: these files take the integration tests over and run them with it.

Only where `BACKSCROLL_BUNDLE` names the folder of a bundle, as `python dev.py bundle` does; else nothing is collected.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import programs

HERE = Path(__file__).parent

collect_ignore_glob = [] if programs.bundle() else ["test_*.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies here, wherever it was written."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.frozen)
            item.add_marker(pytest.mark.timeout(300))
