from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cli import toggle
from engine.cli.app import main
from engine.cli.exits import FAILED
from engine.core.clock import SystemClock
from engine.core.events import Event, WindowRequested
from engine.core.settings import Settings
from engine.service import Engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pytest

    from engine.core.paths import Paths
    from tests.engine.cli.conftest import Run


def installed(*_environment: object) -> bool:
    return True


def missing(*_environment: object) -> bool:
    return False


def test_a_running_app_is_asked_for_its_window(backscroll: Callable[..., Run], paths: Paths) -> None:
    engine = Engine(paths, Settings(embedding_enabled=False), SystemClock(), roots=(), has_window=True)
    events: list[Event] = []
    engine.events.subscribe(events.append)
    engine.start(watch=False, serve=True)
    try:
        assert backscroll("toggle").code == 0
    finally:
        engine.stop()
    assert WindowRequested("toggle") in events


def test_without_an_app_that_could_be_shown_it_says_how_to_get_one(
    backscroll: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toggle, "has_display", missing)
    done = backscroll("toggle")
    assert done.code == FAILED
    assert "`backscroll`" in done.err


def test_an_app_that_does_not_run_is_started(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from engine.cli.access import InstalledAccess

    started: list[Sequence[str]] = []

    def spawn(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        assert environment["BACKSCROLL_HOME"] == str(paths.home)
        assert folder == paths.run
        started.append(command)

    monkeypatch.setattr(toggle, "has_app", installed)
    monkeypatch.setattr(toggle, "has_display", installed)
    monkeypatch.setattr(toggle, "spawn_detached", spawn)
    assert main(["toggle", "--json"], access=InstalledAccess(paths)) == 0
    assert [command[-1] for command in started] == ["run"]
    assert '"started"' in capsys.readouterr().out
