"""Renders hits: who said it when and where, the snippet with its matches, and what it was an answer to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from engine.cli import words
from engine.cli.indented import Indented
from engine.cli.messages import Conversation
from engine.cli.safe import one_line, visible
from engine.cli.tables import tail
from engine.cli.wording import as_commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from engine.cli.output import Output

ROOM_FOR_ONE_LINE: Final = 110
"""Columns from which on place and title stand beside the ids."""
PLACE_WIDTH: Final = 36
_CORRECTED: Final = re.compile(r"[^.]*\bcorrected_query\b[^.]*\.?")
"""The engine's sentence about a field that is shown here in words."""
_PROJECTS: Final = re.compile(r"; `projects` names where the words do occur")
"""As above: they are listed here."""


def hit_lines(hit: dict[str, Any], number: int, output: Output) -> Iterator[RenderableType]:
    """Yield one hit, ended by an empty line."""
    yield from _headlines(hit, number, output)
    yield Indented(marked(hit["snippet"], hit.get("marks", ())), 4)
    exchange: dict[str, str] = hit.get("exchange", {})
    for name, sign in (("prompt", "» "), ("answer", "● ")):
        if exchange.get(name):
            yield Indented(Text(sign + one_line(exchange[name]), style="faint"), 4)
    messages = hit.get("messages", ())
    if messages:
        yield Text()
        conversation = Conversation(whole=True)
        yield from (Indented(line, 4) for message in messages for line in conversation.lines(message))
    yield Text()


def knowledge_lines(rows: Sequence[dict[str, Any]]) -> Iterator[RenderableType]:
    """Yield what Knowledge has recorded about the same question."""
    if not rows:
        return
    yield Text("Recorded in Knowledge", style="bold")
    for row in rows:
        yield Indented(Text.assemble((one_line(row["title"]), "bold"), "  ", (one_line(row["id"]), "id")), 4)
        if row.get("snippet"):
            yield Indented(Text(visible(row["snippet"]).strip()), 4)
    yield Text()


def marked(snippet: str, marks: Sequence[Sequence[int]]) -> Text:
    """Return a snippet with its matches set apart. Marks are code points of the snippet as it came."""
    text = Text(visible(snippet))
    for start, end in marks:
        text.stylize("mark", start, end)
    return text


def search_footer(reply: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what must be said about an answer, each sentence with its style.

    How it was made, of how much of the history, what it left out, how to go on.
    """
    shown, total = len(reply["hits"]), reply["total"]
    of_what = f" {one_line(reply['total_is'])}" if reply.get("total_is") and total > shown else ""
    mode, coverage = reply["mode"], reply["coverage"]
    made = mode["realised"]
    if mode["realised"] != mode["requested"]:
        made = f"{mode['realised']} instead of {mode['requested']}"
    parts = [f"{shown:,} of {total:,}{of_what}" if total else "Nothing found", f"{made} search"]
    if mode["realised"] != "keyword" and coverage["percent"] < 100 and not mode.get("reason"):
        parts.append(f"by meaning: {coverage['percent']:g} % of the history")
    yield " · ".join(parts), "faint"
    if mode.get("reason"):
        yield one_line(str(mode["reason"])), "faint"
    if reply.get("corrected_query"):
        yield f"Nothing matched as written; searched for: {one_line(reply['corrected_query'])}", "note"
    if reply.get("low_signal_matches"):
        more = words.count(reply["low_signal_matches"], "more match", "more matches")
        yield f"{more} in what says little: --all", "faint"
    if reply.get("projects"):
        yield "Projects that do match: " + ", ".join(one_line(each) for each in reply["projects"]), "note"
    note = _PROJECTS.sub("", _CORRECTED.sub("", reply.get("note") or "")).strip()
    if note:
        yield as_commands(note), "note"
    if reply.get("limit_applied"):
        yield f"At most {reply['limit_applied']} at a time", "faint"
    if reply.get("next_offset") is not None:
        yield f"More: --offset {reply['next_offset']}", "faint"


def _headlines(hit: dict[str, Any], number: int, output: Output) -> Iterator[Text]:
    """Yield who said it when and the ids, and where: in one line where there is room for both."""
    who = hit.get("tool") or hit["role"]
    style = "user" if hit["role"] == "user" else "tool" if hit.get("tool") else "assistant"
    line = Text.assemble(
        (f"{number:>3} ", "bold"),
        (words.moment(hit.get("timestamp")), "time"),
        "  ",
        (one_line(who), style),
        no_wrap=True,
        overflow="ellipsis",
    )
    if hit["kind"] == "thinking":
        line.append(" (thinking)", "thinking")
    line.append(f"  {hit['session_id'][:8]} {hit['chunk_id']}", "id")
    place = Text(one_line(words.place(hit.get("project"), output.home)), style="place")
    title = one_line(hit.get("session_title") or "")
    if output.width < ROOM_FOR_ONE_LINE:
        line.append_text(_standing(hit))
        yield line
        where = Text.assemble("    ", (tail(place.plain, PLACE_WIDTH), "place"), no_wrap=True, overflow="ellipsis")
        yield where.append(f"  {title}") if title else where
        return
    line.append("  ").append_text(place).append_text(_standing(hit))
    yield line.append(f"  {title}") if title else line


def _standing(hit: dict[str, Any]) -> Text:
    said = Text(style="faint")
    if not hit.get("on_disk", True):
        said.append("  archive only")
    if hit.get("similar"):
        said.append(f"  +{hit['similar']} alike")
    return said
