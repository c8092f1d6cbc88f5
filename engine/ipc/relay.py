"""Relays newline-delimited JSON-RPC between a client's descriptors and whichever engine runs, across its restarts.

The heart of the shim (`engine/shim.py` is its shell). It reads as little of each message as it must, and stays when the
engine goes: lists are then answered from the catalogue file, calls wait for the next engine, and what was being
answered is answered with "call again". No request is ever left without a reply.

Threads: `shim-stdin` reads the client's lines, `shim-engine` keeps the connection and reads the engine's messages, and
the caller of `run` waits for the end.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Protocol

from engine.ipc import catalogue
from engine.ipc.handshake import HANDSHAKE_S, EngineRefused, enter
from engine.ipc.held import HeldRequests, Request
from engine.ipc.jsonrpc import (
    INVALID_REQUEST,
    TRY_AGAIN,
    error_reply,
    guess_id,
    notification,
    read_envelope,
    result_reply,
    with_id,
)
from engine.ipc.lines import LineWriter, TooLong, read_lines
from engine.ipc.owed import CANCELLED, OPENED, OPENING, Owed, cancelled_id
from engine.ipc.protocol import MAX_FRAME_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.core.paths import Paths
    from engine.ipc.channel import Channel
    from engine.ipc.jsonrpc import Envelope
    from engine.ipc.protocol import Hello, Welcome

MAX_LINE_BYTES = 32 * 1024 * 1024
"""Of Claude Code's messages. The largest sensible one saves a page of Knowledge, some megabytes."""
CALL_WAIT_S = 15.0
"""How long a call waits for an engine (interface, "Shim")."""
DRAIN_S = 5.0
"""After stdin has closed, how long replies are still waited for: a search may take three seconds on a cold model."""
PARENT_CHECK_S = 2.0
"""How often the parent is looked for. Its death usually closes stdin, but a child of its own may hold that open.
Polled, because Linux' death signal needs ctypes (2 MB) and comes when the *thread* that started us ends."""
LEAVE_S = 8.0
"""How long an engine that takes nothing any more may go on answering. Stopping takes it at most 6 s
(`engine.ipc.server`: `STOP_S` and `_CUT_S`)."""
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 5.0
"""Between attempts to reach an engine nobody is waiting for. A request ends the pause."""

REPLAY_ID = "backscroll-shim:initialize"
ENGINE_WENT = b'"message":"Connection closed"'
"""How the MCP library answers what it was doing when its server ends (2.3, `shared/jsonrpc_dispatcher.py`)."""
RESTARTED = "Backscroll restarted while this call was running. Call again."


class Starter(Protocol):
    """Brings an engine up (`Launcher`)."""

    def attempt(self) -> str | None:
        """Start an engine unless one is on its way, and return why it cannot be done once that is known."""
        ...

    def settled(self) -> None:
        """Hear that an engine answers."""
        ...


