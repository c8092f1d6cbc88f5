"""The relay between two pipes and a real server; the clock of its waits is the only thing made shorter."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import threading
from typing import TYPE_CHECKING, Self, cast

import pytest

from engine.ipc import held as held_module
from engine.ipc import relay as relay_module
from engine.ipc import server as server_module
from engine.ipc.catalogue import Catalogue
from engine.ipc.protocol import Hello
from engine.ipc.relay import Relay
from tests.helpers.fake_engine import FakeEngine, params_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.core.paths import Paths
    from engine.ipc.protocol import JsonObject

WAIT_S = 60.0
TRY_AGAIN = -32000
INITIALIZE: JsonObject = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "claude-code", "version": "2"},
}
ENVELOPE: JsonObject = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


class Starter:
    """Notes that an engine is wanted, and starts what the test gave it."""

    def __init__(self) -> None:
        self.wanted = threading.Event()
        self.settled_once = threading.Event()
        self.failure: str | None = None

    def attempt(self) -> str | None:
        self.wanted.set()
        return self.failure

    def settled(self) -> None:
        self.settled_once.set()


def join_relay_threads() -> None:
    """Wait for those of a relay whose input has been closed: one that still reads would read the next test's pipe."""
    for thread in threading.enumerate():
        if thread.name in {"shim-stdin", "shim-engine"}:
            thread.join(WAIT_S)
            assert not thread.is_alive()


class Bench:
    """A running relay, from the client's side."""

    def __init__(self, paths: Paths, *, call_wait_s: float) -> None:
        self.starter = Starter()
        source, self._input = os.pipe()
        self._output, output = os.pipe()
        self._ends = [source, output]
        self.exit_code: int | None = None
        self.lines: queue.Queue[bytes] = queue.Queue()
        hello = Hello(
            type="hello",
            protocol=1,
            kind="mcp",
            version="9",
            pid=7,
            ppid=6,
            cwd="/here",
            toolset="all",
            session_id="s1",
        )
        self._relay = Relay(paths, hello, self.starter, output, call_wait_s=call_wait_s)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._runner = threading.Thread(target=self._run, args=(source,), daemon=True)
        self._runner.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_input()
        self._runner.join(WAIT_S)
        assert not self._runner.is_alive()
        join_relay_threads()
        for end in self._ends:
            os.close(end)
        self._reader.join(WAIT_S)
        os.close(self._output)

    def write(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._input, rest) :]

    def send(self, message: JsonObject) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def next(self) -> JsonObject:
        message = json.loads(self.lines.get(timeout=WAIT_S))
        assert isinstance(message, dict)
        return cast("JsonObject", message)

    def ask(self, identity: int | str, method: str, params: JsonObject | None = None) -> JsonObject:
        message: JsonObject = {"id": identity, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        reply = self.next()
        assert reply["id"] == identity
        return reply

    def open(self) -> JsonObject:
        """Do what a client of the handshake era does first."""
        reply = self.ask(0, "initialize", INITIALIZE)
        self.send({"method": "notifications/initialized"})
        return reply

    def close_input(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._input)
        self._input = -1

    def wait(self) -> int | None:
        self._runner.join(WAIT_S)
        return self.exit_code

    def _run(self, source: int) -> None:
        self.exit_code = self._relay.run(source)

    def _read(self) -> None:
        with open(self._output, "rb", closefd=False) as lines:
            for line in lines:
                self.lines.put(line)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "PARENT_CHECK_S", 0.05)
    monkeypatch.setattr(relay_module, "FIRST_PAUSE_S", 0.005)
    monkeypatch.setattr(relay_module, "LONGEST_PAUSE_S", 0.05)


@pytest.fixture
def bench(paths: Paths) -> Iterator[Bench]:
    with Bench(paths, call_wait_s=WAIT_S) as bench:
        yield bench


def write_catalogue(paths: Paths, version: str = "1.0") -> None:
    catalogue = Catalogue(
        version=version,
        protocolVersions=["2025-06-18", "2025-11-25"],
        handshake={"initialize": {"serverInfo": {"name": "catalogue"}}, "tools/list": {"tools": [], "from": "file"}},
        modern={
            "server/discover": {"supportedVersions": ["2026-07-28"], "from": "file"},
            "tools/list": {"tools": [], "resultType": "complete", "from": "file"},
        },
    )
    paths.catalogue_file("all").write_text(json.dumps(catalogue), encoding="utf-8")


