"""Writing YAML lines of our own keys: values any YAML reader, 1.1 or 1.2, reads back the same."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.knowledge.yamltext import YamlValue

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./@-]*( [A-Za-z0-9_./@-]+)*")
_NOT_STRINGS = frozenset(
    ("null", "true", "false", "yes", "no", "on", "off", "y", "n"),
)
"""Words YAML 1.1 readers (Obsidian plug-ins among them) take for something else, in any case."""

_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def scalar(value: str | float | bool | None) -> str:  # noqa: FBT001 - a YAML scalar may be a truth value
    """Return one scalar as it stands behind a colon: plain where every reader agrees, double-quoted otherwise."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if value == value and abs(value) != float("inf") else f'"{value}"'  # noqa: PLR0124 - NaN
    if _PLAIN.fullmatch(value) and value.lower() not in _NOT_STRINGS:
        return value
    return quoted(value)


def quoted(value: str) -> str:
    """Return a double-quoted scalar on one line. JSON strings are YAML strings but for a few raw characters."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def key_lines(key: str, value: YamlValue) -> list[str]:
    """Return the lines (without line ends) of one top-level key and its value."""
    return _lines(scalar(key), value, "")


def _lines(name: str, value: YamlValue, indent: str) -> list[str]:
    if isinstance(value, dict):
        if not value:
            return [f"{indent}{name}: {{}}"]
        return [f"{indent}{name}:", *_mapping_lines(value, indent + "  ")]
    if isinstance(value, list):
        if not all(isinstance(item, dict) and item for item in value):
            return [f"{indent}{name}: {_flow(value)}"]
        if not value:
            return [f"{indent}{name}: []"]
        return [f"{indent}{name}:", *_sequence_lines(value, indent + "  ")]
    return [f"{indent}{name}: {scalar(value)}"]


def _mapping_lines(value: Mapping[str, YamlValue], indent: str) -> list[str]:
    return [line for name, item in value.items() for line in _lines(scalar(name), item, indent)]


def _sequence_lines(value: Sequence[YamlValue], indent: str) -> list[str]:
    lines: list[str] = []
    for item in value:
        if isinstance(item, dict):
            first, *rest = _mapping_lines(item, indent + "  ")
            lines += [f"{indent}- {first.lstrip(' ')}", *rest]
    return lines


def _flow(value: YamlValue) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_flow(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{scalar(name)}: {_flow(item)}' for name, item in value.items())}}}"
    return scalar(value)
