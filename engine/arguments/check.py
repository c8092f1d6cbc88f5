"""Checks a call against its operation's schema; each error says how to call again.

Never raises anything but `InvalidArgument`, whatever JSON value comes in, and names no library in its texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from rapidfuzz import fuzz, process

from engine.arguments.operation import MAX_TOKENS_CAP, WHOLE_NUMBER_CAP, Operation, Schema
from engine.arguments.operations import OPERATIONS
from engine.core.errors import InvalidArgument

SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "q": ("query",),
        "question": ("query",),
        "search": ("query",),
        "text": ("query",),
        "count": ("limit",),
        "k": ("limit",),
        "n": ("limit",),
        "maxresults": ("limit",),
        "numresults": ("limit",),
        "pagesize": ("limit",),
        "size": ("limit",),
        "topk": ("limit",),
        "skip": ("offset",),
        "page": ("offset",),
        "after": ("date_from",),
        "from": ("date_from",),
        "since": ("date_from", "when"),
        "start": ("date_from",),
        "before": ("date_to",),
        "end": ("date_to",),
        "to": ("date_to",),
        "until": ("date_to",),
        "date": ("when",),
        "day": ("when",),
        "days": ("older_than_days", "when"),
        "period": ("when",),
        "cwd": ("project",),
        "directory": ("project",),
        "path": ("project",),
        "repo": ("project",),
        "id": ("chunk_id", "session_id"),
        "uuid": ("message_uuid",),
        "groupby": ("by",),
        "budget": ("max_tokens",),
    }
)
"""What models call our arguments elsewhere (without case, `_` and `-`), where spelling alone does not lead there."""


def validate(method: str, arguments: object, operations: Mapping[str, Operation] | None = None) -> dict[str, Any]:
    """Return the arguments of a call, checked; nothing is coerced, nothing unknown is passed by.

    A `max_tokens` over `MAX_TOKENS_CAP` comes back as that cap. A `limit` over `LIMIT_CAP` is passed on: whoever
    applies the cap says so in `limit_applied`. Defaults are not filled in.

    Args:
        method: The operation's name, which is also the MCP tool's.
        arguments: Any JSON value. None stands for no arguments.
        operations: The table to look in; the built-in `OPERATIONS` when none is given.

    Raises:
        InvalidArgument: The call cannot be answered as it stands. No other exception, whatever the value.
    """
    table = OPERATIONS if operations is None else operations
    operation = table.get(method)
    if operation is None:
        near = nearest(method, tuple(table))
        hint = f'Call "{near[0]}" instead.' if near else f"There are: {', '.join(sorted(table))}."
        raise InvalidArgument(f"There is no tool {_shown(method)}", hint=hint, candidates=near or tuple(sorted(table)))
    if arguments is not None and not isinstance(arguments, Mapping):
        raise InvalidArgument(
            "The arguments must be an object", _sent(arguments), f"Call {method} again with {_example(operation)}."
        )
    checked = dict(cast("Mapping[str, Any]", arguments or {}))
    check = _Check(operation)
    check.members(checked, operation.properties, operation.required, where="")
    for rule in operation.rules:
        rule(method, checked)
    return _capped(checked)


def nearest(wrong: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return up to three of the names that a wrong one may have meant, nearest first."""
    known = SYNONYMS.get(_plain(wrong), ())
    meant = tuple(name for name in known if name in names)
    found = process.extract(wrong, names, scorer=fuzz.ratio, processor=_plain, score_cutoff=60, limit=3)
    return tuple(dict.fromkeys((*meant, *(name for name, _, _ in found))))[:3]


def _capped(arguments: dict[str, Any]) -> dict[str, Any]:
    if arguments.get("max_tokens", 0) > MAX_TOKENS_CAP:
        arguments["max_tokens"] = MAX_TOKENS_CAP
    return arguments


