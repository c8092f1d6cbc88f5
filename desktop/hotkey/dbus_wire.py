"""Values and messages of D-Bus as bytes, as far as the GlobalShortcuts portal needs them. Pure.

Qt's own binding cannot be used for it: from Python, QDBusArgument has no way to say the type `a(sa{sv})` of the one
argument that matters to the portal.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final, cast

CALL: Final = 1
REPLY: Final = 2
ERROR: Final = 3
SIGNAL: Final = 4

_FIXED: Final = {"y": "B", "b": "I", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d"}
_ALIGN: Final = {"y": 1, "g": 1, "v": 1, "n": 2, "q": 2, "x": 8, "t": 8, "d": 8, "(": 8, "{": 8}
"""Everything else is aligned to four bytes (D-Bus Specification, "Marshaling")."""
_FIELDS: Final = {"path": (1, "o"), "interface": (2, "s"), "member": (3, "s"), "reply_serial": (5, "u"),
                  "destination": (6, "s"), "sender": (7, "s"), "signature": (8, "g")}  # fmt: skip
_NAMES: Final = {code: name for name, (code, _) in _FIELDS.items()}

HEADER: Final = 16
"""Bytes from which the length of a message can be told."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A value that carries its type."""

    signature: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message."""

    kind: int
    serial: int = 0
    path: str = ""
    interface: str = ""
    member: str = ""
    destination: str = ""
    sender: str = ""
    reply_serial: int = 0
    signature: str = ""
    body: tuple[Any, ...] = ()


def encode(message: Message) -> bytes:
    """Return a message as bytes, little-endian."""
    body = _Writer()
    for kind, value in zip(split(message.signature), message.body, strict=True):
        body.put(kind, value)
    fields: list[tuple[int, Variant]] = []
    for name, (code, kind) in _FIELDS.items():
        value = getattr(message, name)
        if value:
            fields.append((code, Variant(kind, value)))
    head = _Writer()
    head.put("y", ord("l"))
    head.put("y", message.kind)
    head.put("y", 0)
    head.put("y", 1)
    head.put("u", len(body.data))
    head.put("u", message.serial)
    head.put("a(yv)", fields)
    head.pad(8)
    return bytes(head.data + body.data)


def length_of(data: bytes) -> int:
    """Return how many bytes the message has that begins here."""
    order = "<" if data[:1] == b"l" else ">"
    body, _, fields = struct.unpack_from(f"{order}III", data, 4)
    return HEADER + (fields + 7) // 8 * 8 + body


def decode(data: bytes) -> Message:
    """Return the message that bytes hold.

    Raises:
        ValueError: They are none.
    """
    try:
        reader = _Reader(data)
        fields = cast("list[tuple[int, Any]]", reader.get("yyyyuua(yv)")[-1])
        named: dict[str, Any] = {_NAMES[code]: value for code, value in fields if code in _NAMES}
        reader.pad(8)
        signature: str = named.get("signature", "")
        body = reader.get(signature)
        serial = struct.unpack_from(f"{reader.order}I", data, 8)[0]
        return Message(kind=data[1], serial=serial, body=tuple(body), **named)
    except (struct.error, IndexError, UnicodeDecodeError, KeyError) as error:
        raise ValueError("not a message of D-Bus") from error


def split(signature: str) -> list[str]:
    """Return the single complete types of a signature."""
    found: list[str] = []
    start = 0
    while start < len(signature):
        end = _end_of(signature, start)
        found.append(signature[start:end])
        start = end
    return found


def _end_of(signature: str, start: int) -> int:
    if signature[start] == "a":
        return _end_of(signature, start + 1)
    if signature[start] not in "({":
        return start + 1
    depth = 0
    for place in range(start, len(signature)):
        depth += (signature[place] in "({") - (signature[place] in ")}")
        if not depth:
            return place + 1
    raise IndexError("a bracket is not closed")


class _Writer:
    def __init__(self) -> None:
        self.data = bytearray()

    def pad(self, to: int) -> None:
        self.data += b"\0" * (-len(self.data) % to)

    def put(self, kind: str, value: Any) -> None:
        self.pad(_ALIGN.get(kind[0], 4))
        match kind[0]:
            case "s" | "o":
                text = str(value).encode()
                self.data += struct.pack("<I", len(text)) + text + b"\0"
            case "g":
                text = str(value).encode()
                self.data += bytes([len(text)]) + text + b"\0"
            case "v":
                self.put("g", value.signature)
                self.put(value.signature, value.value)
            case "a":
                self._array(kind[1:], value)
            case "(" | "{":
                for each, part in zip(split(kind[1:-1]), value, strict=True):
                    self.put(each, part)
            case _:
                self.data += struct.pack(f"<{_FIXED[kind[0]]}", value)

    def _array(self, kind: str, value: Any) -> None:
        place = len(self.data)
        self.data += b"\0\0\0\0"
        self.pad(_ALIGN.get(kind[0], 4))
        start = len(self.data)
        for each in value.items() if isinstance(value, dict) else value:  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - whatever the signature says
            self.put(kind, each)
        struct.pack_into("<I", self.data, place, len(self.data) - start)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self.order = "<" if data[:1] == b"l" else ">"

    def pad(self, to: int) -> None:
        self._at += -self._at % to

    def get(self, signature: str) -> list[Any]:
        return [self._one(kind) for kind in split(signature)]

    def _one(self, kind: str) -> Any:
        self.pad(_ALIGN.get(kind[0], 4))
        if kind[0] in "sog":
            return self._text(self._number("y" if kind[0] == "g" else "u"))
        if kind[0] == "v":
            return self._one(self._one("g"))
        if kind[0] == "a":
            return self._array(kind[1:])
        if kind[0] in "({":
            return tuple(self._one(each) for each in split(kind[1:-1]))
        value = self._number(kind[0])
        return bool(value) if kind[0] == "b" else value

    def _number(self, kind: str) -> Any:
        form = f"{self.order}{_FIXED[kind]}"
        (value,) = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return value

    def _text(self, length: int) -> str:
        text = self._data[self._at : self._at + length].decode()
        self._at += length + 1
        return text

    def _array(self, kind: str) -> Any:
        length = self._number("u")
        self.pad(_ALIGN.get(kind[0], 4))
        end = self._at + length
        if end > len(self._data):
            raise IndexError("an array is longer than its message")
        items: list[Any] = []
        while self._at < end:
            items.append(self._one(kind))
        return dict(items) if kind[0] == "{" else items
