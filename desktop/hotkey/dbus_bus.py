"""A connection to the session bus, read when something has come: calls with a callback for their reply, and signals."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QObject, QSocketNotifier, Signal

from desktop.hotkey.dbus_wire import CALL, ERROR, HEADER, REPLY, SIGNAL, Message, decode, encode, length_of

if TYPE_CHECKING:
    from collections.abc import Callable

CONNECT_S: Final = 2.0
BUS: Final = "org.freedesktop.DBus"
MAX_MESSAGE: Final = 1 << 20
"""What we are sent is a few hundred bytes; more than this is nothing of ours."""


class NoBus(Exception):
    """There is no session bus, or it does not want us."""


class SessionBus(QObject):
    """One connection.

    Args:
        address: `DBUS_SESSION_BUS_ADDRESS`.

    Raises:
        NoBus: It cannot be reached.
    """

    signalled = Signal(object)
    """A `Message` of kind `SIGNAL` that a match lets through."""
    called = Signal(object)
    """A `Message` of kind `CALL` for us."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._serial = 0
        self._waiting: dict[int, Callable[[Message], None]] = {}
        self._data = b""
        try:
            self._socket = _connected(address)
        except (OSError, ValueError) as error:
            raise NoBus(str(error)) from error
        self._socket.setblocking(False)
        self._notifier = QSocketNotifier(self._socket.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._read)
        self.name = ""
        self.call(BUS, "/org/freedesktop/DBus", BUS, "Hello", then=self._welcomed)

    def call(  # noqa: PLR0917 - the parts of a call in the order D-Bus names them everywhere
        self,
        destination: str,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        body: tuple[Any, ...] = (),
        *,
        then: Callable[[Message], None] | None = None,
    ) -> None:
        """Call a method; `then` gets the reply, which may be of kind `ERROR`."""
        self._serial += 1
        if then is not None:
            self._waiting[self._serial] = then
        self.send(
            Message(
                kind=CALL, serial=self._serial, destination=destination, path=path, interface=interface, member=member,
                signature=signature, body=body,
            )
        )  # fmt: skip

    def answer(self, asked: Message, signature: str = "", body: tuple[Any, ...] = ()) -> None:
        """Reply to a call."""
        self._serial += 1
        self.send(
            Message(
                kind=REPLY, serial=self._serial, destination=asked.sender, reply_serial=asked.serial,
                signature=signature, body=body,
            )
        )  # fmt: skip

    def signal(self, path: str, interface: str, member: str, signature: str, body: tuple[Any, ...]) -> None:
        """Emit a signal."""
        self._serial += 1
        self.send(
            Message(
                kind=SIGNAL, serial=self._serial, path=path, interface=interface, member=member, signature=signature,
                body=body,
            )
        )  # fmt: skip

    def match(self, rule: str) -> None:
        """Let signals through that fit a rule."""
        self.call(BUS, "/org/freedesktop/DBus", BUS, "AddMatch", "s", (rule,))

    def close(self) -> None:
        """End the connection. Idempotent."""
        self._notifier.setEnabled(False)
        self._socket.close()

    def send(self, message: Message) -> None:
        """Send a message; one that cannot be sent is lost like the bus itself."""
        try:
            self._socket.sendall(encode(message))
        except OSError:
            self._notifier.setEnabled(False)

    def _welcomed(self, reply: Message) -> None:
        if reply.kind == REPLY:
            self.name = str(reply.body[0])

    def _read(self) -> None:
        try:
            data = self._socket.recv(65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._notifier.setEnabled(False)  # the session is ending
            return
        self._data += data
        while len(self._data) >= HEADER:
            length = length_of(self._data)
            if length > MAX_MESSAGE:
                self._notifier.setEnabled(False)
                return
            if len(self._data) < length:
                return
            message, self._data = decode(self._data[:length]), self._data[length:]
            self._take(message)

    def _take(self, message: Message) -> None:
        if message.kind in (REPLY, ERROR):
            then = self._waiting.pop(message.reply_serial, None)
            if then is not None:
                then(message)
        elif message.kind == SIGNAL:
            self.signalled.emit(message)
        else:
            self.called.emit(message)


def _connected(address: str) -> socket.socket:
    for each in address.split(";"):
        transport, _, rest = each.partition(":")
        keys: dict[str, str] = {}
        for part in rest.split(","):
            name, _, value = part.partition("=")
            keys[name] = value
        place = keys.get("path") or ("\0" + keys["abstract"] if "abstract" in keys else "")
        if transport == "unix" and place:
            return _opened(place)
    raise ValueError(f"no address of the session bus in {address!r}")


def _opened(place: str) -> socket.socket:
    if sys.platform == "win32":
        raise OSError("Windows has no such sockets")
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.settimeout(CONNECT_S)
        made.connect(place)
        _authenticate(made)
    except BaseException:
        made.close()
        raise
    return made


def _authenticate(channel: socket.socket) -> None:
    """Prove who we are: the kernel tells the bus our user (D-Bus Specification, "EXTERNAL")."""
    if sys.platform == "win32":
        raise OSError("Windows has no such users")
    channel.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
    said = b""
    while not said.endswith(b"\r\n"):
        piece = channel.recv(1024)
        if not piece:
            raise ValueError("the session bus closed the connection")
        said += piece
    if not said.startswith(b"OK "):
        raise ValueError("the session bus does not want us")
    channel.sendall(b"BEGIN\r\n")
