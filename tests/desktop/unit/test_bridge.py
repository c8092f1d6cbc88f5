from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from desktop.bridge import Bridge
from engine.core.events import ChunksAdded, EngineStateChanged, EventHub, StatusChanged, WindowRequested

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


def test_events_of_any_thread_become_signals_on_the_main_thread(qtbot: QtBot) -> None:
    bridge, hub = Bridge(), EventHub()
    heard: list[object] = []
    places: set[threading.Thread] = set()

    def note(value: object = None) -> None:
        heard.append(value)
        places.add(threading.current_thread())

    for signal in (bridge.chunks_added, bridge.engine_state_changed, bridge.window_requested):
        signal.connect(note)
    bridge.status_changed.connect(lambda: note("status"))
    bridge.attach(hub)
    events = [ChunksAdded(3), StatusChanged(), EngineStateChanged("running"), WindowRequested("toggle")]
    thread = threading.Thread(target=lambda: [hub.publish(event) for event in events])
    thread.start()
    thread.join(60)
    qtbot.waitUntil(lambda: len(heard) == 4)
    assert heard == [3, "status", "running", "toggle"]
    assert places == {threading.main_thread()}


def test_after_another_engine_is_attached_the_first_is_not_heard(qtbot: QtBot) -> None:
    bridge, first, second = Bridge(), EventHub(), EventHub()
    heard: list[int] = []
    bridge.chunks_added.connect(heard.append)
    bridge.attach(first)
    bridge.attach(second)
    first.publish(ChunksAdded(1))
    second.publish(ChunksAdded(2))
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [2]
    bridge.detach()