def result(reply: JsonObject) -> JsonObject:
    assert "result" in reply, reply
    return cast("JsonObject", reply["result"])


def error_text(reply: JsonObject) -> str:
    error = cast("JsonObject", reply["error"])
    assert error["code"] == TRY_AGAIN
    return str(error["message"])


# With an engine.


def test_an_engine_that_runs_answers_everything_itself(paths: Paths) -> None:
    write_catalogue(paths)
    with FakeEngine(paths) as engine, Bench(paths, call_wait_s=WAIT_S) as bench:
        assert result(bench.open())["serverInfo"] == {"name": "fake", "version": "1.0"}
        assert result(bench.ask(1, "tools/list"))["version"] == "1.0"
        assert result(bench.ask("a", "tools/call", {"arguments": {"q": "é"}}))["echo"] == {"q": "é"}
        client = engine.next_session().client
        assert (client.session_id, client.cwd, client.pid, client.ppid) == ("s1", "/here", 7, 6)
        assert not bench.starter.wanted.is_set()


def test_bytes_reach_the_engine_as_they_were_written(paths: Paths) -> None:
    with FakeEngine(paths) as engine, Bench(paths, call_wait_s=WAIT_S) as bench:
        bench.write(b'{"params":{"x": 1e400,"y":"\\ud800"},  "method":"notifications/odd","jsonrpc":"2.0"}\r\n')
        assert params_of(engine.next_message("notifications/odd"))["y"] == "\ud800"


def test_a_message_of_megabytes_goes_through(paths: Paths) -> None:
    with FakeEngine(paths), Bench(paths, call_wait_s=WAIT_S) as bench:
        body = "x" * 5_000_000
        assert result(bench.ask(1, "tools/call", {"arguments": {"body": body}}))["echo"] == {"body": body}


def test_requests_of_the_engine_reach_the_client_and_its_replies_the_engine(paths: Paths) -> None:
    with FakeEngine(paths) as engine, Bench(paths, call_wait_s=WAIT_S) as bench:
        bench.open()
        engine.next_session().send(b'{\n "jsonrpc": "2.0",\n "id": 1,\n "method": "roots/list"\n}')
        assert bench.next()["method"] == "roots/list"
        bench.send({"id": 99, "result": {"to": "nobody"}})
        bench.send({"id": 1, "result": {"roots": []}})
        replies: list[JsonObject] = []
        while not replies:
            message = engine.received.get(timeout=WAIT_S)
            if "result" in message:
                replies.append(message)
        assert replies[0]["id"] == 1


def test_what_the_engine_sends_that_is_no_message_is_not_printed(paths: Paths) -> None:
    with FakeEngine(paths) as engine, Bench(paths, call_wait_s=WAIT_S) as bench:
        engine.next_session().send(b"Traceback: oh no")
        assert result(bench.ask(1, "tools/list"))["version"] == "1.0"


@pytest.mark.parametrize(
    "line",
    [b"hello", b"[1]", b'{"jsonrpc":"2.0","id":null,"method":"ping"}', b'{"jsonrpc":"2.0","id":1.5,"method":"x"}'],
)
def test_a_line_that_is_no_message_is_refused_and_the_next_one_served(paths: Paths, line: bytes) -> None:
    with FakeEngine(paths), Bench(paths, call_wait_s=WAIT_S) as bench:
        bench.write(line + b"\n")
        reply = bench.next()
        assert (reply["id"], cast("JsonObject", reply["error"])["code"]) == (None, -32600)
        assert result(bench.ask(1, "tools/list"))["version"] == "1.0"


def test_a_line_that_is_too_long_is_refused_under_its_own_id(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "MAX_LINE_BYTES", 1000)
    with FakeEngine(paths), Bench(paths, call_wait_s=WAIT_S) as bench:
        bench.write(b'{"method":"tools/call","params":{"x":"' + b"x" * 5000 + b'"},"id":41}\n')
        reply = bench.next()
        assert reply["id"] == 41
        assert "5049 bytes, at most 1000" in str(cast("JsonObject", reply["error"])["message"])
        assert result(bench.ask(1, "tools/list"))["version"] == "1.0"


