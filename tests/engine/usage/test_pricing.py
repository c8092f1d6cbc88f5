from __future__ import annotations

import pytest

from engine.core.setting_kinds import PriceSetting
from engine.store.usage import CallVariant
from engine.store.usage_sums import UsageCell
from engine.usage.calls import PROMPT_STEPS, time_of
from engine.usage.pricing import Prices, family_of

TODAY = time_of("2026-11-30T00:00:00Z") or 0


def cell(model: str, *, speed: str = "standard", prompt_over: int = 0, tokens: tuple[int, ...] = (1,) * 5) -> UsageCell:
    return UsageCell._make((0, CallVariant(model, speed, "standard", prompt_over, 0), 1, *tokens, 0))


def per_million(model: str, at_ms: int = TODAY, *, prices: Prices | None = None, **more: object) -> tuple[object, ...]:
    """Return dollars per million input, output, 5-minute write, 1-hour write and read tokens."""
    one = [tuple(10**6 if at == place else 0 for at in range(5)) for place in range(5)]
    prices = prices or Prices()
    nanos = [prices.cost_nanos(cell(model, tokens=tokens, **more), at_ms) for tokens in one]  # pyright: ignore[reportArgumentType] - speed or prompt_over
    return tuple(None if each is None else each / 10**9 for each in nanos)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-4-5-20251101", (5, 25, 6.25, 10, 0.5)),
        ("claude-opus-4-8", (5, 25, 6.25, 10, 0.5)),
        ("claude-opus-4-1-20250805", (15, 75, 18.75, 30, 1.5)),
        ("claude-opus-4-20250514", (15, 75, 18.75, 30, 1.5)),
        ("claude-sonnet-4-20250514", (3, 15, 3.75, 6, 0.3)),
        ("claude-sonnet-4-6", (3, 15, 3.75, 6, 0.3)),
        ("claude-haiku-4-5-20251001", (1, 5, 1.25, 2, 0.1)),
        ("claude-3-5-haiku-20241022", (0.8, 4, 1, 1.6, 0.08)),
        ("claude-fable-5", (10, 50, 12.5, 20, 1)),
        ("claude-opus-5-5", (4, 20, 5, 8, 0.2)),
    ],
)
def test_prices_are_those_of_the_table(model: str, expected: tuple[float, ...]) -> None:
    assert per_million(model) == expected


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-3-5-haiku-20241022", "claude-haiku-3-5"),
        ("claude-3-7-sonnet-latest", "claude-sonnet-3-7"),
        ("claude-3-opus-20240229", "claude-opus-3"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4"),
        ("claude-opus-4-0", "claude-opus-4"),
        ("claude-opus-4-8[1m]", "claude-opus-4-8"),
        ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("global.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0", "claude-opus-4-1"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4@default", "claude-sonnet-4"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("Claude-Opus-4-5", "claude-opus-4-5"),
        ("glm-5.1", "glm-5.1"),
        ("z-ai/glm-5.1", "glm-5.1"),
        ("minimax-m2.7[200k]", "minimax-m2.7"),
    ],
)
def test_names_of_one_model_have_one_family(name: str, family: str) -> None:
    assert family_of(name) == family


@pytest.mark.parametrize(
    "model", ["claude-opus-6", "claude-opus-4-9", "claude-fable-5-2", "claude-opus-4-5-mini", "glm-5", ""]
)
def test_a_model_that_is_not_in_the_table_has_no_price(model: str) -> None:
    assert per_million(model) == (None,) * 5


def test_a_long_prompt_makes_the_whole_call_dearer() -> None:
    assert per_million("claude-sonnet-4-5", prompt_over=200_000) == (6, 22.5, 7.5, 12, 0.6)
    assert per_million("claude-sonnet-4-5", prompt_over=100_000) == (3, 15, 3.75, 6, 0.3)
    assert per_million("claude-haiku-5-5", prompt_over=100_000) == (0.5, 2.5, 0.625, 1, 0.05)
    assert per_million("claude-haiku-5-5", prompt_over=200_000) == (0.5, 2.5, 0.625, 1, 0.05)


@pytest.mark.parametrize(("model", "factor"), [("claude-opus-4-6", 6), ("claude-opus-4-7", 6), ("claude-opus-4-8", 2)])
def test_fast_mode_multiplies_every_class(model: str, factor: int) -> None:
    usual = per_million(model)
    assert per_million(model, speed="fast") == tuple(factor * float(str(each)) for each in usual)


def test_a_speed_without_a_known_price_is_unpriced() -> None:
    assert per_million("claude-haiku-4-5", speed="fast") == (None,) * 5
    assert per_million("claude-opus-4-8", speed="warp") == (None,) * 5


def test_a_price_holds_from_its_first_day_until_the_next_ones() -> None:
    last, first = time_of("2026-10-06T23:59:59.999Z") or 0, time_of("2026-10-07T00:00:00Z") or 0
    assert (per_million("claude-sonnet-5-5", last)[4], per_million("claude-sonnet-5-5", first)[4]) == (0.2, 0.1)
    assert first in Prices().changes()


def test_an_own_price_stands_instead_of_the_tables() -> None:
    prices = Prices([PriceSetting("claude-opus-4-8", 1, 2, cache_read=0.0375)])
    assert per_million("claude-opus-4-8[1m]", prices=prices) == (1, 2, 1.25, 2, 0.0375)
    assert per_million("claude-opus-4-7", prices=prices)[0] == 5


def test_an_own_price_makes_a_foreign_model_priced_and_may_be_nothing() -> None:
    prices = Prices([PriceSetting("GLM-5.1", 0.6, 2.2), PriceSetting("local", 0, 0)])
    assert per_million("z-ai/glm-5.1", prices=prices) == (0.6, 2.2, 0.75, 1.2, 0.06)
    assert per_million("local", prices=prices) == (0,) * 5


def test_money_is_whole_billionths_without_drift() -> None:
    """8 hundredths of a dollar a million are 80 billionths a token: a float would lose them in a long sum."""
    cost = Prices().cost_nanos(cell("claude-3-5-haiku-20241022", tokens=(0, 0, 0, 0, 123_456_789_123)), TODAY)
    assert cost == 123_456_789_123 * 80


def test_a_web_search_costs_a_cent() -> None:
    searched = cell("claude-opus-4-8", tokens=(0,) * 5)._replace(web_searches=3)
    assert Prices().cost_nanos(searched, TODAY) == 30_000_000


def test_every_row_of_the_table_says_where_it_comes_from_and_can_be_reached() -> None:
    for price in Prices().rows():
        assert price.source, price
        assert price.date, price
        assert family_of(price.family) == price.family
        assert price.long_over is None or price.long_over in PROMPT_STEPS, "calls record no other step"
        assert price.rates.cache_write_1h == 2 * price.rates.input


def test_prices_of_one_family_do_not_overlap() -> None:
    rows = Prices().rows()
    for one in rows:
        for other in rows:
            if one is not other and one.family == other.family:
                assert one.until_ms == other.from_ms or other.until_ms == one.from_ms, one.family
