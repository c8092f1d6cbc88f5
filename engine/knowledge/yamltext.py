"""A strict reader of small YAML texts: the YAML 1.2 core types, and a line number for every value.

PyYAML's own constructors follow YAML 1.1 (`no` is False, 2026-03-05 a date, 010 is 8), so values are built here from
its parser's events. Anchors, aliases, tags, duplicate keys and further documents are refused, which also ends every
"billion laughs" text before it grows (contract 3, point 31).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union, cast

import yaml

if TYPE_CHECKING:
    from yaml.error import Mark

YamlValue = Union[None, bool, int, float, str, list["YamlValue"], dict[str, "YamlValue"]]  # noqa: UP007 - recursive, so read at run time

MAX_YAML_BYTES = 65_536
"""Front matter, descriptors and the ontology (contract 3, point 31)."""

_MAX_DEPTH = 24
_MAX_DIGITS = 64
"""Longer numbers are no number anybody wrote; Python itself refuses 4,300 digits with a bare ValueError."""

_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | float | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    ".nan": float("nan"),
    ".NaN": float("nan"),
    ".NAN": float("nan"),
    **{f"{sign}{name}": float("inf") for sign in ("", "+") for name in (".inf", ".Inf", ".INF")},
    **{f"-{name}": float("-inf") for name in (".inf", ".Inf", ".INF")},
}
_NUMBER_STARTS = frozenset("+-.0123456789")


class YamlRefused(ValueError):
    """The text is not YAML this reader accepts."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        """One-based line in the text handed in."""
        self.problem = problem


@dataclass(frozen=True, slots=True)
class KeySpan:
    """Where a top-level key and its value stand: whole lines, zero-based, `stop` exclusive."""

    start: int
    stop: int
    column: int
    """Column of the key."""
    value_end: int | None
    """Column after the value on the key's own line, when the value ends there."""


@dataclass(frozen=True, slots=True)
class YamlText:
    """A mapping read from a text."""

    values: dict[str, YamlValue]
    lines: dict[str, int]
    """One-based line of each value, by dotted path ("evidence.0.quote")."""
    spans: dict[str, KeySpan]
    block: bool
    """The top mapping is written in block style, so that single keys can be replaced line by line."""


def resolve_plain(text: str) -> YamlValue:  # noqa: PLR0911 - one return for each type of the schema
    """Return what a plain scalar means in the YAML 1.2 core schema.

    Raises:
        ValueError: A number of absurd length.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    if len(text) > _MAX_DIGITS and (_INT.fullmatch(text) or _FLOAT.fullmatch(text)):
        raise ValueError("number with too many digits")
    if _INT.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text, 0)
    if _HEX.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def read_mapping(text: str) -> YamlText:
    """Read one YAML mapping.

    Raises:
        YamlRefused: Not YAML, not a mapping, or one of the refused features, with its line.
    """
    if len(text) > MAX_YAML_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_YAML_BYTES:
        raise YamlRefused(1, f"more than {MAX_YAML_BYTES} bytes of YAML")
    try:
        return _Reader(text).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlRefused(mark.line + 1 if mark else 1, error.problem or "not YAML") from error
    except yaml.YAMLError as error:
        # The C reader's own errors (control characters) carry a position but no line.
        raise YamlRefused(_line_of_control_character(text), "a character YAML does not allow") from error


class _Reader:
    def __init__(self, text: str) -> None:
        self._parser = yaml.CSafeLoader(text)
        self._lines: dict[str, int] = {}
        self._spans: dict[str, KeySpan] = {}
        self._last_line = 0
        """Line on which the last leaf ended; a block collection's own end mark lies behind trailing comments."""
        self._last_column = 0

    def document(self) -> YamlText:
        self._next()
        start = self._next()
        if isinstance(start, yaml.StreamEndEvent):
            return YamlText({}, {}, {}, block=True)
        if isinstance(start, yaml.DocumentStartEvent) and (start.explicit or start.version or start.tags):
            raise YamlRefused(_start(start).line + 1, "directives and further documents are not allowed")
        top = self._next()
        if not isinstance(top, yaml.MappingStartEvent):
            raise YamlRefused(_start(top).line + 1, "the block must be a mapping of keys")
        values = self._mapping("", 1)
        self._next()
        after = self._next()
        if not isinstance(after, yaml.StreamEndEvent):
            raise YamlRefused(_start(after).line + 1, "only one document is allowed")
        return YamlText(values, self._lines, self._spans, block=not top.flow_style)

    def _next(self) -> yaml.Event:
        event = cast("yaml.Event", self._parser.get_event())
        if isinstance(event, yaml.NodeEvent):
            line = _start(event).line + 1
            if event.anchor is not None:
                raise YamlRefused(line, "anchors and aliases are not allowed")
            if getattr(event, "tag", None) is not None:
                raise YamlRefused(line, "tags are not allowed")
        return event

    def _value(self, event: yaml.Event, path: str, depth: int) -> YamlValue:
        self._lines[path] = _start(event).line + 1
        if depth > _MAX_DEPTH:
            raise YamlRefused(_start(event).line + 1, "nested too deeply")
        if isinstance(event, yaml.ScalarEvent):
            self._ended(event)
            if not event.implicit[0]:
                return event.value
            try:
                return resolve_plain(event.value)
            except ValueError as error:
                raise YamlRefused(_start(event).line + 1, str(error)) from error
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path, depth + 1)
        return self._sequence(path, depth + 1)

    def _sequence(self, path: str, depth: int) -> list[YamlValue]:
        items: list[YamlValue] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._value(event, f"{path}.{len(items)}", depth))
        self._ended(event)
        return items

    def _mapping(self, path: str, depth: int) -> dict[str, YamlValue]:
        values: dict[str, YamlValue] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            line = _start(event).line
            if not isinstance(event, yaml.ScalarEvent):
                raise YamlRefused(line + 1, "a key must be a word")
            key = event.value
            if key in values:
                raise YamlRefused(line + 1, f'the key "{key[:60]}" stands twice')
            self._ended(event)
            value = self._next()
            inner = f"{path}.{key}" if path else key
            values[key] = self._value(value, inner, depth)
            self._lines[inner] = line + 1
            if not path:
                same_line = self._last_line == line
                column = _start(event).column
                self._spans[key] = KeySpan(line, self._last_line + 1, column, self._last_column if same_line else None)
        self._ended(event)
        return values

    def _ended(self, event: yaml.Event) -> None:
        """Remember where text of a value ended: scalars and closing brackets, never the end of a block collection."""
        mark = _end(event)
        if not isinstance(event, yaml.ScalarEvent) and mark.index == _start(event).index:
            return
        if mark.column == 0 and mark.line > _start(event).line:
            # A literal block ends at the start of the line behind it.
            self._last_line, self._last_column = mark.line - 1, 0
        else:
            self._last_line, self._last_column = mark.line, mark.column


def _start(event: yaml.Event) -> Mark:
    return cast("Mark", event.start_mark)


def _end(event: yaml.Event) -> Mark:
    return cast("Mark", event.end_mark)


def _line_of_control_character(text: str) -> int:
    for number, line in enumerate(text.split("\n"), start=1):
        if any((ch < " " and ch not in "\t\r") or "\x7f" <= ch <= "\x9f" or ch in "\ufffe\uffff" for ch in line):
            return number
    return 1
