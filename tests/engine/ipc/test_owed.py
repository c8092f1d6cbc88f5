"""The open ends of a session: what is kept to be asked again, what is awaited, what an engine asked itself."""

from __future__ import annotations

import json

import pytest

from engine.ipc.held import Request
from engine.ipc.jsonrpc import read_envelope
from engine.ipc.owed import LISTEN, OPENING, Owed, cancelled_id


def request(identity: int | str, method: str) -> Request:
    line = json.dumps({"jsonrpc": "2.0", "id": identity, "method": method}).encode()
    return Request(identity, read_envelope(line), line, 0.0)


def test_only_what_has_no_effect_is_kept_to_be_asked_again() -> None:
    owed = Owed()
    opening, call = request(1, OPENING), request(2, "tools/call")
    owed.asked(opening)
    owed.asked(call)
    assert owed.end() == [opening, call._replace(line=b"")]
    assert owed.end() == []


def test_an_open_ended_request_is_not_awaited() -> None:
    owed = Owed()
    owed.asked(request("a", LISTEN))
    owed.asked(request("b", "tools/call"))
    assert [each.id for each in owed.awaited()] == ["b"]
    assert [each.id for each in owed.end()] == ["a", "b"]


def test_a_request_is_settled_once() -> None:
    owed = Owed()
    owed.asked(request(1, "tools/call"))
    assert owed.find(1) is not None
    assert owed.settle(1) is not None
    assert owed.find(1) is owed.settle(1) is None


def test_a_reply_goes_only_to_the_engine_that_asked_and_once() -> None:
    owed = Owed()
    owed.asked_by_engine(7)
    assert owed.is_reply_to_engine(7)
    assert not owed.is_reply_to_engine(7)
    assert not owed.is_reply_to_engine(None)
    owed.asked_by_engine(8)
    owed.end()
    assert not owed.is_reply_to_engine(8)


@pytest.mark.parametrize(
    ("params", "expected"),
    [({"requestId": 3}, 3), ({"requestId": "x"}, "x"), ({"requestId": None}, None), ({}, None), ([1], None)],
)
def test_a_cancellation_names_a_request(params: object, expected: int | str | None) -> None:
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode()
    assert cancelled_id(line) == expected