class Relay:
    """The relay of one session.

    Args:
        paths: The installation.
        hello: Who we are; sent to every engine.
        launcher: Starts an engine when there is none.
        output: Descriptor of the client's end.
        call_wait_s: How long a call waits for an engine.
        shipped: The catalogue file to answer from until an engine has written one.
    """

    def __init__(
        self,
        paths: Paths,
        hello: Hello,
        launcher: Starter,
        output: int,
        *,
        call_wait_s: float = CALL_WAIT_S,
        shipped: Path | None = None,
    ) -> None:
        self._call_wait_s = call_wait_s
        self._advice = f"Run `backscroll doctor`, or open the Backscroll app, then call again. Log: {paths.log_file}"
        self._paths = paths
        self._hello = hello
        self._launcher = launcher
        written = paths.catalogue_file(hello.get("toolset", "all"))
        self._catalogues = (written,) if shipped is None else (written, shipped)
        self._output = LineWriter(output)
        self._ended = threading.Event()
        self._crashed = False
        self._looked = threading.Event()
        """Set when the first attempt to reach an engine is over."""
        self._changed = threading.Condition()
        # What follows is only touched under `_changed`.
        self._channel: Channel | None = None
        """The engine, when it takes messages; set by `shim-engine` once nothing is held any more."""
        self._leaving: tuple[Channel, float] | None = None
        """An engine that takes nothing any more, and until when it may go on answering."""
        self._held = HeldRequests()
        self._owed = Owed()
        self._wanted_until = 0.0
        self._known_version: str | None = None
        """Of the engine whose tools the client knows."""

    def run(self, source: int) -> int:
        """Relay until the client closes `source` or its reading end, or the parent dies, and return the exit code."""
        parent = os.getppid()
        self._start("shim-engine", self._keep_connected)
        # An engine that runs is the better one to answer `initialize`; connecting takes some milliseconds.
        self._looked.wait(2 * HANDSHAKE_S)
        self._start("shim-stdin", lambda: self._read_client(source))
        while not self._ended.wait(PARENT_CHECK_S) and os.getppid() == parent:
            self._cut_leaving()
        with self._changed:
            if self._channel is not None:
                self._channel.shutdown()
        return 1 if self._crashed else 0

    def _start(self, name: str, body: Callable[[], None]) -> None:
        def guarded() -> None:
            try:
                body()
            except BaseException:
                # Without either thread the client would wait for ever: end, so that it sees us gone.
                self._crashed = True
                raise
            finally:
                self._ended.set()

        threading.Thread(target=guarded, name=name, daemon=True).start()

    # The client's side, all in `shim-stdin`.

    def _read_client(self, source: int) -> None:
        with contextlib.suppress(OSError):  # a stdin that cannot be read is one that has ended
            for line in read_lines(source, MAX_LINE_BYTES):
                if isinstance(line, TooLong):
                    text = f"This message has {line.size_bytes} bytes, at most {MAX_LINE_BYTES} are taken."
                    self._write(error_reply(guess_id(line.head, line.tail), INVALID_REQUEST, text))
                elif line:
                    self._from_client(line)
                del line  # which may be large, and the next one may be long in coming
        self._drain()

    def _from_client(self, line: bytes) -> None:
        envelope = read_envelope(line)
        if envelope.kind == "request" and envelope.id is not None:
            deadline = time.monotonic() + self._call_wait_s
            self._pass_request(Request(envelope.id, envelope, line, deadline))
        elif envelope.kind == "notification":
            self._pass_notification(envelope, line)
        elif envelope.kind == "reply":
            self._pass_reply(envelope, line)
        else:
            text = "This line is no JSON-RPC message with a text or a whole number for its id."
            self._write(error_reply(None, INVALID_REQUEST, text))

    def _pass_request(self, request: Request) -> None:
        while True:
            with self._changed:
                channel = self._channel
                if channel is not None:
                    self._owed.asked(request)
            if channel is None:
                if self._answer_alone(request) or self._hold(request):
                    return
            elif self._send(channel, request.line):
                return
            else:
                with self._changed:
                    if self._owed.settle(request.id) is None:
                        return  # `shim-engine` saw the end first and has dealt with it

    def _pass_notification(self, envelope: Envelope, line: bytes) -> None:
        with self._changed:
            if envelope.method == OPENED:
                self._owed.opened = line
            elif envelope.method == CANCELLED:
                identity = cancelled_id(line)
                if identity is not None:
                    self._owed.settle(identity)
                    self._held.remove(identity)
            channel = self._channel
        if channel is not None:
            self._send(channel, line)

    def _pass_reply(self, envelope: Envelope, line: bytes) -> None:
        with self._changed:
            if not self._owed.is_reply_to_engine(envelope.id):
                return
            channel = self._channel
        if channel is not None:
            self._send(channel, line)

    def _drain(self) -> None:
        """Wait for the replies the client still reads, though it has closed its end."""
        with self._changed:
            self._changed.wait_for(lambda: not self._held and not self._owed.awaited(), DRAIN_S)
            left = [*self._held.take_all(), *self._owed.awaited()]
            self._owed.end()
        for request in left:
            self._write(error_reply(request.id, TRY_AGAIN, "The input was closed before this call was answered."))

    # Without an engine, in either thread.

    def _answer_alone(self, request: Request) -> bool:
        """Answer what can be answered without an engine, and have one started; say whether that was an answer."""
        if request.envelope.method == "ping":
            # Sent by clients on a timer: it must not bring back an engine that the person has quit.
            self._write(result_reply(request.id, {}))
            return True
        answers = (catalogue.answer(file, request.envelope, request.line) for file in self._catalogues)
        found = next(filter(None, answers), None)
        with self._changed:
            self._wanted_until = time.monotonic() + self._call_wait_s
            self._changed.notify_all()
            if found is not None:
                self._known_version = found["version"]
                if request.envelope.method == OPENING:
                    self._owed.opening = request.line
        if found is not None:
            self._write(found["reply"])
        return found is not None

    def _hold(self, request: Request) -> bool:
        """Keep a request until an engine comes; false when one has come meanwhile."""
        with self._changed:
            if self._channel is not None:
                return False
            if self._held.add(request):
                self._changed.notify_all()
                return True
        self._write(error_reply(request.id, TRY_AGAIN, "Too many calls are waiting for Backscroll to start."))
        return True

    # The engine's side, all in `shim-engine`.

    def _keep_connected(self) -> None:
        pause_s = FIRST_PAUSE_S
        while not self._ended.is_set():
            try:
                channel, welcome = enter(self._paths, self._hello, time.monotonic() + HANDSHAKE_S)
            except EngineRefused as error:
                if error.refused["code"] != "engine_stopping":
                    self._give_up(f"{error.refused['message']} {error.refused['hint']}")
            except (FileNotFoundError, ConnectionRefusedError):
                self._launch()
            except (EOFError, OSError):
                pass  # somebody listens: busy, stopping, hanging or not ours; another engine would not get its place
            else:
                self._launcher.settled()
                self._attend(channel, welcome)
                pause_s = FIRST_PAUSE_S
            self._looked.set()
            self._refuse_late()
            pause_s = self._pause(pause_s)

    def _launch(self) -> None:
        with self._changed:
            wanted = bool(self._held) or time.monotonic() < self._wanted_until
        if not wanted:
            return
        failure = self._launcher.attempt()
        if failure is not None:
            self._give_up(f"Backscroll's engine did not start. {failure} {self._advice}")

    def _give_up(self, text: str) -> None:
        """Answer what is held, and stop hurrying until the next request."""
        _note(text)
        with self._changed:
            self._wanted_until = 0.0
            refused = self._held.take_all()
        self._refuse(refused, text)

    def _refuse_late(self) -> None:
        with self._changed:
            late = self._held.take_late(time.monotonic())
        self._refuse(late, f"Backscroll's engine did not answer within {self._call_wait_s:.0f} s. {self._advice}")

    def _refuse(self, requests: list[Request], text: str) -> None:
        for request in requests:
            self._write(error_reply(request.id, TRY_AGAIN, text))
        with self._changed:
            self._changed.notify_all()

    def _pause(self, pause_s: float) -> float:
        """Wait before the next attempt to connect and return how long to wait after that one."""
        with self._changed:
            if self._held or time.monotonic() < self._wanted_until:
                self._changed.wait(FIRST_PAUSE_S)
                return FIRST_PAUSE_S
            self._changed.wait(pause_s)
            return min(2 * pause_s, LONGEST_PAUSE_S)

    def _attend(self, channel: Channel, welcome: Welcome) -> None:
        """Serve one engine until it goes."""
        try:
            self._go_live(channel, welcome)
            self._looked.set()
            while True:
                self._from_engine(channel.receive(MAX_FRAME_BYTES))
        except (EOFError, OSError) as error:
            if not self._ended.is_set():  # then it was us
                _note("the engine has closed" if isinstance(error, EOFError) else f"the engine is gone: {error}")
        with self._changed:
            self._channel = self._leaving = None
            asked = self._owed.end()
        channel.close()
        for request in asked:
            if not request.line:
                self._write(error_reply(request.id, TRY_AGAIN, RESTARTED))
            elif not self._answer_alone(request):
                self._hold(request)
        with self._changed:
            self._changed.notify_all()

    def _go_live(self, channel: Channel, welcome: Welcome) -> None:
        """Bring an engine to where the client believes it is, then give it what was held."""
        with self._changed:
            opening, self._wanted_until = self._owed.opening, 0.0
            changed = self._known_version not in {None, welcome["version"]} and self._owed.opened is not None
            self._known_version = welcome["version"]
        deadline = time.monotonic() + self._call_wait_s
        if opening is not None:
            channel.send(with_id(opening, REPLAY_ID), deadline)
        opened_sent = False
        while True:
            with self._changed:
                request = self._held.take()
                opened = None if opened_sent else self._owed.opened
                if request is not None:
                    self._owed.asked(request)
                elif opened is None:
                    self._channel = channel
                    break
            if request is None:
                channel.send(opened or b"", deadline)
                opened_sent = True
            elif not self._send(channel, request.line):
                with self._changed:
                    if self._owed.settle(request.id) is not None:
                        self._held.put_back(request)
                raise ConnectionError("it went while it was told what had been held")
        if changed:
            for kind in ("tools", "prompts"):
                self._write(notification(f"notifications/{kind}/list_changed"))

    def _from_engine(self, frame: bytes) -> None:
        if b"\n" in frame:
            frame = frame.replace(b"\n", b" ")  # between two values of indented JSON; inside a text it cannot stand
        envelope = read_envelope(frame)
        if envelope.kind == "reply":
            self._reply(envelope, frame)
        elif envelope.kind == "invalid":
            _note(f"a message of {len(frame)} bytes that is no JSON-RPC was dropped")
        else:
            if envelope.kind == "request" and envelope.id is not None:
                with self._changed:
                    self._owed.asked_by_engine(envelope.id)
            self._write(frame)

    def _reply(self, envelope: Envelope, frame: bytes) -> None:
        if envelope.id == REPLAY_ID:
            if envelope.failed:
                _note("the engine refused the initialize of before")
            return
        if envelope.id is None:
            self._write(frame)  # about a message it could not read
            return
        with self._changed:
            request = self._owed.find(envelope.id)
        if request is None:
            return  # taken back, or answered by us
        if envelope.failed and ENGINE_WENT in frame:
            if request.line:
                return  # asked again as soon as the connection ends
            frame = error_reply(request.id, TRY_AGAIN, RESTARTED)
        self._write(frame)
        with self._changed:
            # After the writing: what is no longer awaited may end the process.
            self._owed.settle(envelope.id)
            if request.envelope.method == OPENING and not envelope.failed:
                self._owed.opening = request.line
            self._changed.notify_all()

    # Both sides.

    def _send(self, channel: Channel, line: bytes) -> bool:
        """Send to the engine and say whether it took that. If not, it is sent no more, and its end is awaited."""
        try:
            channel.send(line, time.monotonic() + self._call_wait_s)
        except OSError as error:
            with self._changed:
                if self._channel is channel:
                    self._channel = None
                    # A stopping engine still answers what it has; one that hangs would not.
                    patience_s = 0.0 if isinstance(error, TimeoutError) else LEAVE_S
                    self._leaving = (channel, time.monotonic() + patience_s)
            return False
        return True

    def _cut_leaving(self) -> None:
        with self._changed:
            if self._leaving is not None and time.monotonic() > self._leaving[1]:
                self._leaving[0].shutdown()

    def _write(self, message: bytes) -> None:
        """Write one line to the client. When it does not read any more, that is the end."""
        try:
            self._output.write(message)
        except OSError:
            self._ended.set()


def _note(text: str) -> None:
    """Say something on stderr, which Claude Code keeps with the server's log."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or none at all (Windows)
        sys.stderr.write(f"backscroll-mcp: {text}\n")