class _Check:
    """Walks a value along its schema. Understands the part of JSON Schema that the tables here use."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation

    def members(
        self, value: dict[str, Any], properties: Mapping[str, Schema], required: tuple[str, ...], *, where: str
    ) -> None:
        """Check an object's members in place."""
        for name in value:
            if name not in properties:
                self._unknown(name, tuple(properties), where)
        for name in required:
            if name not in value:
                example = _example_value(self._resolved(properties.get(name, {})))
                raise InvalidArgument(
                    f"{where}{name} is missing", hint=f"Call {self._operation.name} again with {_pair(name, example)}."
                )
        for name, item in value.items():
            value[name] = self.one(name, item, properties[name], where=where, optional=name not in required)

    def one(self, name: str, value: Any, schema: Schema, *, where: str = "", optional: bool = False) -> Any:
        """Return a value that fits its schema. Only a float that is whole changes: to the integer it is."""
        schema = self._resolved(schema)
        label = f"{where}{name}"
        wanted = _wanted(schema)
        if value is None and wanted is not None:
            leave = f'Leave "{name}" out, or call again with {_WANTED[wanted]}.'
            give = f"Call again with {_pair(name, _example_value(schema))}."
            raise InvalidArgument(f"{label} must not be null", hint=leave if optional else give)
        if isinstance(value, float) and wanted == "integer" and value.is_integer():
            value = int(value)  # JSON has one kind of number, and some writers put 10 as 10.0
        values = schema.get("enum")
        if values is not None and value not in values:
            self._not_among(name, label, value, values)
        if wanted is not None and not _IS[wanted](value):
            kind = _WANTED[wanted]
            raise InvalidArgument(f"{label} must be {kind}", _sent(value), _repair(name, value, schema))
        if isinstance(value, str):
            self._text(name, label, value, schema, optional=optional)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            _range(name, label, value, schema)
        elif isinstance(value, list):
            return self._list(name, label, cast("list[Any]", value), schema)
        elif isinstance(value, Mapping) and "properties" in schema:
            members = dict(cast("Mapping[str, Any]", value))
            self.members(members, schema["properties"], tuple(schema.get("required", ())), where=f"{label}.")
            return members
        return cast("Any", value)

    def _resolved(self, schema: Schema) -> Schema:
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self._operation.definitions.get(reference.rpartition("/")[2], {})
        return schema

    def _list(self, name: str, label: str, value: list[Any], schema: Schema) -> list[Any]:
        least, most = schema.get("minItems", 0), schema.get("maxItems", self._operation.list_cap)
        if len(value) < least or (most is not None and len(value) > most):
            bounds = f"{least} to {most}" if least else f"at most {most}"
            raise InvalidArgument(
                f"{label} must hold {bounds} items", f"You sent {len(value)}.", f'Call again with {bounds} in "{name}".'
            )
        items = schema.get("items", {})
        return [self.one(f"{name}[{index}]", item, items) for index, item in enumerate(value)]

    def _text(self, name: str, label: str, value: str, schema: Schema, *, optional: bool) -> None:
        cap = schema.get("maxLength", self._operation.text_cap)
        if cap is not None and len(value) > cap:
            raise InvalidArgument(
                f"{label} is longer than {cap:,} characters",
                f"You sent {len(value):,}.",
                "Call again with the few words that matter.",
            )
        # Knowledge's texts may be empty where their schema allows it; none of ours means anything empty.
        if (schema.get("minLength", 0) or self._operation.text_cap is not None) and not value.strip():
            hint = f'Leave "{name}" out, or call again with text in it.' if optional else "Call again with text in it."
            raise InvalidArgument(f"{label} must not be empty", hint=hint)

    def _unknown(self, name: str, names: tuple[str, ...], where: str) -> None:
        tool = self._operation.name
        near = nearest(name, names)
        if near:
            message, hint = f'Did you mean "{near[0]}"?', f'Call again with "{near[0]}" in place of {_shown(name)}.'
        elif names:
            message, hint = f"It takes: {', '.join(names)}.", f"Call again without {_shown(name)}."
        else:
            message, hint = "It takes none.", "Call again without arguments."
        place = f" in {where.rstrip('.')}" if where else ""
        raise InvalidArgument(f"{tool} has no argument {_shown(name)}{place}", message, hint, candidates=near)

    def _not_among(self, name: str, label: str, value: Any, values: list[str]) -> None:
        near = _among(value, values)
        raise InvalidArgument(
            f"{label} must be one of {', '.join(values)}",
            _sent(value),
            f"Call again with {_pair(name, near[0])}." if near else "Call again with one of these.",
            candidates=near or tuple(values),
        )


