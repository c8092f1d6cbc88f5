from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from engine.core.paths import Paths

pytest_plugins = ["pytester"]

WARNS = """
import logging
import pytest

def test_quiet():
    logging.getLogger("room").info("all is well")

def test_unexpected():
    logging.getLogger("room").warning("disk is full")

@pytest.mark.expect_log("disk is .*")
def test_expected():
    logging.getLogger("room").error("disk is full")

@pytest.mark.expect_log("disk is full")
def test_missing():
    pass
"""


def prepare(pytester: pytest.Pytester, tests: str) -> None:
    """Lay a suite of its own under the conftest that every test of the project has."""
    folder = Path(__file__).parents[1]
    pytester.makeconftest((folder / "conftest.py").read_text(encoding="utf-8"))
    pytester.makeini(f"[pytest]\npythonpath = {folder.parent}\nmarkers = expect_log: as in pyproject.toml\n")
    (pytester.path / "test_room.py").write_text(tests, encoding="utf-8")


def test_unexpected_and_missing_log_records_fail_a_test(pytester: pytest.Pytester) -> None:
    prepare(pytester, WARNS)
    result = pytester.runpytest_subprocess("-p", "no:randomly")
    result.assert_outcomes(passed=4, errors=2)
    result.stdout.fnmatch_lines(
        ["*ERROR at teardown of test_unexpected*", "room WARNING: disk is full", "*ERROR at teardown of test_missing*"]
    )


SURROGATES = """
import logging

def test_passes():
    logging.getLogger("room").info("caf\\udce9")
    print("caf\\udce9")

def test_fails():
    assert "caf\\udce9" == "coffee"
"""


def test_lone_surrogates_travel_between_processes_escaped(pytester: pytest.Pytester) -> None:
    prepare(pytester, SURROGATES)
    result = pytester.runpytest_subprocess("-p", "no:randomly", "-n", "1", "--log-level=INFO")
    result.assert_outcomes(passed=1, failed=1)


STARTS = """
import signal
import subprocess
import sys

def test_starts():
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        sends = f"import signal; signal.raise_signal(signal.{name}); print('not heard')"
        done = subprocess.run([sys.executable, "-c", sends], capture_output=True)
        assert (done.returncode, done.stdout) == (-getattr(signal, name), b"")
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_what_a_test_starts_hears_signals_that_the_caller_of_the_tests_ignores(pytester: pytest.Pytester) -> None:
    prepare(pytester, STARTS)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGHUP)}
    try:
        result = pytester.runpytest_subprocess("-p", "no:randomly")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    result.assert_outcomes(passed=1)


def test_nothing_leads_to_the_real_home() -> None:
    home = Path.home()
    assert home.name.startswith("bs-")
    places = Paths.resolve()
    for place in (places.data, places.config, places.state, places.logs, places.run):
        assert place.is_relative_to(home)
    assert Path(os.environ["CLAUDE_CONFIG_DIR"]).is_relative_to(home)


def test_short_folder_has_room_for_a_socket(short_tmp: Path) -> None:
    assert len(os.fsencode(short_tmp)) < 40


def test_paths_are_made_and_their_own(paths: Paths, tmp_path: Path) -> None:
    assert paths.data.is_dir()
    assert paths.data.is_relative_to(tmp_path)
