"""Arguments of Knowledge's tools, declared once: the closed schema is made here, `engine.arguments` checks by it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

ArgType = Literal["string", "integer", "number", "boolean", "array", "object"]

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