# Without an engine.


def test_lists_are_answered_from_the_catalogue_and_an_engine_is_started(paths: Paths, bench: Bench) -> None:
    write_catalogue(paths)
    opened = result(bench.open())
    assert opened == {"serverInfo": {"name": "catalogue"}, "protocolVersion": "2025-06-18"}
    assert result(bench.ask(1, "tools/list"))["from"] == "file"
    assert bench.starter.wanted.wait(WAIT_S)


def test_the_newer_era_is_answered_from_its_own_table(paths: Paths, bench: Bench) -> None:
    write_catalogue(paths)
    assert result(bench.ask(1, "server/discover", ENVELOPE))["from"] == "file"
    assert result(bench.ask(2, "tools/list", ENVELOPE))["resultType"] == "complete"


def test_a_ping_is_answered_without_bringing_an_engine_back(bench: Bench) -> None:
    assert result(bench.ask(1, "ping")) == {}
    assert not bench.starter.wanted.is_set()


def test_a_call_waits_for_the_engine_which_is_first_told_who_the_client_is(paths: Paths, bench: Bench) -> None:
    write_catalogue(paths)
    bench.open()
    bench.send({"id": 1, "method": "tools/call", "params": {"arguments": {"n": 1}}})
    assert bench.starter.wanted.wait(WAIT_S)
    with FakeEngine(paths) as engine:
        assert result(bench.next())["echo"] == {"n": 1}
        seen = [engine.received.get(timeout=WAIT_S).get("method") for _ in range(3)]
        assert sorted(map(str, seen)) == ["initialize", "notifications/initialized", "tools/call"]
        assert seen[0] == "initialize"
        assert bench.starter.settled_once.is_set()
        bench.close_input()
        assert bench.wait() == 0


def test_without_a_catalogue_even_initialize_waits_for_the_engine(paths: Paths, bench: Bench) -> None:
    bench.send({"id": 0, "method": "initialize", "params": INITIALIZE})
    bench.send({"id": 1, "method": "tools/list"})
    assert bench.starter.wanted.wait(WAIT_S)
    with FakeEngine(paths):
        assert result(bench.next())["serverInfo"] == {"name": "fake", "version": "1.0"}
        assert bench.next()["id"] == 1
        bench.close_input()
        assert bench.wait() == 0


def test_a_call_that_waited_in_vain_gets_one_error_that_says_what_to_do(paths: Paths) -> None:
    with Bench(paths, call_wait_s=0.05) as bench:
        text = error_text(bench.ask(1, "tools/call"))
        assert "did not answer within" in text
        assert "backscroll doctor" in text
        assert str(paths.log_file) in text
        bench.close_input()
        assert bench.wait() == 0
        assert bench.lines.empty()


def test_the_reason_why_an_engine_cannot_start_is_told_at_once(bench: Bench) -> None:
    bench.starter.failure = "It ended at once with exit code 3."
    assert "exit code 3" in error_text(bench.ask(1, "tools/call"))


def test_a_call_that_is_taken_back_while_it_waits_never_reaches_an_engine(paths: Paths, bench: Bench) -> None:
    bench.send({"id": 1, "method": "tools/call", "params": {"arguments": {"n": 1}}})
    bench.send({"id": 2, "method": "tools/call", "params": {"arguments": {"n": 2}}})
    bench.send({"method": "notifications/cancelled", "params": {"requestId": 1}})
    assert result(bench.ask(3, "ping")) == {}  # all before it has been read
    with FakeEngine(paths):
        assert result(bench.next())["echo"] == {"n": 2}
        bench.close_input()
        assert bench.wait() == 0
        assert bench.lines.empty()


def test_more_waiting_calls_than_sensible_are_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_module, "MAX_HELD", 1)
    monkeypatch.setattr(relay_module, "DRAIN_S", 0.05)
    bench.send({"id": 1, "method": "tools/call"})
    assert "Too many calls" in error_text(bench.ask(2, "tools/call"))


