"""Times, durations, and how many of something there are."""

from __future__ import annotations

from typing import Final


def number_of(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


JUST_NOW: Final = "just now"
YESTERDAY: Final = "yesterday"
LESS_THAN_ONE_PERCENT: Final = "under 1 %"


def percent(number: int) -> str:
    return f"{number} %"


def seconds(number: int) -> str:
    return f"{number} s"


def minutes(number: int) -> str:
    return f"{number} min"


def hours(number: int) -> str:
    return f"{number} h"


def days(number: int) -> str:
    return number_of(number, "day", "days")


def minutes_ago(number: int) -> str:
    return f"{number} min ago"


def hours_ago(number: int) -> str:
    return f"{number} h ago"


def days_ago(number: int) -> str:
    return f"{number} days ago"


def day_and_time(day: str, time: str) -> str:
    return f"{day}, {time}"


def messages(number: int) -> str:
    return number_of(number, "message", "messages")


def sessions(number: int) -> str:
    return number_of(number, "session", "sessions")


def files(number: int) -> str:
    return number_of(number, "file", "files")
