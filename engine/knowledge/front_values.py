"""Typed access to the values of one front matter: what has another type is a finding with its line, never an error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from engine.knowledge.dates import parse_when
from engine.knowledge.records import Issue, Kind, Lifecycle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.knowledge.dates import When
    from engine.knowledge.yamltext import YamlText, YamlValue

_Word = TypeVar("_Word", Kind, Lifecycle)

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
"""Ids as read (contract 4); our own are `k_` and 16 of `[a-z0-9]`."""


class FrontValues:
    """The values of a front matter. Collects findings instead of stopping at the first."""

    def __init__(self, path: str, front: YamlText) -> None:
        self.path = path
        self.values = front.values
        self.lines = {key: line + 1 for key, line in front.lines.items()}
        """Line in the file of each value."""
        self.issues: list[Issue] = []
        self.id: str | None = None
        """The record's, once it is known: findings name it."""

    def has(self, key: str) -> bool:
        """Return whether a key has a value. One left empty is as good as not there (R89)."""
        return self.values.get(key) is not None

    def choice(self, key: str, choices: Mapping[str, _Word], shown: tuple[_Word, ...]) -> _Word | None:
        """Return a value that must be one of a few words."""
        value = self.values.get(key)
        chosen = choices.get(value) if isinstance(value, str) else None
        if chosen is None:
            self.wrong(key, f"{key} is one of {', '.join(shown)}")
        return chosen

    def instant(self, key: str) -> When | None:
        """Return a value that must be a UTC timestamp."""
        value = self.values.get(key)
        when = parse_when(value) if isinstance(value, str) else None
        if when is None or not when.utc:
            self.wrong(key, f"{key} must be a UTC timestamp such as 2026-03-05T10:00:00Z")
            return None
        return when

    def date(self, key: str) -> When | None:
        """Return a value that is a date or a timestamp, where there is one."""
        return self.when(key, self.values[key]) if self.has(key) else None

    def when(self, key: str, value: YamlValue) -> When | None:
        """Return a date wherever it stands."""
        when = parse_when(value) if isinstance(value, str) else None
        if when is None:
            self.wrong(key, f"{key} must be YYYY-MM-DD or a timestamp with seconds and zone")
        return when

    def flag(self, key: str) -> bool:
        """Return whether a value is true."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            self.wrong(key, f"{key} must be true or false")
        return value is True

    def text(self, key: str) -> str | None:
        """Return a value that is text; an empty one is none."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            self.wrong(key, f"{key} must be a text")
            return None
        return value or None

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts, each once."""
        value = self.values.get(key)
        if value is None:
            return ()
        items = [item for item in value if isinstance(item, str) and item.strip()] if isinstance(value, list) else []
        if not isinstance(value, list) or len(items) != len(value):
            self.wrong(key, f"{key} must be a list of texts")
            return ()
        return tuple(dict.fromkeys(items))

    def reference(self, key: str) -> str | None:
        """Return a value that is a record's id."""
        value = self.text(key)
        if value is not None and not ID.fullmatch(value):
            self.wrong(key, f"{key} must be a record id")
            return None
        return value

    def references(self, key: str) -> tuple[str, ...]:
        """Return a list of record ids."""
        items = self.texts(key)
        for number, item in enumerate(items):
            if not ID.fullmatch(item):
                self.wrong(f"{key}.{number}", f"{key} must hold record ids")
        return items

    def wrong(self, key: str, message: str, *, code: str = "invalid", fatal: bool = True) -> None:
        """Note a finding at the line of the key, or of the nearest key around it."""
        while key not in self.lines and "." in key:
            key = key.rpartition(".")[0]
        self.issues.append(Issue(code, message, self.path, self.lines.get(key, 1), self.id, fatal=fatal))
