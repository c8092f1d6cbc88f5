"""The usage window: its figures, its chart, its table, and how money and tokens are written."""

from __future__ import annotations

from typing import Final

from desktop.words.amounts import number_of

TITLE: Final = "Usage"
PERIODS: Final = {
    "7d": "Last 7 days",
    "30d": "Last 30 days",
    "90d": "Last 90 days",
    "month": "This month",
    "last_month": "Last month",
    "year": "This year",
    "all": "Everything",
    "own": "From … to …",
}
GROUPS: Final = {"day": "Day", "model": "Model", "project": "Project", "session": "Session"}
UNITS: Final = {"cost": "Cost", "tokens": "Tokens"}
COLUMNS: Final = (
    "", "Input", "Output", "Cache written", "Cache read", "All tokens", "Calls", "Cost (US$)", "Remarks",
    "Claude Code's total", "Difference",
)  # fmt: skip
NOT_COMPARABLE: Final = "–"
FIGURES: Final = ("Cost", "Tokens", "Output tokens", "Calls", "Read from the cache")
CHART: Final = "Usage over time by model"
CHART_HELP: Final = "Left and Right choose a bar"
TABLE: Final = "Usage"
PERIOD: Final = "Period"
FROM: Final = "First day"
TO: Final = "Last day"
UNIT: Final = "What the bars show"
GROUP: Final = "What a row is"
COPY: Final = "Copy numbers"
EXPORT: Final = "Export CSV…"
NONE: Final = "Nothing was recorded in this period."
OTHERS: Final = "others"
BETWEEN: Final = "  ·  "
UNPRICED: Final = "unpriced"
TOTAL: Final = "Total"
CSV_FILES: Final = "CSV (*.csv)"
NOT_WRITTEN: Final = "The file could not be written"


def unpriced_calls(number: int) -> str:
    return f"{number:,} unpriced"


def incomplete_calls(number: int) -> str:
    return f"{number:,} incomplete"


def first_rows(shown_: int, total: int) -> str:
    return f"The first {shown_:,} of {total:,} are shown; the CSV has them all."


def at_least(amount: str) -> str:
    return f"≥ {amount}"


def money(amount: str) -> str:
    return f"${amount}"


def more(money: str) -> str:
    return f"+{money}"


def less(money: str) -> str:
    return f"−{money}"


def copied(why: str, money: str) -> str:
    return f"{why} Copied calls: {money}."


def own_total(total: str, difference: str, why: str) -> str:
    return f"{total} ({difference}). {why}" if difference else f"{total}. {why}"


def bar_of(day: str, total: str) -> str:
    return f"{day}: {total}"


def bar_part(name: str, amount: str) -> str:
    return f"{name}  {amount}"


def week_of(day: str) -> str:
    return f"Week of {day}"


def chart_summary(bars: str, total: str) -> str:
    return f"{bars}, {total} in all"


def bars(number: int) -> str:
    return number_of(number, "bar", "bars")


def thousands(number: str) -> str:
    return f"{number} K"


def millions(number: str) -> str:
    return f"{number} M"


def billions(number: str) -> str:
    return f"{number} G"