def test_an_engine_that_refuses_us_is_quoted(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "MAX_SESSIONS", 0)
    with FakeEngine(paths), Bench(paths, call_wait_s=WAIT_S) as bench:
        assert "Close Claude Code sessions" in error_text(bench.ask(1, "tools/call"))
        assert not bench.starter.wanted.is_set()


# Across a restart.


def test_a_client_of_the_handshake_era_is_opened_again_with_the_next_engine(paths: Paths) -> None:
    with FakeEngine(paths, "1.0") as first, Bench(paths, call_wait_s=WAIT_S) as bench:
        opened = bench.open()
        first.next_message("notifications/initialized")
        first.server.stop()
        with FakeEngine(paths, "1.0") as second:
            assert result(bench.ask(1, "tools/call", {"arguments": {}}))["echo"] == {}
            again = second.next_message("initialize")
            assert params_of(again) == INITIALIZE
            assert again["id"] != opened["id"]
            second.next_message("notifications/initialized")
            assert second.next_session().client.session_id == "s1"
            bench.close_input()
            assert bench.wait() == 0
            assert bench.lines.empty()


def test_the_client_hears_of_new_tools_when_the_next_engine_is_another_version(paths: Paths) -> None:
    with FakeEngine(paths, "1.0") as first, Bench(paths, call_wait_s=WAIT_S) as bench:
        bench.open()
        first.next_message("notifications/initialized")
        first.server.stop()
        with FakeEngine(paths, "2.0"):
            assert bench.next() == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
            assert bench.next() == {"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"}
            bench.close_input()
            assert bench.wait() == 0


def test_a_client_of_the_newer_era_needs_no_replay(paths: Paths) -> None:
    with FakeEngine(paths) as first, Bench(paths, call_wait_s=WAIT_S) as bench:
        bench.ask(1, "server/discover", ENVELOPE)
        first.server.stop()
        with FakeEngine(paths) as second:
            assert result(bench.ask(2, "tools/call", {"arguments": {}, **ENVELOPE}))["echo"] == {}
            assert second.received.get(timeout=WAIT_S)["method"] == "tools/call"
            bench.close_input()
            assert bench.wait() == 0


def test_a_call_in_progress_is_answered_with_call_again_and_a_list_is_asked_again(paths: Paths) -> None:
    with FakeEngine(paths) as first, Bench(paths, call_wait_s=WAIT_S) as bench:
        bench.open()
        first.withheld |= {"tools/call", "tools/list"}
        bench.send({"id": 1, "method": "tools/call"})
        bench.send({"id": 2, "method": "tools/list"})
        first.next_message("tools/list")
        first.server.stop()
        assert error_text(bench.next()) == "Backscroll restarted while this call was running. Call again."
        with FakeEngine(paths, "1.0"):
            reply = bench.next()
            assert (reply["id"], result(reply)["version"]) == (2, "1.0")
            bench.close_input()
            assert bench.wait() == 0
            assert bench.lines.empty()


