"""Renders rows of Knowledge: hits with the words that matched, and dated rows grouped by day."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from engine.cli.indented import Indented
from engine.cli.knowledge import dates
from engine.cli.safe import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from zoneinfo import ZoneInfo

    from rich.console import RenderableType

_WORD: Final = re.compile("(?:[^\\W_][\u0300-\u036f]*)+")
"""Letters and digits with the accents that stand on them."""


def hit_lines(row: dict[str, Any], number: int, query: str, zone: ZoneInfo, *, full: bool) -> Iterator[RenderableType]:
    """Yield one hit of a search or lookup, ended by an empty line.

    Args:
        row: Complete or short.
        number: In the list, from 1.
        query: Its words are marked.
        zone: Of the record's date.
        full: With evidence and file, where the row has them.
    """
    date = dates.shown(row["date"], zone) if "date" in row else ""
    yield Indented(_head(row, query, date), 4, Text(f"{number:>3} ", style="bold"))
    text = _snippet(row)
    if text:
        yield Indented(marked(text, query), 4)
    via = row.get("via")
    if via:
        earlier = f'"{one_line(via["title"])}", ' if via.get("title") else ""
        yield Indented(Text(f"found by an earlier wording: {earlier}{one_line(via['id'])}", style="faint"), 4)
    if full:
        yield from citation_lines(row, 4)
    yield Text()


def citation_lines(row: dict[str, Any], columns: int) -> Iterator[RenderableType]:
    """Yield what only complete rows have: the evidence, shortly, and the file."""
    for cited in row.get("evidence", ()):
        quote: str | None = cited.get("quote")
        if quote:
            said = Text.assemble(("“" + one_line(quote) + "”", ""), style="thinking")
            said.append(f"  {one_line(str(cited.get('attribution') or cited['id']))}", "faint")
            yield Indented(said, columns)
    if row.get("evidenceUnverified"):
        yield Indented(Text(f"{row['evidenceUnverified']} not verified", style="note"), columns)
    if row.get("path"):
        yield Indented(Text(one_line(row["path"]), style="place"), columns)


def day_lines(rows: Sequence[dict[str, Any]], zone: ZoneInfo, titles: dict[str, str]) -> Iterator[RenderableType]:
    """Yield dated rows under a heading for each day.

    Args:
        rows: In the order they are shown.
        zone: Of days and times.
        titles: Of sources, by id, as far as they are known.
    """
    for day, of_day in groupby(rows, lambda row: dates.split(row["date"], zone)[0]):
        yield Text.assemble((day, "time"), f"  {dates.weekday(day)}")
        for row in of_day:
            yield from _dated_lines(row, zone, titles)
        yield Text()


def marked(text: str, query: str) -> Text:
    """Return a snippet with the words of the question set apart, in any case and with any accents."""
    sought = {_folded(word) for word in _WORD.findall(query)}
    found = Text(text)
    for word in _WORD.finditer(text):
        if _folded(word[0]) in sought:
            found.stylize("mark", *word.span())
    return found


def _snippet(row: dict[str, Any]) -> str:
    """Return what a row shows of its record; where the title or an alias matched, the summary says more."""
    snippet: str | dict[str, Any] = row.get("snippet") or ""
    if isinstance(snippet, dict):
        in_body = snippet["field"] == "body"
        snippet = str(snippet["text"] if in_body else row.get("summary") or snippet["text"])
    return visible(snippet).strip()


def state_of(row: dict[str, Any]) -> str:
    """Return what is special about a record's standing; nothing for an active one."""
    states: list[str] = [] if row.get("lifecycle", "active") == "active" else [str(row["lifecycle"])]
    if row.get("expired"):
        states.append("expired")
    return ", ".join(states)


def _dated_lines(row: dict[str, Any], zone: ZoneInfo, titles: dict[str, str]) -> Iterator[RenderableType]:
    yield Indented(_head(row), 9, Text(f"  {dates.split(row['date'], zone)[1]}", style="time"))
    if row.get("summary"):
        yield Indented(Text(visible(row["summary"]).strip()), 9)
    named: list[str] = row.get("sources", [])
    sources = [titles.get(each, each) for each in named]
    if sources:
        yield Indented(Text("from " + ", ".join(one_line(each) for each in sources), style="faint"), 9)
    if row.get("claims"):
        yield Indented(Text(f"{row['claims']} recorded from it", style="faint"), 9)
    yield from citation_lines(row, 9)


def _head(row: dict[str, Any], query: str = "", date: str = "") -> Text:
    """Return a record in a line: its title, then what it is, its date, its id, its standing and tags."""
    line = marked(one_line(row["title"]), query)
    line.stylize("bold")
    for part, style in (
        (row.get("type") or row["kind"], "tool"),
        (date, "time"),
        (row["id"], "id"),
        (state_of(row), "note"),
        (" ".join(f"#{tag}" for tag in row.get("tags", ())), "faint"),
    ):
        if part:
            line.append("  ").append(one_line(part), style)
    return line


def _folded(word: str) -> str:
    split = unicodedata.normalize("NFD", word.casefold())
    return "".join(each for each in split if not unicodedata.combining(each))
