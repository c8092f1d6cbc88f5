"""Events go to everybody who asked for them."""

from __future__ import annotations

import pytest

from engine.core.events import ChunksAdded, Event, EventHub, StatusChanged


def test_each_subscriber_gets_each_event_until_it_leaves() -> None:
    hub = EventHub()
    one: list[Event] = []
    other: list[Event] = []
    leave = hub.subscribe(one.append)
    hub.subscribe(other.append)
    hub.publish(ChunksAdded(3, (1,)))
    leave()
    leave()
    hub.publish(StatusChanged())
    assert one == [ChunksAdded(3, (1,))]
    assert other == [ChunksAdded(3, (1,)), StatusChanged()]


@pytest.mark.expect_log("A subscriber failed on StatusChanged")
def test_one_bad_subscriber_does_not_stop_the_others() -> None:
    hub = EventHub()
    got: list[Event] = []

    def fail(_: Event) -> None:
        raise ValueError("a bug")

    hub.subscribe(fail)
    hub.subscribe(got.append)
    hub.publish(StatusChanged())
    assert got == [StatusChanged()]


def test_a_subscriber_may_leave_while_it_is_told() -> None:
    hub = EventHub()
    got: list[Event] = []
    leave = hub.subscribe(lambda event: (got.append(event), leave()))  # type: ignore[func-returns-value]
    hub.publish(StatusChanged())
    hub.publish(StatusChanged())
    assert len(got) == 1
