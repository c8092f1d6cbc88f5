# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false, reportUnknownArgumentType=false
# Signals of Qt carry no types.
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, cast

import pytest

from desktop import engine_host
from desktop.bridge import Bridge
from desktop.engine_host import EngineHost
from desktop.single_instance import Owner
from engine.core.errors import EngineAlreadyRunning, StorageFailure
from engine.core.events import ChunksAdded, EventHub
from tests.desktop.fakes import FakeHistory

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from desktop.tasks import Tasks
    from engine.core.paths import Paths
    from engine.core.settings import Settings
    from engine.service import Engine


class FakeEngine:
    """An engine that starts as it was told to."""

    def __init__(self, failures: list[Exception], gate: threading.Event) -> None:
        self.api = FakeHistory()
        self.events = EventHub()
        self.failures = failures
        self.gate = gate
        self.life: list[str] = []

    def start(self) -> None:
        assert self.gate.wait(60)
        if self.failures:
            raise self.failures.pop(0)
        self.life.append("started")

    def stop(self) -> None:
        self.life.append("stopped")

    def warm(self) -> None:
        self.life.append("warm")

    def pause(self, for_s: float | None = None) -> None:
        self.life.append(f"paused {for_s}")

    def resume(self) -> None:
        self.life.append("resumed")


class Shop:
    """Makes engines and remembers them."""

    def __init__(self) -> None:
        self.failures: list[Exception] = []
        self.gate = threading.Event()
        self.gate.set()
        self.made: list[FakeEngine] = []

    def __call__(self, paths: Paths, settings: Settings) -> Engine:
        assert paths
        assert settings
        self.made.append(FakeEngine(self.failures, self.gate))
        return cast("Engine", self.made[-1])


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def host(paths: Paths, tasks: Tasks, shop: Shop) -> EngineHost:
    return EngineHost(paths, Bridge(), tasks, shop)


def answering(owner: Owner) -> Callable[[Paths, str], Owner]:
    def ask(_paths: Paths, request: str) -> Owner:
        assert request == "hand_over"
        return owner

    return ask


def heard(host: EngineHost) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    host.started.connect(lambda api: found.append(("started", api)))
    host.failed.connect(lambda error: found.append(("failed", error)))
    host.outdone.connect(lambda: found.append(("outdone", None)))
    host.stopped.connect(lambda: found.append(("stopped", None)))
    return found


def test_the_engine_starts_off_the_main_thread_and_its_events_are_heard(
    host: EngineHost, shop: Shop, qtbot: QtBot
) -> None:
    news = heard(host)
    shop.gate.clear()
    host.start()
    assert news == []
    shop.gate.set()
    qtbot.waitUntil(lambda: bool(news))
    assert news == [("started", shop.made[0].api)]
    chunks: list[int] = []
    host._bridge.chunks_added.connect(chunks.append)
    shop.made[0].events.publish(ChunksAdded(2))
    qtbot.waitUntil(lambda: chunks == [2])


def test_the_model_is_loaded_when_a_question_is_likely(host: EngineHost, shop: Shop, qtbot: QtBot) -> None:
    host.warm()  # there is no engine yet
    host.start()
    qtbot.waitUntil(lambda: host.engine is not None)
    host.warm()
    qtbot.waitUntil(lambda: len(shop.made[0].life) > 1)
    assert shop.made[0].life == ["started", "warm"]


def test_indexing_rests_for_a_time_or_until_it_is_told_to_go_on(host: EngineHost, shop: Shop, qtbot: QtBot) -> None:
    host.pause()  # there is no engine yet
    host.start()
    qtbot.waitUntil(lambda: host.engine is not None)
    host.pause(3600)
    host.pause()
    host.resume()
    assert shop.made[0].life == ["started", "paused 3600", "paused None", "resumed"]


def test_an_engine_that_cannot_start_is_said_why(host: EngineHost, shop: Shop, qtbot: QtBot) -> None:
    news = heard(host)
    shop.failures = [StorageFailure("The disk is full", "", "")]
    host.start()
    qtbot.waitUntil(lambda: bool(news))
    assert [(name, error.title) for name, error in news] == [("failed", "The disk is full")]


def test_a_folder_that_cannot_be_written_is_an_error_for_people(host: EngineHost, shop: Shop, qtbot: QtBot) -> None:
    news = heard(host)
    shop.failures = [PermissionError(13, "Permission denied", "/data")]
    host.start()
    qtbot.waitUntil(lambda: bool(news))
    assert isinstance(news[0][1], StorageFailure)
    assert "/data: Permission denied" in str(news[0][1])


def test_an_engine_without_a_window_is_taken_over_from(
    host: EngineHost, shop: Shop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_host, "ask", answering(Owner.ENGINE))
    monkeypatch.setattr(engine_host, "RETRY_S", 0)
    news = heard(host)
    shop.failures = [EngineAlreadyRunning("taken"), EngineAlreadyRunning("taken")]
    host.start()
    qtbot.waitUntil(lambda: bool(news))
    assert [name for name, _ in news] == ["started"]
    assert len(shop.made) == 3


def test_before_another_app_this_one_gives_way(
    host: EngineHost, shop: Shop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_host, "ask", answering(Owner.APP))
    news = heard(host)
    shop.failures = [EngineAlreadyRunning("taken")]
    host.start()
    qtbot.waitUntil(lambda: bool(news))
    assert news == [("outdone", None)]


def test_an_owner_that_does_not_give_way_is_said(
    host: EngineHost, shop: Shop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_host, "ask", answering(Owner.SILENT))
    monkeypatch.setattr(engine_host, "TAKE_OVER_S", 0)
    news = heard(host)
    shop.failures = [EngineAlreadyRunning("taken")]
    host.start()
    qtbot.waitUntil(lambda: bool(news))
    assert isinstance(news[0][1], EngineAlreadyRunning)


def test_a_restart_stops_the_old_engine_first(host: EngineHost, shop: Shop, qtbot: QtBot) -> None:
    news = heard(host)
    host.start()
    qtbot.waitUntil(lambda: len(news) == 1)
    host.restart()
    qtbot.waitUntil(lambda: len(news) == 3)
    assert [name for name, _ in news] == ["started", "stopped", "started"]
    assert [engine.life for engine in shop.made] == [["started", "stopped"], ["started"]]


def test_nothing_starts_after_the_end(host: EngineHost, shop: Shop, qtbot: QtBot) -> None:
    ended: list[None] = []
    host.stop(lambda: ended.append(None))
    host.start()
    qtbot.waitUntil(lambda: bool(ended))
    host.end()
    assert shop.made == []


def test_an_end_during_the_start_stops_what_has_started(host: EngineHost, shop: Shop, qtbot: QtBot) -> None:
    ended: list[None] = []
    shop.gate.clear()
    host.start()
    qtbot.waitUntil(lambda: bool(shop.made))
    host.stop(lambda: ended.append(None))
    shop.gate.set()
    qtbot.waitUntil(lambda: bool(ended))
    assert shop.made[0].life == ["started", "stopped"]
