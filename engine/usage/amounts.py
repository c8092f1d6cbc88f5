"""Sums of calls as reports show them: tokens, money, and what is missing from either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.store.usage import CallVariant
    from engine.store.usage_sums import UsageCell

NANOS_PER_DOLLAR = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """What some calls used and cost."""

    input_tokens: int = 0
    """Not cached."""
    output_tokens: int = 0
    cache_write_5m_tokens: int = 0
    cache_write_1h_tokens: int = 0
    cache_read_tokens: int = 0
    web_searches: int = 0
    calls: int = 0
    unpriced_calls: int = 0
    """Calls of models without a price: their tokens are counted, their cost is not."""
    incomplete_calls: int = 0
    """Calls whose output tokens Claude Code recorded too low."""
    cost_nanos: int = 0
    """Billionths of a US dollar, of the priced calls."""
    models: tuple[str, ...] = ()

    @property
    def cost_usd(self) -> float | Literal["unpriced"]:
        """US dollars; "unpriced" where there are calls and none has a price."""
        return "unpriced" if self.calls and self.calls == self.unpriced_calls else dollars(self.cost_nanos)

    @property
    def cache_hit_share(self) -> float | None:
        """Share of the prompts' tokens that came from the cache, 0 to 1; None without prompts."""
        written = self.cache_write_5m_tokens + self.cache_write_1h_tokens
        prompts = self.input_tokens + written + self.cache_read_tokens
        return round(self.cache_read_tokens / prompts, 3) if prompts else None

    @property
    def tokens(self) -> int:
        """All tokens, cached ones included."""
        written = self.cache_write_5m_tokens + self.cache_write_1h_tokens
        return self.input_tokens + self.output_tokens + written + self.cache_read_tokens

    def reply(self) -> dict[str, Any]:
        """Return the keys of `get_usage` (interface.md)."""
        reply: dict[str, Any] = {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cache_write_5m_tokens": self.cache_write_5m_tokens,
            "cache_write_1h_tokens": self.cache_write_1h_tokens,
            "cache_read_tokens": self.cache_read_tokens,
            "cost_usd": self.cost_usd,
            "calls": self.calls,
            "unpriced_calls": self.unpriced_calls,
            "incomplete": self.incomplete_calls > 0,
            "incomplete_calls": self.incomplete_calls,
            "models": list(self.models),
        }
        if self.cache_hit_share is not None:
            reply["cache_hit_share"] = self.cache_hit_share
        if self.web_searches:
            reply["web_searches"] = self.web_searches
        return reply


def dollars(nanos: int) -> float:
    """Return US dollars."""
    return nanos / NANOS_PER_DOLLAR


def shown_model(variant: CallVariant) -> str:
    """Return a model's name as recorded, with its speed where that is not the usual one (as ccusage shows it)."""
    return variant.model if variant.speed == "standard" else f"{variant.model}-{variant.speed}"


def amounts_of(priced: Iterable[tuple[UsageCell, int | None]]) -> Amounts:
    """Sum cells, each with its cost in nanos or None."""
    uncached = output = written_5m = written_1h = read = searches = calls = unpriced = incomplete = cost = 0
    models = set[str]()
    for (_, variant, many, tokens_in, tokens_out, w5m, w1h, cached, searched), nanos in priced:
        calls += many
        uncached += tokens_in
        output += tokens_out
        written_5m += w5m
        written_1h += w1h
        read += cached
        searches += searched
        models.add(shown_model(variant))
        if variant.incomplete:
            incomplete += many
        if nanos is None:
            unpriced += many
        else:
            cost += nanos
    return Amounts(
        input_tokens=uncached,
        output_tokens=output,
        cache_write_5m_tokens=written_5m,
        cache_write_1h_tokens=written_1h,
        cache_read_tokens=read,
        web_searches=searches,
        calls=calls,
        unpriced_calls=unpriced,
        incomplete_calls=incomplete,
        cost_nanos=cost,
        models=tuple(sorted(models)),
    )


def total_of(rows: Iterable[Amounts]) -> Amounts:
    """Sum rows: totals are made of the rows themselves, so that they cannot differ."""
    rows = tuple(rows)
    return Amounts(
        input_tokens=sum(row.input_tokens for row in rows),
        output_tokens=sum(row.output_tokens for row in rows),
        cache_write_5m_tokens=sum(row.cache_write_5m_tokens for row in rows),
        cache_write_1h_tokens=sum(row.cache_write_1h_tokens for row in rows),
        cache_read_tokens=sum(row.cache_read_tokens for row in rows),
        web_searches=sum(row.web_searches for row in rows),
        calls=sum(row.calls for row in rows),
        unpriced_calls=sum(row.unpriced_calls for row in rows),
        incomplete_calls=sum(row.incomplete_calls for row in rows),
        cost_nanos=sum(row.cost_nanos for row in rows),
        models=tuple(sorted({model for row in rows for model in row.models})),
    )
