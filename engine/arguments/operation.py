"""How an operation's arguments are described: a closed JSON schema, and conditions that span several of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

LIMIT_CAP: Final = 500
"""Rows one call may ask for. A larger `limit` is answered as this, and the reply says so in `limit_applied`: that is
the front door's business, so `validate` passes the number on (interface.md, "Common arguments")."""

MAX_TOKENS_CAP: Final = 20_000
"""The largest reply; a larger `max_tokens` is answered as this (interface.md, "Every reply obeys a token budget")."""

QUERY_CAP: Final = 10_000
"""Characters a query may have; more are refused (interface.md, "Enumerations"). Holds for every other text as well."""

WHOLE_NUMBER_CAP: Final = 1_000_000_000
"""No offset or count here means more; SQLite's integers end at 2**63."""

Schema = Mapping[str, Any]
Rule = Callable[[str, Mapping[str, Any]], None]
"""A condition on several arguments at once, given the operation's name and its arguments.

Raises:
    InvalidArgument: The condition does not hold.
"""


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that can be asked, with the arguments it takes."""

    name: str
    properties: Mapping[str, Schema] = field(default_factory=dict[str, Schema])
    required: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    text_cap: int | None = QUERY_CAP
    """Characters a text may have where its schema does not say; None for no bound (the bodies of records)."""
    list_cap: int | None = LIMIT_CAP
    """Items a list may have where its schema does not say; None for no bound."""
    definitions: Mapping[str, Schema] = field(default_factory=dict[str, Schema])
    """Schemas the properties refer to with `$ref: "#/$defs/…"`."""

    @property
    def schema(self) -> dict[str, Any]:
        """The closed JSON schema of the arguments, a new object each time."""
        schema: dict[str, Any] = {"type": "object", "properties": {k: dict(v) for k, v in self.properties.items()}}
        if self.required:
            schema["required"] = list(self.required)
        schema["additionalProperties"] = False
        if self.definitions:
            schema["$defs"] = {name: dict(each) for name, each in self.definitions.items()}
        return schema

    @classmethod
    def from_schema(cls, name: str, schema: Schema) -> Operation:
        """Return the operation that another room describes by a JSON schema. Its texts may have any length."""
        return cls(
            name,
            cast("Mapping[str, Schema]", schema.get("properties", {})),
            tuple(cast("list[str]", schema.get("required", []))),
            text_cap=None,
            list_cap=None,
            definitions=cast("Mapping[str, Schema]", schema.get("$defs", {})),
        )
