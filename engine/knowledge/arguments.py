"""Arguments of tools: one declaration gives the closed JSON schema and the check. Nothing is coerced (R26, R154)."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from engine.core.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Mapping

ArgType = Literal["string", "integer", "number", "boolean", "array", "object"]

_NAMES: dict[ArgType, str] = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


@dataclass(frozen=True, slots=True)
class Arg:
    """One argument, or one property of an object."""

    name: str
    type: ArgType
    description: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    items: Arg | None = None
    """Of an array: what each item must be (its name is not used)."""
    properties: tuple[Arg, ...] = ()
    """Of an object: its keys; an object without any may hold everything."""
    also: str | None = None
    """Another name it is known by, accepted but not advertised."""

    def schema(self) -> dict[str, object]:
        """Return the JSON schema of the value."""
        shown: dict[str, object] = {"type": self.type}
        if self.description:
            shown["description"] = self.description
        if self.choices:
            shown["enum"] = list(self.choices)
        if self.minimum is not None:
            shown["minimum"] = self.minimum
        if self.maximum is not None:
            shown["maximum"] = self.maximum
        if self.items is not None:
            shown["items"] = self.items.schema()
        if self.properties:
            shown.update(object_schema(self.properties))
        return shown


def object_schema(properties: tuple[Arg, ...]) -> dict[str, object]:
    """Return the closed schema of an object."""
    shown: dict[str, object] = {
        "type": "object",
        "properties": {arg.name: arg.schema() for arg in properties},
        "additionalProperties": False,
    }
    required = [arg.name for arg in properties if arg.required]
    if required:
        shown["required"] = required
    return shown


def snake(name: str) -> str:
    """Return a camelCase name as the record format and Python write it."""
    return _HUMP.sub(lambda match: f"_{match[1].lower()}", name)


def check_arguments(properties: tuple[Arg, ...], given: Mapping[str, object], where: str = "") -> dict[str, object]:
    """Return the checked arguments by snake_case name; what was left out is left out.

    Raises:
        InvalidArgument: An unknown name, a missing or wrong value; the text says how to call again.
    """
    by_name = {arg.name: arg for arg in properties}
    by_name.update({arg.also: arg for arg in properties if arg.also is not None})
    checked: dict[str, object] = {}
    for name, value in given.items():
        arg = by_name.get(name)
        if arg is None:
            near = difflib.get_close_matches(str(name), [one.name for one in properties], n=1, cutoff=0.5)
            hint = f'Call again with "{near[0]}".' if near else f"Known names: {', '.join(a.name for a in properties)}."
            raise InvalidArgument(f'There is no argument "{where}{name}"', "", hint, candidates=tuple(near))
        if snake(arg.name) in checked:
            raise InvalidArgument(f'"{where}{arg.name}" was given twice', "", "Give it once.")
        checked[snake(arg.name)] = _check(arg, value, where + arg.name)
    for arg in properties:
        if arg.required and snake(arg.name) not in checked:
            raise InvalidArgument(f"{where}{arg.name} is missing", arg.description)
    return checked


def _check(arg: Arg, value: object, shown: str) -> object:
    if not _is_type(arg.type, value):
        fixed = _repaired(arg.type, value)
        hint = f'Call again with "{arg.name}": {fixed}.' if fixed else f"Call again with {_NAMES[arg.type]}."
        if value is None:
            hint = f'Leave "{arg.name}" out instead.'
        raise InvalidArgument(f"{shown} must be {_NAMES[arg.type]}", f"You sent {_shown(value)}.", hint)
    if isinstance(value, str):
        if arg.choices and value not in arg.choices:
            near = difflib.get_close_matches(value, arg.choices, n=1)
            raise InvalidArgument(
                f"{shown} must be one of {', '.join(arg.choices)}",
                f"You sent {_shown(value)}.",
                candidates=tuple(near) or arg.choices,
            )
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = arg.minimum, arg.maximum
        if (low is not None and value < low) or (high is not None and value > high) or value != value:  # noqa: PLR0124 - NaN
            limits = f"from {low} to {high}" if low is not None and high is not None else f"at least {low}"
            raise InvalidArgument(f"{shown} must be {limits}", f"You sent {_shown(value)}.")
        return value
    if isinstance(value, list) and arg.items is not None:
        items = cast("list[object]", value)
        return [_check(arg.items, item, f"{shown}[{number}]") for number, item in enumerate(items)]
    if isinstance(value, dict) and arg.properties:
        return check_arguments(arg.properties, cast("dict[str, object]", value), f"{shown}.")
    return cast("object", value)


def _is_type(name: ArgType, value: object) -> bool:
    if name == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if name == "integer":
        return isinstance(value, int)
    if name == "number":
        return isinstance(value, int | float)
    if name == "string":
        return isinstance(value, str)
    return isinstance(value, list) if name == "array" else isinstance(value, dict)


def _repaired(name: ArgType, value: object) -> str | None:
    """Return what the caller probably meant, as JSON."""
    if name == "string" and isinstance(value, int | float):
        return json.dumps(str(value))
    if name in ("integer", "number") and isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,9}", value):
        return value
    if name == "boolean" and isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower()
    if name == "array" and isinstance(value, str):
        return json.dumps([value], ensure_ascii=False)[:80]
    return None


def _shown(value: object) -> str:
    kind = {str: "text", bool: "truth value", int: "number", float: "number", list: "list", dict: "object"}
    if value is None:
        return "null"
    text = json.dumps(value, ensure_ascii=True, default=str)
    return f"{text[:60]} ({kind.get(type(value), 'value')})"
