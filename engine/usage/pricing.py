"""What tokens cost: the price table of the package, a person's own prices over it, and sums in whole numbers.

Money is counted in billionths of a US dollar ("nanos"): a token of 0.08 $ a million costs 80 of them. Rates are kept in
trillionths, so that a person's own price with more digits is exact too. A model without a price has no cost, never 0.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.core.setting_kinds import PriceSetting
    from engine.store.usage import CallVariant
    from engine.store.usage_sums import UsageCell

CACHE_WRITE_5M, CACHE_WRITE_1H, CACHE_READ = Decimal("1.25"), Decimal(2), Decimal("0.1")
"""Shares of the input price that a person's own price gets where it names none (Anthropic's multipliers)."""

_PICOS_PER_DOLLAR_A_MILLION = 1_000_000
_PICOS_PER_NANO = 1000

_CLAUDE = re.compile(
    r"claude-(?:(?P<old>\d(?:[-.]\d)?)-(?P<old_line>[a-z]+)|(?P<line>[a-z]+)-(?P<version>\d{1,2}(?:[-.]\d{1,2})?))"
    r"(?:-latest)?(?:[-@]\d{8})?(?:-v\d+)?(?::\d+)?(?:@[\w-]+)?(?:\[1m\])?"
)
_DECORATION = re.compile(r"(?:[-@]\d{8})?(?:@[\w-]+)?(?:\[[^\]]*\])?$")


@dataclass(frozen=True, slots=True)
class Rates:
    """Trillionths of a US dollar for one token of each class."""

    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int

    def times(self, factor: Decimal) -> Rates:
        """Return the same rates multiplied."""
        return Rates(
            _whole(self.input * factor),
            _whole(self.output * factor),
            _whole(self.cache_write_5m * factor),
            _whole(self.cache_write_1h * factor),
            _whole(self.cache_read * factor),
        )


@dataclass(frozen=True, slots=True)
class Price:
    """What one model family costs during some time."""

    family: str
    rates: Rates
    from_ms: int | None
    until_ms: int | None
    """The first moment that no longer has the price."""
    long_over: int | None
    """Prompt size in tokens over which `long_rates` hold for the whole call."""
    long_rates: Rates | None
    fast: Decimal | None
    """Multiplier of fast mode; None: no fast price is known."""
    source: str
    date: str


class Prices:
    """Finds rates by model, speed, prompt size and time. Reads the package's table when it is first asked.

    Args:
        own: The person's prices; each stands instead of the package's for its model, at all times.
    """

    def __init__(self, own: Iterable[PriceSetting] = ()) -> None:
        self._own = {name: _own_rates(price) for price in own for name in (price.model.lower(), family_of(price.model))}
        self._table: dict[str, list[Price]] | None = None
        self._web_search_nanos = 0
        self._changes: list[int] | None = None
        self._found: dict[tuple[CallVariant, int], Rates | None] = {}

    def cost_nanos(self, cell: UsageCell, at_ms: int) -> int | None:
        """Return what the calls of a cell cost, or None when their model has no price.

        Args:
            cell: Calls between two of the `changes`.
            at_ms: The time of any of them.
        """
        rates = self.rates(cell.variant, at_ms)
        if rates is None:
            return None
        picos = (
            cell.input * rates.input
            + cell.output * rates.output
            + cell.cache_write_5m * rates.cache_write_5m
            + cell.cache_write_1h * rates.cache_write_1h
            + cell.cache_read * rates.cache_read
        )
        return (picos + _PICOS_PER_NANO // 2) // _PICOS_PER_NANO + cell.web_searches * self._web_search_nanos

    def rates(self, variant: CallVariant, at_ms: int) -> Rates | None:
        """Return the rates of a kind of call at a time, or None when there is no price for it."""
        known = (variant, bisect_right(self.changes(), at_ms))
        if known not in self._found:
            self._found[known] = self._find(variant, at_ms)
        return self._found[known]

    def _find(self, variant: CallVariant, at_ms: int) -> Rates | None:
        family = family_of(variant.model)
        own = self._own.get(variant.model.lower()) or self._own.get(family)
        price = next((each for each in self._loaded().get(family, ()) if _holds(each, at_ms)), None)
        if own is not None:
            rates = own
        elif price is None:
            return None
        elif price.long_rates is not None and price.long_over is not None and variant.prompt_over >= price.long_over:
            rates = price.long_rates
        else:
            rates = price.rates
        if variant.speed == "standard":
            return rates
        if variant.speed != "fast" or price is None or price.fast is None:
            return None
        return rates.times(price.fast)

    def changes(self) -> list[int]:
        """Return the moments (epoch milliseconds) at which any price changes: sums over one have no single price."""
        if self._changes is None:
            moments = {moment for price in self.rows() for moment in (price.from_ms, price.until_ms)}
            self._changes = sorted(moment for moment in moments if moment is not None)
        return self._changes

    def rows(self) -> list[Price]:
        """Return the package's price table."""
        return [price for each in self._loaded().values() for price in each]

    def _loaded(self) -> dict[str, list[Price]]:
        if self._table is None:
            text = resources.files("engine.usage").joinpath("prices.json").read_text(encoding="utf-8")
            document = json.loads(text, parse_float=Decimal)
            self._web_search_nanos = int(document["web_search_per_thousand"] * 1_000_000)
            self._table = {}
            for row in document["prices"]:
                self._table.setdefault(row["family"], []).append(_price(row))
        return self._table


