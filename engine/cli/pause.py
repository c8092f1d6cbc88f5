"""`backscroll pause`: lets indexing rest, for a time or until `backscroll resume`."""

from __future__ import annotations

import re
from typing import Annotated, Final

import typer

from engine.cli import options, words
from engine.cli.access import access_of
from engine.cli.output import Output
from engine.core.errors import InvalidArgument

_PART: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(h|min|m|s|d)", re.IGNORECASE)
_TIME: Final = re.compile(rf"(?:{_PART.pattern}\s*)+", re.IGNORECASE)
_SECONDS: Final = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
LONGEST_S: Final = 365 * 86_400
"""What the engine takes as well; a pause for good is one without a time."""


def pause(
    ctx: typer.Context,
    time: Annotated[
        list[str] | None, typer.Argument(metavar="[TIME]", help="30m, 1h, 1h30m: goes on by itself after that.")
    ] = None,
    *,
    as_json: options.AsJson = False,
) -> None:
    """Pause indexing; searching still works."""
    output = Output(as_json=as_json)
    arguments = {"seconds": seconds_of(" ".join(time))} if time else {}
    with access_of(ctx).running() as front:
        reply = front.call("pause", arguments)
    if as_json:
        output.json(reply)
    elif reply.get("until"):
        output.show(f"Indexing is paused until {words.moment(reply['until'])}. `backscroll resume` ends it now.")
    else:
        output.show("Indexing is paused, until `backscroll resume` or the next start.")


def seconds_of(text: str) -> int:
    """Return a duration as people write it (`90s`, `30m`, `1h30m`, `2d`) in seconds.

    Raises:
        InvalidArgument: It is none, or not between a second and a year.
    """
    hint = "Write it like 30m, 1h or 1h30m."
    if not _TIME.fullmatch(text.strip()):
        raise InvalidArgument(f"{text[:60]!r} is no length of time", "", hint)
    seconds = round(sum(float(number) * _SECONDS[unit.lower()] for number, unit in _PART.findall(text)))
    if not 1 <= seconds <= LONGEST_S:
        raise InvalidArgument("A pause lasts from a second to a year", f"You sent {text[:60]!r}.", hint)
    return seconds
