from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.ipc.jsonrpc import (
    Envelope,
    decode,
    error_reply,
    guess_id,
    notification,
    read_envelope,
    result_reply,
    with_id,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
ids = st.integers() | st.text()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (rb'{"method":"tools/call","params":{"id":7},"jsonrpc":"2.0","id":2}', ("request", 2, "tools/call", False)),
        (rb'{"jsonrpc":"2.0","id":"a\u0062","method":"ping"}', ("request", "ab", "ping", False)),
        (rb' { "id" : -3 , "method" : "ping" } ', ("request", -3, "ping", False)),
        (rb'{"jsonrpc":"2.0","method":"notifications/x","params":{"method":"y","id":1}}', None),
        (rb'{"jsonrpc":"2.0","id":4,"result":{"id":5,"error":1}}', ("reply", 4, None, False)),
        (rb'{"jsonrpc":"2.0","id":"4","error":{"code":1,"message":"m"}}', ("reply", "4", None, True)),
        (rb'{"result":{"text":"} \"id\":9, {"},"id":6}', ("reply", 6, None, False)),
        (rb'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}', ("reply", None, None, True)),
    ],
)
def test_the_outside_of_a_message_is_read_and_its_inside_left_alone(
    message: bytes, expected: tuple[str, int | str | None, str | None, bool] | None
) -> None:
    found = read_envelope(message)
    assert tuple(found) == (expected or ("notification", None, "notifications/x", False))


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"hello",
        b"[]",
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        b'{"jsonrpc":"2.0"}',
        b'{"id":1,"method":"ping"',
        b'{"id":1,"method":"ping"}}',
        b'{"id":1,"method":"ping"} {"id":2,"method":"ping"}',
        b'{"id":1,"method":"ping',
        b'{"id":1.5,"method":"ping"}',
        b'{"id":null,"method":"ping"}',
        b'{"id":true,"method":"ping"}',
        b'{"id":{},"method":"ping"}',
        b'{"id":1,"method":5}',
    ],
)
def test_what_is_no_message_is_invalid(message: bytes) -> None:
    assert read_envelope(message).kind == "invalid"


@given(
    identity=ids,
    method=st.text(),
    params=json_values,
    order=st.permutations(["jsonrpc", "id", "method", "params"]),
    ascii_only=st.booleans(),
    indent=st.none() | st.just(2),
)
def test_a_request_is_recognised_whatever_it_holds_and_however_it_is_written(
    identity: int | str, method: str, params: object, order: list[str], *, ascii_only: bool, indent: int | None
) -> None:
    fields = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
    ordered = {name: fields[name] for name in order}
    message = json.dumps(ordered, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    assert read_envelope(message) == Envelope("request", identity, method, failed=False)


@given(identity=ids, result=json_values)
def test_a_reply_made_here_is_read_as_one(identity: int | str, result: object) -> None:
    message = result_reply(identity, {"value": json.loads(json.dumps(result))})
    assert read_envelope(message) == Envelope("reply", identity, None, failed=False)
    assert b"\n" not in message


@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,\\ 1ide', max_size=60).map(str.encode))
def test_reading_any_bytes_ends_in_an_answer(message: bytes) -> None:
    assert read_envelope(message).kind in {"request", "notification", "reply", "invalid"}


def test_an_unterminated_text_full_of_quotation_marks_is_refused_without_trying_each_of_them() -> None:
    # Trying every mark anew would take minutes here, not milliseconds.
    assert read_envelope(b'{"id":1,"method":"' + b'\\"' * 2_000_000).kind == "invalid"


def test_an_error_reply_without_an_id_says_so_with_null() -> None:
    assert json.loads(error_reply(None, -32600, "What is that?")) == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32600, "message": "What is that?"},
    }
    assert json.loads(error_reply(1, -32022, "No", {"a": [1]}))["error"]["data"] == {"a": [1]}


def test_a_request_gets_another_id_and_stays_the_same_otherwise() -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"x":"\\ud800"}}'
    assert decode(with_id(line, "other")) == {**decode(line), "id": "other"}


def test_a_notification_has_no_id() -> None:
    assert read_envelope(notification("notifications/x")) == ("notification", None, "notifications/x", False)


@pytest.mark.parametrize("line", [b"no json", b"[1]", b"[" * 100_000])
def test_what_cannot_be_decoded_is_an_empty_object(line: bytes) -> None:
    assert decode(line) == {}


@pytest.mark.parametrize(
    ("head", "tail", "expected"),
    [
        (b'{"method":"tools/call","params":{"id":7', b'...","jsonrpc":"2.0","id":2}', 2),
        (b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{', b'"}}', "x"),
        (b'{"params":{"id":7,', b'"id":8}}', None),
        (b"what", b"ever", None),
    ],
)
def test_the_id_of_a_message_that_is_not_kept_is_taken_from_its_ends(
    head: bytes, tail: bytes, expected: int | str | None
) -> None:
    assert guess_id(head, tail) == expected