def _among(value: Any, values: list[str]) -> tuple[str, ...]:
    """Return which of the values something that is none of them was surely meant as."""
    match value:
        case [str() as only]:
            return (only,) if only in values else nearest(only, tuple(values))
        case str():
            return (value,) if value in values else nearest(value, tuple(values))
        case _:
            return ()


def _wanted(schema: Schema) -> str | None:
    """Return the one type a value must have; None where a schema leaves a choice, which its own room then checks."""
    wanted = schema.get("type")
    return wanted if isinstance(wanted, str) and wanted in _WANTED else None


def _range(name: str, label: str, value: float, schema: Schema) -> None:
    least, most = schema.get("minimum"), schema.get("maximum", WHOLE_NUMBER_CAP)
    capped = "maximum" not in schema and name in ("limit", "max_tokens")
    if least is not None and value < least:
        better = schema.get("default", least)
        raise InvalidArgument(
            f"{label} must be at least {least}", _sent(value), f"Call again with {_pair(name, better)}."
        )
    if value > most and not capped:
        raise InvalidArgument(f"{label} must be at most {most}", _sent(value), f"Call again with {_pair(name, most)}.")


def _repair(name: str, value: Any, schema: Schema) -> str:
    better = _converted(value, schema)
    if better is None:
        better = _example_value(schema)
    return f"Call again with {_pair(name, better)}."


def _converted(value: Any, schema: Schema) -> Any:
    """Return what a value of the wrong type was surely meant as, None when nothing is sure."""
    better: Any = None
    match schema.get("type"), value:
        case "integer", str() | float():
            better = _whole(value, schema)
        case "string", bool() | int() | float() if "examples" not in schema:
            better = _shown(value)
        case "string", [str() as only]:
            better = only
        case "boolean", str() if value.strip().lower() in ("true", "false"):
            better = value.strip().lower() == "true"
        case "boolean", 0 | 1:
            better = bool(value)
        case "array", str():
            values = cast("list[str] | None", schema.get("items", {}).get("enum"))
            better = list(_among(value, values)[:1]) or None if values else [value]
        case _:
            pass
    return better


def _whole(value: str | float, schema: Schema) -> int | None:
    try:
        number = int(value)
    except (ValueError, OverflowError):
        return None
    if abs(number) > WHOLE_NUMBER_CAP:
        return None
    return min(max(number, schema.get("minimum", number)), schema.get("maximum", number))


def _example(operation: Operation) -> str:
    return "{" + ", ".join(_pair(n, _example_value(operation.properties[n])) for n in operation.required) + "}"


def _example_value(schema: Schema) -> Any:
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    if "examples" in schema:
        return schema["examples"][0]
    if schema.get("type") == "array":
        return [_example_value(schema.get("items", {}))]
    examples: dict[str, Any] = {"integer": schema.get("minimum", 10), "number": 1, "boolean": True}
    return examples.get(str(schema.get("type")), {} if schema.get("type") == "object" else "…")


def _pair(name: str, value: Any) -> str:
    return f'"{name.partition("[")[0]}": {_shown(value)}'


def _sent(value: Any) -> str:
    match value:
        case str():
            return f"You sent {_shown(value)} (text)."
        case bool():
            return f"You sent {_shown(value)} (a truth value)."
        case int() | float():
            return f"You sent {_shown(value)} (a number)."
        case None:
            return "You sent null."
        case Mapping():
            return "You sent an object."
        case _:
            return "You sent a list."


def _shown(value: Any) -> str:
    """Return a value as JSON, short and printable: it may hold anything, lone surrogates included."""
    if isinstance(value, str) and len(value) > 60:
        value = value[:60] + "…"
    if isinstance(value, int) and abs(value) > 10**18:
        return "a number of that size"  # turning a very long one into digits is refused by the interpreter
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")


def _plain(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


_WANTED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "string": "text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "array": "a list",
        "object": "an object",
    }
)

_IS: Final[Mapping[str, Callable[[Any], bool]]] = MappingProxyType(
    {
        "string": lambda value: isinstance(value, str),
        "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
        "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
        "boolean": lambda value: isinstance(value, bool),
        "array": lambda value: isinstance(value, list),
        "object": lambda value: isinstance(value, Mapping),
    }
)
