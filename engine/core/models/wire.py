"""The JSON form of the values."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


def to_wire(value: Any) -> Any:
    """Return the JSON form of a value: dataclasses become objects without their null keys, floats get 3 places."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {str(key): to_wire(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON
    if isinstance(value, (list, tuple)):
        return [to_wire(item) for item in value]  # pyright: ignore[reportUnknownVariableType] - JSON
    if is_dataclass(value) and not isinstance(value, type):
        wire: dict[str, Any] = {}
        for name in _field_names(type(value)):
            item = getattr(value, name)
            if item is not None:
                wire[name] = to_wire(item)
        return wire
    raise TypeError(f"{type(value).__name__} has no JSON form")
