"""Changes one place of another program's JSON file in its text and leaves every other byte as it was.

Parsing and dumping the whole would rewrite numbers, escapes and spacing that are not ours. So each function finds where
a value stands, edits the text there in the style of its surroundings, and checks that the result parses to exactly the
old content with that one change.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

_SPACE = " \t\n\r"
_DECODER = json.JSONDecoder()

Path = tuple[str, ...]
"""Object keys from the top to the place meant."""


class UnexpectedJson(ValueError):
    """The text is no JSON, or something else stands where an object or a list must be."""


@dataclass(frozen=True, slots=True)
class _Item:
    """A member of an object or an element of a list, in the text."""

    start: int
    """Where the key (or the element) begins."""
    value: int
    end: int
    key: str | None = None


@dataclass(frozen=True, slots=True)
class _Container:
    """An object or a list, in the text."""

    start: int
    end: int
    """After the closing bracket."""
    items: tuple[_Item, ...]


def parse(text: str) -> dict[str, Any]:
    """Return the object a JSON text holds.

    Raises:
        UnexpectedJson: It is no JSON (comments and trailing commas included), or no object.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise UnexpectedJson(str(error)) from error
    if not isinstance(value, dict):
        raise UnexpectedJson("its top level is not an object")
    return cast("dict[str, Any]", value)


def look_up(document: dict[str, Any], path: Path) -> Any:
    """Return the value at a path, or None where nothing stands.

    Raises:
        UnexpectedJson: A step on the way is no object.
    """
    node: Any = document
    for depth, key in enumerate(path):
        if not isinstance(node, dict):
            raise UnexpectedJson(f"{'.'.join(path[:depth])} is not an object")
        node = cast("dict[str, Any]", node).get(key)
        if node is None:
            return None
    return node


def set_value(text: str, path: Path, value: Any) -> str:
    """Return the text with the value at the path set, the objects on the way made where missing.

    Raises:
        UnexpectedJson: The text cannot be understood, or a step on the way is no object.
    """
    document = parse(text)
    container = _container(text, _skip(text, 0))
    for depth, key in enumerate(path):
        item = _find(container, key)
        rest = path[depth + 1 :]
        if item is None:
            member = json.dumps(key, ensure_ascii=False) + ": "
            edited = _insert(text, container, member, _wrapped(value, rest))
            break
        if not rest:
            shown = _shown(text, container, value)
            edited = text[: item.value] + shown + text[item.end :]
            break
        container = _container(text, item.value, expected="{", name=".".join(path[: depth + 1]))
    else:
        raise UnexpectedJson("the path is empty")
    return _checked(edited, _with(document, path, value))


def remove_value(text: str, path: Path) -> str:
    """Return the text without the member at the path. Unchanged when there is none.

    Raises:
        UnexpectedJson: The text cannot be understood, or a step on the way is no object.
    """
    document = parse(text)
    if look_up(document, path[:-1]) is None:
        return text
    container = _container(text, _skip(text, 0))
    for depth, key in enumerate(path):
        item = _find(container, key)
        if item is None:
            return text
        if depth == len(path) - 1:
            return _checked(_cut(text, container, item), _without(document, path))
        container = _container(text, item.value, expected="{", name=".".join(path[: depth + 1]))
    raise UnexpectedJson("the path is empty")


def append_items(text: str, path: Path, items: tuple[str, ...]) -> str:
    """Return the text with strings appended to the list at the path, which is made where missing.

    Raises:
        UnexpectedJson: The text cannot be understood, or no list stands at the path.
    """
    for each in items:
        current = look_up(parse(text), path)
        if current is None:
            text = set_value(text, path, [each])
            continue
        container = _list_at(text, path)
        expected = _with(parse(text), path, [*current, each])
        text = _checked(_insert(text, container, "", each), expected)
    return text


def remove_items(text: str, path: Path, items: tuple[str, ...]) -> str:
    """Return the text without these strings in the list at the path; the list itself stays.

    Raises:
        UnexpectedJson: The text cannot be understood, or something else than a list stands at the path.
    """
    for each in items:
        document = parse(text)
        current = look_up(document, path)
        if current is None or each not in current:
            continue
        container = _list_at(text, path)
        position: int = current.index(each)
        expected = _with(document, path, current[:position] + current[position + 1 :])
        text = _checked(_cut(text, container, container.items[position]), expected)
    return text