def family_of(model: str) -> str:
    """Return the name prices go by: no date, provider or context size, and one order of name and version.

    `us.anthropic.claude-3-5-haiku-20241022-v1:0` is `claude-haiku-3-5`. A name with anything else in it stays what it
    is, so that a new model never gets the price of an older one.
    """
    name = model.strip().lower()
    start = name.rfind("claude-")
    match = _CLAUDE.fullmatch(name[start:]) if start >= 0 else None
    if match is None:
        return _DECORATION.sub("", name.rpartition("/")[2])
    line, version = match["line"] or match["old_line"], match["version"] or match["old"]
    return f"claude-{line}-{version.replace('.', '-').removesuffix('-0')}"


def _price(row: Mapping[str, Any]) -> Price:
    long: Mapping[str, Any] | None = row.get("long")
    return Price(
        family=row["family"],
        rates=_rates(row),
        from_ms=_day_ms(row.get("from")),
        until_ms=_day_ms(row.get("until")),
        long_over=None if long is None else long["over"],
        long_rates=None if long is None else _rates(long),
        fast=Decimal(row["fast"]) if "fast" in row else None,
        source=row["source"],
        date=row["date"],
    )


def _rates(row: Mapping[str, Any]) -> Rates:
    return Rates(
        _picos(row["input"]),
        _picos(row["output"]),
        _picos(row["cache_write_5m"]),
        _picos(row["cache_write_1h"]),
        _picos(row["cache_read"]),
    )


def _own_rates(price: PriceSetting) -> Rates:
    base = Decimal(str(price.input))
    return Rates(
        _picos(base),
        _picos(price.output),
        _picos(base * CACHE_WRITE_5M if price.cache_write_5m is None else price.cache_write_5m),
        _picos(base * CACHE_WRITE_1H if price.cache_write_1h is None else price.cache_write_1h),
        _picos(base * CACHE_READ if price.cache_read is None else price.cache_read),
    )


def _picos(dollars_a_million: float | Decimal) -> int:
    return _whole(Decimal(str(dollars_a_million)) * _PICOS_PER_DOLLAR_A_MILLION)


def _whole(value: Decimal) -> int:
    return int(value.to_integral_value())


def _day_ms(day: str | None) -> int | None:
    return None if day is None else int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1000


def _holds(price: Price, at_ms: int) -> bool:
    return (price.from_ms is None or price.from_ms <= at_ms) and (price.until_ms is None or at_ms < price.until_ms)
