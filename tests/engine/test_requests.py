from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine import __version__
from engine.core.clock import SystemClock
from engine.core.events import Event, HandoverRequested, WindowRequested
from engine.core.settings import Settings
from engine.ipc.client import EngineClient
from engine.service import Engine

if TYPE_CHECKING:
    from engine.core.paths import Paths


def asked(paths: Paths, method: str, *, has_window: bool) -> tuple[object, list[Event]]:
    """Start an engine, ask it over its socket, and return the reply and what it announced for it."""
    engine = Engine(paths, Settings(embedding_enabled=False), SystemClock(), roots=(), has_window=has_window)
    events: list[Event] = []
    engine.events.subscribe(events.append)
    engine.start(watch=False, serve=True)
    try:
        with EngineClient.connect(paths, version=__version__) as client:
            reply = client.call(method)
    finally:
        engine.stop()
    assert isinstance(reply, dict)
    return reply["window"], [each for each in events if isinstance(each, (HandoverRequested, WindowRequested))]


@pytest.mark.parametrize(("method", "action"), [("show_window", "show"), ("toggle_window", "toggle")])
def test_a_window_is_asked_for_over_the_socket(paths: Paths, method: str, action: str) -> None:
    answered, events = asked(paths, method, has_window=True)
    assert answered is True
    assert [each.action for each in events if isinstance(each, WindowRequested)] == [action]


@pytest.mark.parametrize("method", ["show_window", "toggle_window"])
def test_an_engine_without_a_window_says_so(paths: Paths, method: str) -> None:
    assert asked(paths, method, has_window=False) == (False, [])


def test_an_engine_without_a_window_gives_way_to_the_app(paths: Paths) -> None:
    assert asked(paths, "hand_over", has_window=False) == (False, [HandoverRequested()])


def test_the_app_gives_way_to_nobody(paths: Paths) -> None:
    assert asked(paths, "hand_over", has_window=True) == (True, [])
