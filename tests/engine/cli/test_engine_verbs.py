"""`serve`, `run` and the access of a real installation, over the real engine and the sample history."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import types
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from engine.cli import exits, run, serve
from engine.cli.access import InstalledAccess
from engine.cli.app import main
from engine.cli.foreground import Told, running
from engine.cli.output import Output
from engine.core.clock import SystemClock
from engine.core.events import EventHub
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.service import Engine

if TYPE_CHECKING:
    from collections.abc import Generator

SAMPLE = Path(__file__).parents[3] / "assets" / "sample"

posix_only = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture(autouse=True)
def sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(SAMPLE))
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def home(short_tmp: Path) -> Paths:
    return Paths.below(short_tmp)


def test_once_indexes_everything_and_ends(home: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    access = InstalledAccess(home)
    assert main(["serve", "--once", "--until", "keyword", "--no-embed"], access=access) == 0
    assert capsys.readouterr().err == "8 sessions and 134 messages are searchable.\n"
    assert main(["search", "samesite", "--mode", "keyword", "--json"], access=access) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 3
    assert main(["export", "680f", "--format", "jsonl"], access=access) == 0
    lines = capsys.readouterr().out.splitlines()
    assert json.loads(lines[0])["sessionId"].startswith("680f")


def test_once_with_json_ends_with_the_status(home: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--once", "--no-embed", "--json"], access=InstalledAccess(home)) == 0
    assert json.loads(capsys.readouterr().out)["messages"] == 134


def test_a_write_without_an_engine_starts_one_for_its_duration(home: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    access = InstalledAccess(home)
    assert main(["reindex"], access=access) == 0
    assert "9 files queued" in capsys.readouterr().out
    assert main(["status", "--json"], access=access) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["messages"], status["engine"]["state"]) == (134, "stopped")


def test_problems_of_the_settings_are_said(home: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    home.ensure()
    home.settings_file.write_text('theme = "blue"\n', encoding="utf-8")
    main(["serve", "--once", "--no-embed"], access=InstalledAccess(home))
    assert "theme must be one of" in capsys.readouterr().err


@pytest.mark.parametrize("verb", [["sessions"], ["reindex"], ["knowledge", "day"], ["serve", "--once", "--no-embed"]])
def test_a_settings_file_that_cannot_be_read_is_reported_by_whoever_moved_it_aside(
    home: Paths, capsys: pytest.CaptureFixture[str], verb: list[str]
) -> None:
    main(["serve", "--once", "--until", "keyword"], access=InstalledAccess(home))
    home.settings_file.write_text("{{{{", encoding="utf-8")
    capsys.readouterr()
    main(verb, access=InstalledAccess(home))
    (aside,) = home.config.glob("settings.toml.unreadable-*")
    assert aside.name in capsys.readouterr().err.replace("\n", "")


def test_a_second_serve_is_a_sentence_and_no_failure(home: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    engine = Engine(home, Settings(), SystemClock(), roots=())
    with running(engine, watch=False):
        assert main(["serve"], access=InstalledAccess(home)) == 0
        assert main(["run"], access=InstalledAccess(home)) == 0
    assert capsys.readouterr().err.count("Backscroll is already running.") == 2


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_folders_that_cannot_be_made_are_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o500)
    assert main(["serve", "--once"], access=InstalledAccess(Paths.below(tmp_path / "home"))) == 3
    assert "Backscroll cannot start" in capsys.readouterr().err


def test_a_file_in_place_of_a_folder_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "home").touch()
    assert main(["serve", "--once"], access=InstalledAccess(Paths.below(tmp_path / "home"))) == 3
    assert "Backscroll cannot start" in capsys.readouterr().err


@pytest.mark.expect_log("The engine did not start")
def test_a_bug_at_the_start_is_in_the_log(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(home, Settings(), SystemClock(), roots=())

    def broken(*, watch: bool) -> None:
        raise ZeroDivisionError(watch)

    monkeypatch.setattr(engine, "start", broken)
    with pytest.raises(ZeroDivisionError), running(engine, watch=True):
        pytest.fail("it did start")
    assert "ZeroDivisionError" in home.log_file.read_text(encoding="utf-8")


@posix_only
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_indexing_once_is_broken_off_by_any_signal_to_end(
    home: Paths, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    number = signal.Signals[name]
    before = signal.getsignal(number)
    stopped: list[str] = []
    stop = Engine.stop

    def broken_off(_engine: Engine, **_options: object) -> None:
        signal.raise_signal(number)

    def noted(engine: Engine) -> tuple[str, ...]:
        late = stop(engine)
        stopped.append(engine.state)
        return late

    monkeypatch.setattr(Engine, "run_once", broken_off)
    monkeypatch.setattr(Engine, "stop", noted)
    assert main(["serve", "--once"], access=InstalledAccess(home)) == exits.INTERRUPTED
    assert stopped == ["stopped"]
    assert signal.getsignal(number) is before


@posix_only
@pytest.mark.parametrize("verb", [["serve", "--no-embed"], ["run", "--sample"]])
def test_a_signal_while_the_engine_starts_ends_it_tidily(
    home: Paths, verb: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    states: list[tuple[str, bool]] = []
    started = Engine.start

    def start(engine: Engine, *, watch: bool = True) -> None:
        signal.raise_signal(signal.SIGTERM)
        started(engine, watch=watch)
        states.append((engine.state, engine.paths.socket_file.exists()))
        places.append(engine.paths)

    places: list[Paths] = []
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(Engine, "start", start)
    assert main(verb, access=InstalledAccess(home)) == 0
    assert states == [("running", True)]
    (place,) = places
    assert not place.socket_file.exists()
    assert place.data.exists() == (place == home)
    assert signal.getsignal(signal.SIGTERM) is before
    assert "Ctrl+C" not in capsys.readouterr().err


@dataclass
class IdleEngine:
    """An engine whose idle time is told."""

    idle: list[float] = field(default_factory=list[float])
    events: EventHub = field(default_factory=EventHub)

    @property
    def idle_s(self) -> float:
        return self.idle.pop(0)


def test_an_engine_on_demand_ends_ten_minutes_after_its_last_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "TICK_S", 0)
    engine = IdleEngine([0.0, 599.0, 601.0])
    serve.stay(cast("Engine", engine), Output(), Told(), on_demand=True)
    assert engine.idle == []


def yes(*_anything: object) -> bool:
    return True


def test_without_a_display_the_app_is_not_opened(monkeypatch: pytest.MonkeyPatch, home: Paths) -> None:
    ran: list[Paths] = []

    def run_here(paths: Paths, _output: Output, _told: Told, *, sample: bool) -> None:
        assert not sample
        ran.append(paths)

    monkeypatch.setattr(run, "has_app", yes)
    monkeypatch.setattr(run, "_run_here", run_here)
    assert main(["run"], access=InstalledAccess(home)) == 0
    assert main([], access=InstalledAccess(home)) == 0
    assert ran == [home, home]


def test_with_a_display_the_app_is_opened_on_the_chosen_history(monkeypatch: pytest.MonkeyPatch, home: Paths) -> None:
    started: list[tuple[list[str], Paths, str]] = []
    app = types.ModuleType("desktop.app")

    def start(arguments: list[str], end: Told) -> int:
        assert not end.is_set()
        started.append((arguments, Paths.resolve(), os.environ["CLAUDE_CONFIG_DIR"]))
        return 7

    app.main = start  # pyright: ignore[reportAttributeAccessIssue] - a stand-in for the module
    monkeypatch.setitem(sys.modules, "desktop", types.ModuleType("desktop"))
    monkeypatch.setitem(sys.modules, "desktop.app", app)
    monkeypatch.setattr(run, "has_app", yes)
    monkeypatch.setattr(run, "has_display", yes)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/somewhere")
    assert main(["run", "--background"], access=InstalledAccess(home)) == 7
    assert main(["run", "--sample"], access=InstalledAccess(home)) == 7
    (plain, _, folder), (sample, paths, sample_folder) = started
    assert (plain, folder) == (["--background"], "/somewhere")
    assert (sample, Path(sample_folder)) == ([], SAMPLE)
    assert paths.home is not None
    assert paths.home != home.home
    assert not paths.home.exists()
    assert os.environ["CLAUDE_CONFIG_DIR"] == "/somewhere"


@contextmanager
def program(*argv: str, home: Paths) -> Generator[subprocess.Popen[str]]:
    """Start `backscroll` as a process of its own, which is killed at the end whatever happens."""
    command = [sys.executable, "-m", "engine", *argv]
    env = {**os.environ, "BACKSCROLL_HOME": str(home.home)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True, encoding="utf-8") as process:
        try:
            yield process
        finally:
            process.kill()


def heard(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
    """Return the first line on stderr that matches."""
    assert process.stderr is not None
    for line in process.stderr:
        match = re.search(pattern, line)
        if match:
            return match
    pytest.fail(f"{pattern!r} was never said")


@posix_only
@pytest.mark.integration
def test_serve_answers_other_programs_until_it_is_told_to_end(home: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    with program("serve", home=home) as process:
        heard(process, "Backscroll is running")
        access = InstalledAccess(home)
        assert main(["status", "--json"], access=access) == 0
        status: dict[str, Any] = json.loads(capsys.readouterr().out)
        assert (status["engine"]["state"], status["engine"]["pid"]) == ("running", process.pid)
        assert main(["reindex"], access=access) == 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert "engine.ipc" in home.log_file.read_text(encoding="utf-8")
    assert not home.socket_file.exists()


@posix_only
@pytest.mark.integration
def test_the_sample_leaves_no_trace(home: Paths) -> None:
    with program("run", "--sample", home=home) as process:
        place = Path(heard(process, r"BACKSCROLL_HOME=(\S+)")[1])
        heard(process, "Search from another terminal")
        assert (place / "data").exists()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert not place.exists()
    assert not home.data.exists()


@posix_only
@pytest.mark.integration
def test_no_history_is_said_and_the_sample_is_offered(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    with program("run", home=home) as process:
        heard(process, "No transcripts of Claude Code were found")
        heard(process, "backscroll run --sample")
        heard(process, "backscroll connect")
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