def test_the_librarys_own_words_for_a_stopping_server_become_call_again(paths: Paths) -> None:
    with FakeEngine(paths) as engine, Bench(paths, call_wait_s=WAIT_S) as bench:
        engine.withheld |= {"tools/call"}
        bench.send({"id": 1, "method": "tools/call"})
        engine.next_message("tools/call")
        engine.next_session().send(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Connection closed"}}')
        assert error_text(bench.next()) == "Backscroll restarted while this call was running. Call again."


def test_a_stopping_engine_still_answers_what_it_has_while_new_calls_wait_for_the_next(paths: Paths) -> None:
    with FakeEngine(paths) as engine, Bench(paths, call_wait_s=WAIT_S) as bench:
        bench.open()
        engine.withheld |= {"tools/call"}
        engine.may_leave.clear()
        session = engine.next_session()
        bench.send({"id": 1, "method": "tools/call"})
        engine.next_message("tools/call")
        session.end_input()
        bench.send({"id": 2, "method": "tools/list"})
        assert result(bench.ask(3, "ping")) == {}  # answered by the relay itself: it knows that the engine is leaving
        session.send(b'{"jsonrpc":"2.0","id":1,"result":{"late":true}}')
        assert result(bench.next()) == {"late": True}
        engine.may_leave.set()
        assert bench.next()["id"] == 2


def test_an_engine_that_neither_takes_nor_ends_is_cut_off(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "LEAVE_S", 0.0)
    with FakeEngine(paths) as engine, Bench(paths, call_wait_s=WAIT_S) as bench:
        engine.may_leave.clear()
        engine.next_session().end_input()
        assert result(bench.ask(1, "tools/list"))["version"] == "1.0"
        engine.may_leave.set()


def test_a_reply_meant_for_an_engine_of_before_is_not_given_to_the_next(paths: Paths) -> None:
    with FakeEngine(paths) as first, Bench(paths, call_wait_s=WAIT_S) as bench:
        first.next_session().send(b'{"jsonrpc":"2.0","id":1,"method":"roots/list"}')
        bench.next()
        first.server.stop()
        with FakeEngine(paths) as second:
            second.next_session()
            bench.send({"id": 1, "result": {"roots": []}})
            assert result(bench.ask(5, "tools/list"))
            assert second.received.get(timeout=WAIT_S)["method"] == "tools/list"
            bench.close_input()
            assert bench.wait() == 0


def test_an_engine_that_went_is_looked_for_but_not_started_before_somebody_asks(paths: Paths) -> None:
    with FakeEngine(paths) as first, Bench(paths, call_wait_s=WAIT_S) as bench:
        bench.open()
        first.server.stop()
        assert result(bench.ask(1, "ping")) == {}
        with FakeEngine(paths) as second:
            second.next_session()
            assert not bench.starter.wanted.is_set()
        bench.send({"id": 2, "method": "tools/call"})
        assert bench.starter.wanted.wait(WAIT_S)
        bench.send({"method": "notifications/cancelled", "params": {"requestId": 2}})


# The end.


def test_closing_the_input_ends_it(bench: Bench) -> None:
    bench.close_input()
    assert bench.wait() == 0


def test_a_reply_on_its_way_is_still_delivered_after_the_input_has_closed(paths: Paths) -> None:
    with FakeEngine(paths) as engine, Bench(paths, call_wait_s=WAIT_S) as bench:
        engine.withheld |= {"tools/call"}
        session = engine.next_session()
        bench.send({"id": 1, "method": "tools/call"})
        bench.close_input()
        engine.next_message("tools/call")
        session.send(b'{"jsonrpc":"2.0","id":1,"result":{}}')
        assert bench.next() == {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert bench.wait() == 0


def test_a_reply_that_does_not_come_holds_the_end_up_for_a_while_only(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_module, "DRAIN_S", 0.05)
    with FakeEngine(paths) as engine, Bench(paths, call_wait_s=WAIT_S) as bench:
        engine.withheld |= {"tools/call", "subscriptions/listen"}
        bench.send({"id": 1, "method": "subscriptions/listen"})
        bench.send({"id": 2, "method": "tools/call"})
        bench.close_input()
        reply = bench.next()
        assert reply["id"] == 2
        assert "input was closed" in error_text(reply)
        assert bench.wait() == 0
        assert bench.lines.empty()


def test_an_open_subscription_does_not_hold_the_end_up(paths: Paths) -> None:
    with FakeEngine(paths) as engine, Bench(paths, call_wait_s=WAIT_S) as bench:
        engine.withheld |= {"subscriptions/listen"}
        bench.send({"id": 1, "method": "subscriptions/listen"})
        bench.close_input()
        assert bench.wait() == 0


def test_a_client_that_no_longer_reads_ends_it(paths: Paths) -> None:
    source, write_end = os.pipe()
    read_end, output = os.pipe()
    os.close(read_end)
    hello = Hello(type="hello", protocol=1, kind="mcp", version="9", pid=7, ppid=6, cwd="/")
    os.write(write_end, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    try:
        assert Relay(paths, hello, Starter(), output).run(source) == 0
    finally:
        os.close(write_end)
        join_relay_threads()
        os.close(source)
        os.close(output)


def test_it_ends_when_its_parent_has_gone(monkeypatch: pytest.MonkeyPatch, bench: Bench) -> None:
    assert result(bench.ask(1, "ping")) == {}
    monkeypatch.setattr(os, "getppid", lambda: 1)
    assert bench.wait() == 0
