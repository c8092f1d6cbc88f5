"""Renders hits: who said it when and where, the snippet with its matches, and what it was an answer to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from engine.cli import words
from engine.cli.indented import Indented
from engine.cli.messages import message_lines
from engine.cli.safe import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from engine.cli.output import Output


def hit_lines(hit: dict[str, Any], number: int, output: Output) -> Iterator[RenderableType]:
    """Yield one hit, ended by an empty line."""
    yield _headline(hit, number, output)
    yield Indented(marked(hit["snippet"], hit.get("marks", ())), 4)
    exchange: dict[str, str] = hit.get("exchange", {})
    for name, sign in (("prompt", "» "), ("answer", "● ")):
        if exchange.get(name):
            yield Indented(Text(sign + one_line(exchange[name]), style="faint"), 4)
    for message in hit.get("messages", ()):
        for line in message_lines(message, whole=True):
            yield Indented(line, 4)
    yield Text()


def marked(snippet: str, marks: Sequence[Sequence[int]]) -> Text:
    """Return a snippet with its matches set apart. Marks are code points of the snippet as it came."""
    text = Text(visible(snippet))
    for start, end in marks:
        text.stylize("mark", start, end)
    return text


def search_footer(reply: dict[str, Any]) -> Iterator[str]:
    """Yield what must be said about an answer: how it was made, of how much, what it left out, how to go on."""
    shown, total = len(reply["hits"]), reply["total"]
    mode, coverage = reply["mode"], reply["coverage"]
    made = mode["realised"]
    if mode["realised"] != mode["requested"]:
        made = f"{mode['realised']} instead of {mode['requested']}"
    parts = [f"{shown:,} of {total:,}" if total else "Nothing found", f"{made} search"]
    if mode["requested"] != "keyword":
        parts.append(f"by meaning: {coverage['percent']:g} % of the history")
    yield " · ".join(parts)
    if mode.get("reason"):
        yield one_line(str(mode["reason"]))
    if reply.get("total_is"):
        yield one_line(str(reply["total_is"]))
    if reply.get("corrected_query"):
        yield f"Nothing matched as written; searched for: {one_line(reply['corrected_query'])}"
    if reply.get("low_signal_matches"):
        yield f"{words.count(reply['low_signal_matches'], 'more match', 'more matches')} in what says little: --all"
    if reply.get("projects"):
        yield "Projects that do match: " + ", ".join(one_line(each) for each in reply["projects"])
    if reply.get("note"):
        yield reply["note"]
    if reply.get("next_offset") is not None:
        yield f"More: --offset {reply['next_offset']}"


def _headline(hit: dict[str, Any], number: int, output: Output) -> Text:
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
    line.append("  ")
    line.append(one_line(words.place(hit.get("project"), output.home)), "place")
    if not hit.get("on_disk", True):
        line.append("  archive only", "faint")
    if hit.get("similar"):
        line.append(f"  +{hit['similar']} alike", "faint")
    if hit.get("session_title"):
        line.append("  ")
        line.append(one_line(hit["session_title"]))
    return line
