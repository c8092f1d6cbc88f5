"""What every test gets: a home of its own, no network of the person's files, and a failure for each unexpected warning.

The folders are set before any test module imports the engine, in each worker process, so that nothing can read or write
the real home.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import hypothesis
import pytest

from engine.core.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

HOME = pytest.StashKey[Path]()

FOLDERS = {
    "HOME": "",
    "USERPROFILE": "",
    "BACKSCROLL_HOME": "backscroll",
    "CLAUDE_CONFIG_DIR": "claude",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_STATE_HOME": "state",
    "XDG_CACHE_HOME": "cache",
    "XDG_RUNTIME_DIR": "run",
    "APPDATA": "appdata",
    "LOCALAPPDATA": "localappdata",
}
"""Environment variables that lead to a person's files, each with its folder below the test run's home."""

CALLER = ("CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT")
"""What Claude Code tells its children. The tests may themselves run below it, and must not notice."""

# A slow machine is no failure, and a failing example is printed so that it can be kept.
hypothesis.settings.register_profile(
    "backscroll", deadline=None, print_blob=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("backscroll")


def pytest_configure(config: pytest.Config) -> None:
    """Point this process and its children at an empty home."""
    home = short_folder()
    config.stash[HOME] = home
    for variable, folder in FOLDERS.items():
        place = home / folder
        place.mkdir(mode=0o700, exist_ok=True)
        os.environ[variable] = str(place)
    for variable in CALLER:
        os.environ.pop(variable, None)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the home again."""
    shutil.rmtree(config.stash[HOME], ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Escape lone surrogates in what a worker process reports: xdist cannot send them, and some tests make them."""
    return escaped((yield))


def escaped(value: Any) -> Any:
    """Return plain data with every text made fit for UTF-8."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode("utf-8")
        case dict():
            return {escaped(key): escaped(each) for key, each in cast("dict[Any, Any]", value).items()}
        case list():
            return [escaped(each) for each in cast("list[Any]", value)]
        case tuple():
            return tuple(escaped(each) for each in cast("tuple[Any, ...]", value))
        case _:
            return value


def short_folder() -> Path:
    """Make a folder whose path leaves room for a Unix socket's 100 bytes (macOS' own temporary folder does not)."""
    return Path(tempfile.mkdtemp(prefix="bs-", dir="/tmp" if os.name == "posix" else None))  # noqa: S108 - mkdtemp


@pytest.fixture(scope="session", autouse=True)
def signals_end_what_a_test_starts() -> Iterator[None]:
    """Undo what the caller ignores (`nohup`, a background job of a shell): what a test starts would not hear Ctrl+C."""
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ignored = [number for number in numbers if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def short_tmp() -> Iterator[Path]:
    """Give a folder with a short path, for Unix sockets."""
    folder = short_folder()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def paths(tmp_path: Path) -> Iterator[Paths]:
    """Give the folders of one installation, made and empty."""
    places = Paths.below(tmp_path / "home")
    places.ensure()
    yield places
    if places.socket_file.parent != places.run:  # the path was too long for a socket, which then lies outside
        shutil.rmtree(places.socket_file.parent, ignore_errors=True)


@pytest.fixture(autouse=True)
def no_unexpected_log(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test that logs a WARNING or worse which no `expect_log` names, and one whose named record never comes."""
    yield
    test = cast("pytest.Item", request.node)  # pyright: ignore[reportUnknownMemberType] - pytest leaves it untyped
    patterns: list[str] = [pattern for mark in test.iter_markers("expect_log") for pattern in mark.args]
    records = [record for phase in ("setup", "call") for record in caplog.get_records(phase)]
    serious = [record for record in records if record.levelno >= logging.WARNING]
    unexpected = [
        f"{record.name} {record.levelname}: {record.getMessage()}"
        for record in serious
        if not any(re.search(pattern, record.getMessage()) for pattern in patterns)
    ]
    missing = [
        pattern for pattern in patterns if not any(re.search(pattern, record.getMessage()) for record in serious)
    ]
    if unexpected:
        pytest.fail("Unexpected log records:\n" + "\n".join(unexpected), pytrace=False)
    if missing:
        pytest.fail("Log records that did not come: " + ", ".join(missing), pytrace=False)
