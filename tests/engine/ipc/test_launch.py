from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from engine.core.clock import FixedClock
from engine.ipc import launch
from engine.ipc.launch import Launcher, lock_file, spawn_detached

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

WAIT_S = 60.0


def python(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", code]


WAITING = python("import signal; signal.pause()")

Make = Callable[..., Launcher]


def attempt_until_over(launcher: Launcher) -> list[str]:
    """Go on as the relay does, and return the failures that were told."""
    told: list[str] = []
    launcher.attempt()
    while (process := launcher.starting) is not None:
        process.wait(WAIT_S)
        failure = launcher.attempt()
        if failure is not None:
            told.append(failure)
    return told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "run"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(1000.0)


@pytest.fixture
def make(folder: Path, clock: FixedClock) -> Iterator[Make]:
    """Make launchers for one installation; what they have started is ended with the test."""
    made: list[Launcher] = []

    def launcher(*commands: Sequence[str]) -> Launcher:
        made.append(Launcher(folder, lambda: commands, os.environ, monotonic=clock.monotonic))
        return made[-1]

    yield launcher
    for each in made:
        each.settled()
        for child in each.children:
            child.kill()
            child.wait(WAIT_S)


def test_the_command_is_run_in_the_run_folder_apart_from_our_terminal(make: Make, folder: Path, tmp_path: Path) -> None:
    told = tmp_path / "told"
    code = f"import os; open({str(told)!r}, 'w').write(f'{{os.getcwd()}} {{os.getsid(0) == os.getpid()}}')"
    assert attempt_until_over(make(python(code))) == []
    assert told.read_text(encoding="utf-8") == f"{folder} True"


def test_the_second_command_is_tried_when_the_first_fails(make: Make, tmp_path: Path) -> None:
    told = tmp_path / "told"
    launcher = make(python("raise SystemExit(4)"), python(f"open({str(told)!r}, 'w').close()"))
    assert attempt_until_over(launcher) == []
    assert told.exists()


def test_the_failure_of_the_last_command_is_told_once_with_its_exit_code(make: Make) -> None:
    launcher = make(python("raise SystemExit(4)"), python("raise SystemExit(5)"))
    assert attempt_until_over(launcher) == ["It ended at once with exit code 5."]


def test_a_program_that_does_not_exist_is_named(make: Make) -> None:
    assert make(["/no/such/program"]).attempt() == "/no/such/program could not be started: No such file or directory."


def test_after_a_failure_there_is_a_rest_before_the_next_start(make: Make, clock: FixedClock) -> None:
    launcher = make(python("raise SystemExit(4)"))
    assert len(attempt_until_over(launcher)) == 1
    assert attempt_until_over(launcher) == []
    clock.advance(launch.REST_S)
    assert len(attempt_until_over(launcher)) == 1


def test_only_one_of_two_starts_an_engine(make: Make) -> None:
    first, second = make(WAITING), make(WAITING)
    assert first.attempt() is None
    assert first.starting is not None
    assert second.attempt() is None
    assert second.starting is None
    first.settled()
    assert second.attempt() is None
    assert second.starting is not None


def test_a_process_that_does_not_come_up_is_left_to_itself_after_a_while(
    make: Make, folder: Path, clock: FixedClock
) -> None:
    launcher = make(WAITING)
    assert launcher.attempt() is None
    clock.advance(launch.PATIENCE_S + 1)
    assert launcher.attempt() is None
    assert launcher.starting is None
    os.close(lock_file(folder / "starting.lock"))


def test_an_engine_that_was_quit_is_started_again_without_a_rest(make: Make) -> None:
    launcher = make(WAITING)
    for _ in range(2):
        assert launcher.attempt() is None
        process = launcher.starting
        assert process is not None
        launcher.settled()
        process.kill()
        process.wait(WAIT_S)


def test_a_lock_is_had_by_one_and_free_after_it(tmp_path: Path) -> None:
    lock = lock_file(tmp_path / "lock")
    with pytest.raises(OSError, match=r"unavailable|denied"):
        lock_file(tmp_path / "lock")
    os.close(lock)
    os.close(lock_file(tmp_path / "lock"))


def test_a_folder_that_cannot_be_made_starts_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    launcher = Launcher(tmp_path / "file" / "run", lambda: [python("pass")], os.environ)
    assert launcher.attempt() is None
    assert launcher.starting is None


def test_a_started_process_shares_no_stream_with_us(tmp_path: Path) -> None:
    told = tmp_path / "told"
    same = "[os.path.samestat(os.fstat(n), os.stat(os.devnull)) for n in (0, 1, 2)]"
    code = f"import os; open({str(told)!r}, 'w').write(str({same}))"
    process = spawn_detached(python(code), os.environ, tmp_path)
    assert process.wait(WAIT_S) == 0
    assert told.read_text(encoding="utf-8") == "[True, True, True]"
