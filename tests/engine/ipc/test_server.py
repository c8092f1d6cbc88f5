from __future__ import annotations

import contextlib
import os
import queue
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

import psutil
import pytest

from engine.core.errors import EngineNotRunning, EngineStopping, NotFound
from engine.ipc import server as server_module
from engine.ipc.address import read_key
from engine.ipc.channel import open_channel
from engine.ipc.client import EngineClient, InternalError
from engine.ipc.handshake import EngineRefused, enter, prove
from engine.ipc.protocol import MAX_FRAME_BYTES, Hello, encode
from engine.ipc.server import IpcServer
from engine.store.errors import StoreFull

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from engine.core.paths import Paths
    from engine.ipc.calls import Progress
    from engine.ipc.channel import Channel
    from engine.ipc.protocol import JsonObject, JsonValue
    from engine.ipc.session import Client, Session

WAIT_S = 60.0


def hello(**changes: object) -> Hello:
    fields = {"type": "hello", "protocol": 1, "kind": "mcp", "version": "9", "pid": 7, "ppid": 6, "cwd": "/here"}
    return Hello(**{**fields, **changes})  # type: ignore[typeddict-item]  # pyright: ignore[reportArgumentType] - tests send what is wrong, too


def soon() -> float:
    return time.monotonic() + WAIT_S


