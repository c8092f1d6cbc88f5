from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.ipc.protocol import (
    Call,
    Cancel,
    Event,
    Failure,
    Hello,
    Progress,
    ProtocolError,
    Refused,
    Result,
    Welcome,
    encode,
    parse_client_frame,
    parse_hello,
    parse_reply_to_hello,
    parse_server_frame,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.ipc.protocol import ClientFrame, ServerFrame

HELLO = Hello(
    type="hello",
    protocol=1,
    kind="mcp",
    version="1.2",
    pid=5,
    ppid=4,
    cwd="/home/me/projet \udcff",
    toolset="recall",
    events=False,
    project_dir="/home/me",
    session_id="abc",
    config_dir="/home/me/.claude",
)
PARSERS: list[Callable[[bytes], object]] = [parse_hello, parse_reply_to_hello, parse_client_frame, parse_server_frame]


def test_a_hello_arrives_as_it_was_sent_even_with_a_path_that_is_no_unicode() -> None:
    assert parse_hello(encode(HELLO)) == HELLO


def test_a_hello_without_its_optional_parts_means_everything_and_nothing_known() -> None:
    hello = parse_hello(b'{"type":"hello","protocol":1,"kind":"api","version":"1","pid":1,"ppid":0,"cwd":""}')
    assert hello == {
        "type": "hello",
        "protocol": 1,
        "kind": "api",
        "version": "1",
        "pid": 1,
        "ppid": 0,
        "cwd": "",
        "toolset": "all",
        "events": False,
    }


@pytest.mark.parametrize(
    "change",
    [
        {"type": "welcome"},
        {"kind": "admin"},
        {"toolset": "some"},
        {"pid": "5"},
        {"pid": True},
        {"cwd": None},
        {"session_id": 7},
        {"protocol": None},
    ],
)
def test_a_hello_that_is_not_as_agreed_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ProtocolError):
        parse_hello(json.dumps({**HELLO, **change}).encode())


@pytest.mark.parametrize(
    "frame",
    [
        Welcome(type="welcome", version="1", pid=3, state="ready"),
        Refused(type="refused", code="too_many_clients", message="m", hint="h"),
    ],
)
def test_the_answer_to_a_hello_arrives_as_it_was_sent(frame: Welcome | Refused) -> None:
    assert parse_reply_to_hello(encode(frame)) == frame


@pytest.mark.parametrize(
    "frame", [Call(type="call", id=1, method="search", arguments={"q": "é\ud800"}), Cancel(type="cancel", id=1)]
)
def test_what_a_client_sends_arrives(frame: ClientFrame) -> None:
    assert parse_client_frame(encode(frame)) == frame


@pytest.mark.parametrize(
    "frame",
    [
        Progress(type="progress", id=1, done=0.5, total=None, text="t"),
        Progress(type="progress", id=1, done=2, total=8, text="t"),
        Result(type="result", id=1, value=[1, {"a": None}]),
        Failure(type="error", id=1, code="c", title="t", message="m", hint="h", candidates=["x"]),
        Event(type="event", name="status", value=3),
    ],
)
def test_what_the_engine_sends_arrives(frame: ServerFrame) -> None:
    assert parse_server_frame(encode(frame)) == frame


@pytest.mark.parametrize("parse", PARSERS)
@given(
    data=st.binary(max_size=50)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["type", "id", "kind", "method", "arguments", "pid", "total"]), inner)
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode())
    | st.just(b"[" * 100_000)
)
def test_no_bytes_do_more_than_be_refused(parse: Callable[[bytes], object], data: bytes) -> None:
    try:
        parse(data)
    except ProtocolError:
        return
    assert "type" in cast("dict[str, object]", json.loads(data))


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "call", "id": 1, "method": "m"},
        {"type": "call", "id": 1, "method": "m", "arguments": []},
        {"type": "cancel"},
    ],
)
def test_a_call_that_is_not_as_agreed_is_refused(frame: dict[str, object]) -> None:
    with pytest.raises(ProtocolError):
        parse_client_frame(json.dumps(frame).encode())


def test_progress_without_a_number_is_refused() -> None:
    with pytest.raises(ProtocolError):
        parse_server_frame(b'{"type":"progress","id":1,"done":"half","text":""}')
