"""The kinds of settings: what a row of the table holds, and how one value of a file is checked and typed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SettingKind = Literal["flag", "count", "seconds", "text", "choice", "zone", "patterns", "roots", "prices"]

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True)
class RootSetting:
    """A folder of transcripts (a `projects` folder) and the name it goes by."""

    path: str
    label: str


@dataclass(frozen=True, slots=True)
class PriceSetting:
    """The person's own price of a model, in US dollars per million tokens. None: derived from `input` as usual."""

    model: str
    input: float
    output: float
    cache_write_5m: float | None = None
    cache_write_1h: float | None = None
    cache_read: float | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the settings table."""

    key: str
    """As written in the file; dots are tables."""
    kind: SettingKind
    default: Any
    """In the form the file has; None: not in the file, see `default_words`."""
    help: str
    default_words: str = ""
    """The default in words where no single value says it."""
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    @property
    def name(self) -> str:
        """The field of `Settings`."""
        return self.key.replace(".", "_")


class WrongValue(Exception):
    """A value is not of its setting's kind; the text continues the key's name."""


_Read = tuple[Any, tuple[str, ...]]


def read_value(setting: Setting, raw: object) -> tuple[Any, tuple[str, ...]]:
    """Return the typed value of a setting (None: the machine decides), and complaints about items that were left out.

    Raises:
        WrongValue: Nothing of it can be used.
    """
    return _READERS[setting.kind](setting, raw)


def _read_flag(_setting: Setting, raw: object) -> _Read:
    if not isinstance(raw, bool):
        raise WrongValue("must be true or false")
    return raw, ()


def _read_count(setting: Setting, raw: object) -> _Read:
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise WrongValue("must be a whole number")
    return _in_range(setting, raw), ()


def _read_seconds(setting: Setting, raw: object) -> _Read:
    if isinstance(raw, bool) or not isinstance(raw, (int, float)):
        raise WrongValue("must be a number")
    return float(_in_range(setting, raw)), ()


def _in_range(setting: Setting, value: _Number) -> _Number:
    low, high = setting.minimum, setting.maximum
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        raise WrongValue(f"must be from {low} to {high}")
    return value


def _read_text(_setting: Setting, raw: object) -> _Read:
    if not isinstance(raw, str) or not raw.strip():
        raise WrongValue("must be a text")
    return raw.strip(), ()


def _read_choice(setting: Setting, raw: object) -> _Read:
    if not isinstance(raw, str) or raw not in setting.choices:
        raise WrongValue(f"must be one of {', '.join(setting.choices)}")
    return raw, ()


def _read_zone(_setting: Setting, raw: object) -> _Read:
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - only a file that names a zone needs it

    if not isinstance(raw, str):
        raise WrongValue('must be an IANA name such as "Europe/Berlin", or "system"')
    if raw == "system":
        return None, ()
    try:
        return ZoneInfo(raw).key, ()
    except (OSError, ValueError, LookupError) as error:
        raise WrongValue('must be an IANA name such as "Europe/Berlin", or "system"') from error


def _read_patterns(_setting: Setting, raw: object) -> _Read:
    if not isinstance(raw, list):
        raise WrongValue('must be a list of texts such as ["*/scratch"]')
    items = cast("list[object]", raw)
    good = tuple(each for each in items if isinstance(each, str) and each)
    return good, tuple(f"{each!r} is not a text and was left out." for each in items if each not in good)


def _read_roots(_setting: Setting, raw: object) -> _Read:
    if not isinstance(raw, list):
        raise WrongValue('must be a list such as [{path = "/mnt/old/projects", label = "old machine"}]')
    roots: list[RootSetting] = []
    complaints: list[str] = []
    for each in cast("list[object]", raw):
        table = cast("dict[str, object]", each) if isinstance(each, dict) else {}
        path, label = table.get("path"), table.get("label", "")
        if not isinstance(path, str) or not path or not isinstance(label, str):
            complaints.append(f"{each!r} needs a path and a label, both texts, and was left out.")
            continue
        roots.append(RootSetting(path, label or Path(path).parent.name or path))
    return tuple(roots), tuple(complaints)


def _read_prices(_setting: Setting, raw: object) -> _Read:
    if not isinstance(raw, dict):
        raise WrongValue('must be a table such as {"my-model" = {input = 3, output = 15}}')
    prices: list[PriceSetting] = []
    complaints: list[str] = []
    kinds = [each.name for each in fields(PriceSetting) if each.name != "model"]
    for model, each in cast("dict[str, object]", raw).items():
        table = cast("dict[str, object]", each) if isinstance(each, dict) else {}
        numbers = {name: float(value) for name, value in table.items() if _is_price(value)}
        if len(numbers) != len(table) or not {"input", "output"} <= set(numbers) <= set(kinds):
            complaints.append(f"{model!r} needs input and output, numbers from 0 up, and was left out.")
            continue
        prices.append(PriceSetting(model, **numbers))
    return tuple(prices), tuple(complaints)


def _is_price(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf")


_READERS: Mapping[SettingKind, Callable[[Setting, Any], _Read]] = {
    "flag": _read_flag,
    "count": _read_count,
    "seconds": _read_seconds,
    "text": _read_text,
    "choice": _read_choice,
    "zone": _read_zone,
    "patterns": _read_patterns,
    "roots": _read_roots,
    "prices": _read_prices,
}
