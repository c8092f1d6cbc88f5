from __future__ import annotations

import pytest

from engine.ipc import held
from engine.ipc.held import HeldRequests, Request
from engine.ipc.jsonrpc import Envelope


def request(identity: int, *, deadline: float = 10.0, size: int = 5) -> Request:
    return Request(identity, Envelope("request", identity, "tools/call", failed=False), b"x" * size, deadline)


def filled(*requests: Request) -> HeldRequests:
    queue = HeldRequests()
    for each in requests:
        assert queue.add(each)
    return queue


def test_requests_come_out_in_the_order_they_came() -> None:
    queue = filled(request(1), request(2))
    first = queue.take()
    assert first is not None
    assert first == request(1)
    queue.put_back(first)
    assert len(queue) == 2
    assert [queue.take(), queue.take(), queue.take()] == [request(1), request(2), None]


def test_only_so_many_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "MAX_HELD", 2)
    queue = filled(request(1), request(2))
    assert not queue.add(request(3))
    queue.remove(1)
    assert queue.add(request(3))


@pytest.mark.parametrize("leave", ["take", "remove", "late", "all"])
def test_only_so_many_bytes_are_held_and_what_leaves_makes_room(monkeypatch: pytest.MonkeyPatch, leave: str) -> None:
    monkeypatch.setattr(held, "MAX_HELD_BYTES", 10)
    queue = filled(request(1, size=6, deadline=1.0))
    assert not queue.add(request(2, size=5))
    match leave:
        case "take":
            queue.take()
        case "remove":
            queue.remove(1)
        case "late":
            assert queue.take_late(0.5) == []
            assert len(queue.take_late(1.0)) == 1
        case _:
            assert len(queue.take_all()) == 1
    assert queue.add(request(2, size=10))


def test_those_whose_time_is_over_are_taken_out_wherever_they_stand() -> None:
    queue = filled(request(1, deadline=3.0), request(2, deadline=1.0), request(3, deadline=2.0))
    assert [late.id for late in queue.take_late(2.0)] == [2, 3]
    assert [left.id for left in queue.take_all()] == [1]
