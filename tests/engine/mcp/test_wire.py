from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from engine.mcp.wire import decode, encode


def refused(frame: bytes) -> dict[str, Any]:
    reply = decode(frame)
    assert isinstance(reply, bytes)
    return json.loads(reply)


def test_a_request_is_read_with_lone_surrogates_in_its_arguments() -> None:
    frame = rb'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"query":"\ud83d"}}}'

    decoded = decode(frame)

    assert isinstance(decoded, SessionMessage)
    assert isinstance(decoded.message, JSONRPCRequest)
    assert decoded.message.params == {"arguments": {"query": "\ud83d"}}


def test_a_notification_and_a_response_are_read() -> None:
    for frame, kind in (
        (b'{"jsonrpc":"2.0","method":"notifications/initialized"}', JSONRPCNotification),
        (b'{"jsonrpc":"2.0","id":"a","result":{}}', JSONRPCResponse),
    ):
        decoded = decode(frame)
        assert isinstance(decoded, SessionMessage)
        assert isinstance(decoded.message, kind)


@pytest.mark.parametrize(
    "frame", [b"{", b"\xff\xfe\xfd", b'{"a": NaN}', b"[" * 100_000, b'{"id": ' + b"9" * 5_000 + b"}"]
)
def test_what_is_no_json_is_answered(frame: bytes) -> None:
    assert refused(frame) == {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "This is not JSON."}}


@pytest.mark.parametrize(
    ("frame", "number"),
    [
        (b"[]", None),
        (b'"text"', None),
        (b'{"jsonrpc":"2.0","id":3,"method":"x","params":[1]}', 3),
        (b'{"jsonrpc":"2.0","id":"s","method":5}', "s"),
        (b'{"jsonrpc":"2.0","id":true,"method":"x"}', None),
        (b'{"jsonrpc":"2.0","id":null,"method":"x"}', None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"x"}', None),
    ],
)
def test_a_request_that_is_none_is_answered_under_its_number(frame: bytes, number: object) -> None:
    reply = refused(frame)

    assert reply["id"] == number
    assert reply["error"]["code"] == -32600


def test_what_nobody_waits_for_is_dropped() -> None:
    assert decode(b'{"jsonrpc":"2.0","method":"notifications/x","params":[1]}') is None
    assert decode(b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}') is None


def test_a_reply_is_one_line_of_utf_8_whatever_it_holds() -> None:
    frame = encode(JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "a\nb\u2028 é 🙂 \ud83d", "none": None}))

    assert b"\n" not in frame
    assert json.loads(frame)["result"] == {"text": "a\nb\u2028 é 🙂 ?", "none": None}


def test_an_error_is_written_with_the_null_number_it_may_have() -> None:
    frame = encode(JSONRPCError.model_validate({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "m"}}))

    assert json.loads(frame) == {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "m"}}


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_read_refused_or_dropped(frame: bytes) -> None:
    assert decode(frame) is None or isinstance(decode(frame), (bytes, SessionMessage))