class Host:
    """A server whose sessions echo, and whose calls do what their method names."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.sessions: queue.Queue[Session] = queue.Queue()
        self.ended: queue.Queue[int] = queue.Queue()
        self.started = threading.Event()
        self.cancelled = threading.Event()
        self.release = threading.Event()
        self.server = IpcServer(paths, version="1.0", on_session=self._echo, on_call=self._call, state=lambda: "ready")

    def __enter__(self) -> Self:
        self.server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release.set()
        assert self.server.stop(WAIT_S) == ()

    def connect(self, **changes: object) -> Channel:
        return enter(self.paths, hello(**changes), soon())[0]

    def client(self, *, events: bool = False) -> EngineClient:
        return EngineClient.connect(self.paths, version="9", events=events)

    def _echo(self, session: Session) -> None:
        self.sessions.put(session)
        while (frame := session.receive()) is not None:
            if frame == b"fail":
                raise RuntimeError("a defect")
            if frame == b"hang":
                self.started.set()
                self.release.wait()
            session.send(frame)
        self.ended.put(session.client.number)

    def _call(
        self, client: Client, method: str, arguments: JsonObject, progress: Progress, cancelled: threading.Event
    ) -> JsonValue:
        match method:
            case "echo":
                return {"arguments": arguments, "from": client.pid}
            case "count":
                for number in range(3):
                    progress(number, 3, f"step {number}")
                return 3
            case "missing":
                raise NotFound("No such session", "m", "h", candidates=("abc", "abd"))
            case "full":
                raise StoreFull("The disk is full", "m", "h", candidates=("abc",))
            case "defect":
                raise RuntimeError("secret text of the person")
            case "unwritable":
                return {"value": object()}  # type: ignore[dict-item]  # pyright: ignore[reportReturnType] - a handler's defect
            case "huge":
                return "x" * (MAX_FRAME_BYTES + 1)
            case _:
                self.started.set()
                cancelled.wait(WAIT_S)
                self.cancelled.set()
                raise TimeoutError("interrupted")


@pytest.fixture
def host(paths: Paths) -> Iterator[Host]:
    with Host(paths) as host:
        yield host


@contextlib.contextmanager
def many(count: int, make: Callable[[], Channel]) -> Generator[list[Channel]]:
    channels = [make() for _ in range(count)]
    try:
        yield channels
    finally:
        for channel in channels:
            channel.close()


def exchange(channel: Channel, message: bytes = b"ping") -> bytes:
    channel.send(message)
    return channel.receive(MAX_FRAME_BYTES, soon())


def test_a_client_is_welcomed_and_its_messages_reach_the_session(host: Host) -> None:
    channel, welcome = enter(host.paths, hello(session_id="s1", toolset="recall", cwd="/odd \udcff"), soon())
    assert welcome == {"type": "welcome", "version": "1.0", "pid": os.getpid(), "state": "ready"}
    assert exchange(channel, b'{"any":"bytes"}') == b'{"any":"bytes"}'
    client = host.sessions.get(timeout=WAIT_S).client
    assert (client.session_id, client.toolset, client.cwd, client.kind) == ("s1", "recall", "/odd \udcff", "mcp")
    assert host.server.clients() == (client,)
    channel.close()
    assert host.ended.get(timeout=WAIT_S) == client.number


def test_starting_and_stopping_may_be_repeated(paths: Paths) -> None:
    host = Host(paths)
    for _ in range(3):
        host.server.start()
        host.server.start()
        with many(1, host.connect) as (channel,):
            assert exchange(channel) == b"ping"
        assert host.server.stop() == ()
        assert host.server.stop() == ()
        with pytest.raises(EngineNotRunning):
            host.client()


def test_opening_and_closing_leaves_no_thread_and_no_descriptor(paths: Paths) -> None:
    process = psutil.Process()
    count = process.num_fds if sys.platform != "win32" else process.num_handles
    with Host(paths) as host, many(2, host.connect):
        pass
    before = (threading.active_count(), count())
    for _ in range(50):
        with Host(paths) as host, many(2, host.connect) as channels:
            exchange(channels[0])
    assert (threading.active_count(), count()) == before


def test_a_client_with_another_key_does_not_get_in(host: Host) -> None:
    channel = open_channel(host.paths, soon())
    with pytest.raises(EOFError):
        prove(channel, b"x" * 32, soon())
    channel.close()
    assert host.server.clients() == ()


def test_an_old_client_is_told_to_restart(host: Host) -> None:
    with pytest.raises(EngineRefused) as refusal:
        host.connect(protocol=99)
    assert refusal.value.refused["code"] == "other_version"
    assert "Restart" in refusal.value.refused["hint"]


@pytest.mark.parametrize("changes", [{"kind": "other"}, {"pid": None}, {"cwd": "x" * 100_000}])
def test_a_hello_that_is_not_as_agreed_ends_the_connection_and_nothing_else(
    host: Host, changes: dict[str, object]
) -> None:
    with pytest.raises((EOFError, ConnectionError)):
        host.connect(**changes)
    with many(1, host.connect) as (channel,):
        assert exchange(channel) == b"ping"


def test_a_client_beyond_the_limit_is_told_why(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "MAX_SESSIONS", 3)
    with many(3, host.connect):
        with pytest.raises(EngineRefused) as refusal:
            host.connect()
        assert refusal.value.refused["code"] == "too_many_clients"


@pytest.mark.skipif(sys.platform == "win32", reason="bytes below the messages of a pipe cannot be sent")
class TestHostileBytes:
    """What reaches the socket from programs that do not speak the protocol, or stop in the middle of it."""

    GARBAGE = (
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff" * 4096,
        b"\0" * 4096,
        struct.pack("!I", 64) + b"x" * 64,
        struct.pack("!I", 2**31 - 1) + b"x" * 100,
        struct.pack("!I", 50) + b"half",
        b"\0\0",
        b"",
    )

    @staticmethod
    def raw(host: Host) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(os.fspath(host.paths.socket_file))
        connection.settimeout(WAIT_S)
        return connection

    def test_silent_clients_do_not_delay_a_good_one(self, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
        # No deadline can help here: only serving connections side by side does.
        monkeypatch.setattr(server_module, "HANDSHAKE_S", 60.0)
        with contextlib.ExitStack() as silent:
            for _ in range(50):
                silent.enter_context(self.raw(host))
            with many(1, host.connect) as (channel,):
                assert exchange(channel) == b"ping"

    def test_silent_clients_beyond_the_limit_make_room_for_new_ones(
        self, host: Host, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server_module, "HANDSHAKE_S", 60.0)
        monkeypatch.setattr(server_module, "MAX_WAITING", 4)
        with contextlib.ExitStack() as silent:
            first = silent.enter_context(self.raw(host))
            for _ in range(7):
                silent.enter_context(self.raw(host))
            with many(1, host.connect) as (channel,):
                assert exchange(channel) == b"ping"
            while first.recv(4096):  # its greeting, then the end: it was the oldest
                continue

    def test_a_silent_client_is_let_go_after_its_time(self, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(server_module, "HANDSHAKE_S", 0.05)
        with self.raw(host) as silent:
            heard = b"".join(iter(lambda: silent.recv(4096), b""))
            assert heard, "it is greeted before it is let go"
            assert silent.recv(1) == b""

    def test_a_thousand_connections_of_garbage_harm_nobody(self, host: Host) -> None:
        with many(1, host.connect) as (good,):
            assert exchange(good) == b"ping"
            memory = psutil.Process().memory_info().rss
            for number in range(1000):
                with self.raw(host) as connection, contextlib.suppress(OSError):
                    connection.sendall(self.GARBAGE[number % len(self.GARBAGE)])
            assert exchange(good) == b"ping"
            with many(1, host.connect) as (another,):
                assert exchange(another) == b"ping"
            assert psutil.Process().memory_info().rss - memory < 50_000_000
            threads = [thread for thread in threading.enumerate() if thread.name.startswith("engine-conn")]
            assert len(threads) <= server_module.MAX_WAITING + 4

    @pytest.mark.parametrize("bytes_sent", [struct.pack("!I", MAX_FRAME_BYTES + 1), struct.pack("!I", 99) + b"half"])
    def test_a_client_that_breaks_off_after_the_hello_ends_alone(self, host: Host, bytes_sent: bytes) -> None:
        from engine.ipc.socket_channel import SocketChannel

        connection = self.raw(host)
        channel = SocketChannel(connection)
        prove(channel, read_key(host.paths), soon())
        channel.send(encode(hello()))
        assert b"welcome" in channel.receive(1000, soon())
        connection.sendall(bytes_sent)
        connection.shutdown(socket.SHUT_WR)
        with many(1, host.connect) as (good,):
            assert exchange(good) == b"ping"
        assert host.ended.get(timeout=WAIT_S)
        channel.close()


@pytest.mark.expect_log("Connection 1 failed")
def test_a_defect_in_a_session_ends_that_session_alone(host: Host) -> None:
    with many(2, host.connect) as (bad, good):
        bad.send(b"fail")
        with pytest.raises(EOFError):
            bad.receive(100, soon())
        assert exchange(good) == b"ping"


def test_stopping_ends_every_connection_cleanly(host: Host) -> None:
    with many(3, host.connect) as channels:
        for channel in channels:
            assert exchange(channel) == b"ping"
        assert host.server.stop() == ()
        for channel in channels:
            with pytest.raises(EOFError):
                channel.receive(100, soon())


@pytest.mark.expect_log("have not ended: engine-conn-1")
def test_stopping_names_the_thread_that_is_late_and_cuts_its_connection(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_CUT_S", 0.05)
    with many(1, host.connect) as (channel,):
        channel.send(b"hang")
        assert host.started.wait(WAIT_S)
        assert host.server.stop(0.05) == ("engine-conn-1",)
        with pytest.raises(EOFError):
            channel.receive(100, soon())
        host.release.set()
        assert host.ended.get(timeout=WAIT_S) == 1


def test_a_call_is_answered_with_progress_on_the_way(host: Host) -> None:
    told: list[tuple[float, float | None, str]] = []

    def tell(done: float, total: float | None, text: str) -> None:
        told.append((done, total, text))

    with host.client() as client:
        assert client.welcome["state"] == "ready"
        assert client.call("echo", {"q": "a\ud800"}) == {"arguments": {"q": "a\ud800"}, "from": os.getpid()}
        assert client.call("count", on_progress=tell) == 3
    assert told == [(0, 3, "step 0"), (1, 3, "step 1"), (2, 3, "step 2")]


def test_an_error_for_someone_arrives_as_it_was_raised(host: Host) -> None:
    with host.client() as client, pytest.raises(NotFound) as raised:
        client.call("missing")
    error = raised.value
    assert (error.title, error.message, error.hint, error.candidates) == ("No such session", "m", "h", ("abc", "abd"))


def test_an_error_keeps_its_code_where_its_class_is_not_loaded(host: Host) -> None:
    code = """