def _list_at(text: str, path: Path) -> _Container:
    container = _container(text, _skip(text, 0))
    for depth, key in enumerate(path):
        item = _find(container, key)
        if item is None:
            raise UnexpectedJson(f"{'.'.join(path)} is missing")
        last = depth == len(path) - 1
        container = _container(text, item.value, expected="[" if last else "{", name=".".join(path[: depth + 1]))
    return container


def _container(text: str, start: int, *, expected: str = "{", name: str = "its top level") -> _Container:
    if text[start] != expected:
        raise UnexpectedJson(f"{name} is not {'an object' if expected == '{' else 'a list'}")
    closing = "}" if expected == "{" else "]"
    items: list[_Item] = []
    at = _skip(text, start + 1)
    while text[at] != closing:
        if text[at] == ",":
            at = _skip(text, at + 1)
        begin, key = at, None
        if expected == "{":
            key, at = cast("tuple[str, int]", _DECODER.raw_decode(text, at))
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        items.append(_Item(begin, at, end, key))
        at = _skip(text, end)
    return _Container(start, at + 1, tuple(items))


def _find(container: _Container, key: str) -> _Item | None:
    """Return the member of this name; of several the last, as every JSON parser does."""
    return next((item for item in reversed(container.items) if item.key == key), None)


def _insert(text: str, container: _Container, prefix: str, value: Any) -> str:
    """Put an item at the end of a container, on a line of its own where the others are."""
    unit = _indent_unit(text)
    own = _line_indent(text, container.start)
    newline = "\r\n" if "\r\n" in text else "\n"
    if container.items:
        last = container.items[-1]
        if "\n" in text[container.start : container.items[0].start]:
            indent = _line_indent(text, last.start)
            shown = _dump(value, indent, unit, newline)
            return f"{text[: last.end]},{newline}{indent}{prefix}{shown}{text[last.end :]}"
        return f"{text[: last.end]}, {prefix}{json.dumps(value, ensure_ascii=False)}{text[last.end :]}"
    if unit:
        shown = _dump(value, own + unit, unit, newline)
        inner = f"{newline}{own}{unit}{prefix}{shown}{newline}{own}"
    else:
        inner = prefix + json.dumps(value, ensure_ascii=False)
    return text[: container.start + 1] + inner + text[container.end - 1 :]


def _cut(text: str, container: _Container, item: _Item) -> str:
    """Take an item out with one comma and the space that set it apart."""
    position = container.items.index(item)
    if len(container.items) == 1:
        return text[: container.start + 1] + text[container.end - 1 :]
    if position:
        return text[: container.items[position - 1].end] + text[item.end :]
    return text[: item.start] + text[container.items[1].start :]


def _shown(text: str, container: _Container, value: Any) -> str:
    if "\n" not in text[container.start : container.end]:
        return json.dumps(value, ensure_ascii=False)
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = _line_indent(text, container.items[0].start)
    return _dump(value, indent, _indent_unit(text), newline)


def _dump(value: Any, indent: str, unit: str, newline: str) -> str:
    if not unit:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + indent)


def _indent_unit(text: str) -> str:
    """Return what one level is indented by: as its first indented line is; two spaces for a file with nothing in it."""
    for line in text.splitlines()[1:]:
        body = line.lstrip(" \t")
        if body and body[0] not in "}]" and body != line:
            return line[: len(line) - len(body)]
    return "" if parse(text) and "\n" not in text.strip() else "  "


def _line_indent(text: str, at: int) -> str:
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def _wrapped(value: Any, path: Path) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _with(document: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    key, rest = path[0], path[1:]
    inner = _with(cast("dict[str, Any]", document.get(key) or {}), rest, value) if rest else value
    return {**document, key: inner}


def _without(document: dict[str, Any], path: Path) -> dict[str, Any]:
    key, rest = path[0], path[1:]
    if rest:
        return {**document, key: _without(document[key], rest)}
    return {name: value for name, value in document.items() if name != key}


def _checked(text: str, expected: dict[str, Any]) -> str:
    if parse(text) != expected:
        raise UnexpectedJson("it holds a key twice")
    return text


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
