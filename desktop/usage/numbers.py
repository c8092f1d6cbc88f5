"""Amounts as people read them, and as spreadsheets take them. Pure."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QLocale

from desktop import format as shown
from desktop import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from desktop.usage.model import Line
    from engine.usage.amounts import Amounts
    from engine.usage.rows import CostComparison

NANOS: Final = 1_000_000_000
OWN_TOTAL: Final = 9
"""The column from which Claude Code's own totals stand: only sessions have them."""
_STEPS: Final = (
    (1_000_000_000, words.usage.billions),
    (1_000_000, words.usage.millions),
    (10_000, words.usage.thousands),
)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins so is a formula to a spreadsheet (OWASP, CSV injection), and titles are other people's text."""


def short(number: float) -> str:
    """Return a number in a few characters: "1,204", "38.2 K", "1.2 M"."""
    for step, named in _STEPS:
        if number >= step:
            size = 1000 if step == 10_000 else step
            return named(QLocale().toString(number / size, "f", 1))
    return shown.count(round(number))


def dollars(nanos: float) -> str:
    """Return money; two places, more where there would be nothing to see."""
    amount = nanos / NANOS
    places = 2 if amount >= 0.1 or amount == 0 else 4
    return words.usage.money(QLocale().toString(amount, "f", places))


def own_total(own: CostComparison) -> str:
    """Return what Claude Code itself says a session cost."""
    return dollars(own.cost_usd * NANOS)


def difference(own: CostComparison) -> str:
    """Return how much more or less that is than the sum of the calls; a dash where they cannot be compared."""
    if own.difference_usd is None:
        return words.usage.NOT_COMPARABLE
    money = dollars(abs(own.difference_usd) * NANOS)
    return words.usage.less(money) if own.difference_usd < 0 else words.usage.more(money)


def cost(amounts: Amounts) -> str:
    """Return what calls cost, and that it is not all where some have no price."""
    if amounts.calls and amounts.calls == amounts.unpriced_calls:
        return words.usage.UNPRICED
    text = dollars(amounts.cost_nanos)
    return words.usage.at_least(text) if amounts.unpriced_calls or amounts.incomplete_calls else text


def tokens(amounts: Amounts, number: int) -> str:
    """Return a number of tokens that holds output, and that it is not all where some was not recorded."""
    return words.usage.at_least(short(number)) if amounts.incomplete_calls else short(number)


def remarks(amounts: Amounts) -> str:
    """Return what is missing from the numbers."""
    parts: list[str] = []
    if amounts.unpriced_calls:
        parts.append(words.usage.unpriced_calls(amounts.unpriced_calls))
    if amounts.incomplete_calls:
        parts.append(words.usage.incomplete_calls(amounts.incomplete_calls))
    return ", ".join(parts)


def written(amounts: Amounts) -> int:
    """Return tokens that were written into the cache."""
    return amounts.cache_write_5m_tokens + amounts.cache_write_1h_tokens


def exact(amounts: Amounts) -> list[str]:
    """Return the columns of the table for another program: no separators, all places."""
    is_unpriced = amounts.calls > 0 and amounts.calls == amounts.unpriced_calls
    whole, part = divmod(amounts.cost_nanos, NANOS)
    return [
        str(amounts.input_tokens),
        str(amounts.output_tokens),
        str(written(amounts)),
        str(amounts.cache_read_tokens),
        str(amounts.tokens),
        str(amounts.calls),
        words.usage.UNPRICED if is_unpriced else f"{whole}.{part:09d}",
        remarks(amounts),
    ]


def exact_own(own: CostComparison | None) -> list[str]:
    """Return Claude Code's own total and its difference for another program; nothing where there is none."""
    if own is None:
        return ["", ""]
    return [f"{own.cost_usd:.9f}", "" if own.difference_usd is None else f"{own.difference_usd:.9f}"]


def table_text(
    group: str, lines: Iterable[Line], totals: Amounts, *, with_own_totals: bool = False, separator: str = ","
) -> str:
    """Return lines and their total as CSV, or with tabs for the clipboard.

    Args:
        group: Heading of the first column.
        lines: In their order.
        totals: Of all lines.
        with_own_totals: Claude Code's own totals stand beside: sessions may have one.
        separator: Between two cells.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\r\n" if separator == "," else "\n")
    writer.writerow([group, *words.usage.COLUMNS[1 : None if with_own_totals else OWN_TOTAL]])
    for line in lines:
        own = exact_own(line.own_total) if with_own_totals else []
        writer.writerow([_harmless(line.key), *exact(line.amounts), *own])
    writer.writerow([words.usage.TOTAL, *exact(totals), *(exact_own(None) if with_own_totals else [])])
    return text.getvalue()


def _harmless(text: str) -> str:
    plain = shown.one_line(text)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain


def ranked(amounts: Sequence[tuple[str, float]], most: int) -> tuple[list[str], bool]:
    """Return the names with the largest numbers, the largest first, and whether there are others."""
    names = [name for name, number in sorted(amounts, key=lambda each: (-each[1], each[0])) if number > 0]
    return names[:most], len(names) > most