import sys
from engine.core.paths import Paths
from engine.ipc.client import EngineClient
from engine.core.errors import EngineError
for _ in range(2):
    try:
        with EngineClient.connect(Paths.below(sys.argv[1]), version="1") as client:
            client.call("full")
    except EngineError as error:
        print(error.code, error.title, error.message, error.hint, error.candidates)
print("engine.store.errors" in sys.modules)
"""
    told = subprocess.run(
        [sys.executable, "-c", code, str(host.paths.home)],
        capture_output=True,
        encoding="utf-8",
        cwd=Path(__file__).parents[3],
        check=True,
    )
    said = "disk_full The disk is full m h ('abc',)"
    assert told.stdout.splitlines() == [said, said, "False"]


@pytest.mark.expect_log("Call (defect|unwritable|1)")
@pytest.mark.parametrize("method", ["defect", "unwritable", "huge"])
def test_a_defect_is_logged_and_the_caller_hears_no_more_than_that(
    host: Host, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    with host.client() as client:
        with pytest.raises(InternalError) as raised:
            client.call(method)
        assert "secret" not in str(raised.value)
        assert client.call("echo") is not None
    assert any(record.exc_info for record in caplog.records)


def test_a_call_is_cancelled_when_its_caller_goes(host: Host) -> None:
    client = host.client()
    ended: list[BaseException] = []

    def ask() -> None:
        try:
            client.call("wait")
        except EngineStopping as error:
            ended.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert host.started.wait(WAIT_S)
    client.close()
    thread.join(WAIT_S)
    assert len(ended) == 1
    assert host.cancelled.wait(WAIT_S)


def test_a_call_in_progress_hears_that_the_engine_stops(host: Host) -> None:
    with host.client() as client:
        ended: list[BaseException] = []

        def ask() -> None:
            try:
                client.call("wait")
            except EngineStopping as error:
                ended.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        assert host.started.wait(WAIT_S)
        assert host.server.stop() == ()
        thread.join(WAIT_S)
        assert [str(error) for error in ended] == ["Backscroll is stopping. This call was not finished. Try again."]


def test_cancelling_a_call_sets_its_event_and_frees_the_connection(host: Host) -> None:
    with many(1, lambda: host.connect(kind="api")) as (channel,):
        channel.send(b'{"type":"call","id":1,"method":"wait","arguments":{}}')
        assert host.started.wait(WAIT_S)
        channel.send(b'{"type":"cancel","id":1}')
        channel.send(b'{"type":"cancel","id":99}')
        assert b'"code":"cancelled"' in channel.receive(MAX_FRAME_BYTES, soon())
        assert b'"type":"result"' in exchange(channel, b'{"type":"call","id":2,"method":"echo","arguments":{}}')


def test_calls_of_one_connection_run_side_by_side_up_to_a_limit(host: Host) -> None:
    with many(1, lambda: host.connect(kind="api")) as (channel,):
        for number in range(8):
            channel.send(b'{"type":"call","id":%d,"method":"wait","arguments":{}}' % number)
        assert b"Too many calls" in exchange(channel, b'{"type":"call","id":8,"method":"echo","arguments":{}}')


@pytest.mark.parametrize("frame", [b"no json", b'{"type":"call","id":1}', b"[]"])
def test_an_api_client_that_does_not_keep_to_the_protocol_is_dropped(host: Host, frame: bytes) -> None:
    with many(1, lambda: host.connect(kind="api")) as (channel,):
        channel.send(frame)
        with pytest.raises(EOFError):
            channel.receive(100, soon())


def test_events_reach_those_who_asked_for_them(host: Host) -> None:
    with host.client(events=True) as listening, host.client() as other:
        assert listening.next_event(0.01) is None
        host.server.publish("status", {"backlog": 3})
        assert listening.next_event(WAIT_S) == {"type": "event", "name": "status", "value": {"backlog": 3}}
        host.server.publish("status", 4)
        seen: list[object] = []
        assert listening.call("echo", on_event=seen.append) is not None
        assert len(seen) == 1
        assert other.call("echo") is not None


def test_waiting_for_events_ends_with_the_engine(host: Host) -> None:
    with host.client(events=True) as client:
        assert host.server.stop() == ()
        with pytest.raises(EngineStopping):
            client.next_event(WAIT_S)


def test_without_an_engine_the_client_says_how_to_start_one(paths: Paths) -> None:
    with pytest.raises(EngineNotRunning, match="backscroll serve"):
        EngineClient.connect(paths, version="1")


def test_an_engine_that_says_nothing_is_not_waited_for_for_ever(host: Host) -> None:
    # The key is another one: the engine hangs up each time, and the client asks again until its time is over.
    assert len(read_key(host.paths)) == 32
    host.paths.key_file.write_bytes(b"y" * 32)
    with pytest.raises(EngineNotRunning, match="said nothing"):
        EngineClient.connect(host.paths, version="1", timeout_s=0.1)


def test_a_refused_client_raises_what_the_engine_said(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "MAX_SESSIONS", 0)
    with pytest.raises(Exception, match="Close Claude Code sessions"):
        host.client()
