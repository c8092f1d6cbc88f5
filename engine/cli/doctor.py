"""`backscroll doctor`: looks whether everything is as it should be, and mends it when asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

from engine.cli import options, words
from engine.cli.access import access_of
from engine.cli.exits import FINDINGS
from engine.cli.indented import Indented
from engine.cli.output import Output
from engine.cli.progress import ProgressView
from engine.cli.safe import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

_SIGNS: Final = {"ok": ("✓", "good"), "info": ("·", "faint"), "warning": ("!", "note"), "error": ("✗", "bad")}


def doctor(
    ctx: typer.Context,
    *,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended; the index is copied first.")] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Verify the whole archive instead of a sample.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Check that everything is as it should be."""
    output = Output(as_json=as_json)
    with access_of(ctx).front(writes=fix) as front, ProgressView(output, "Looking") as view:
        reply = front.call("doctor", options.given(fix=fix, deep=deep), on_progress=view.show)
    if as_json:
        output.json(reply)
    else:
        output.show(*_findings(reply))
        wrong = sum(each["severity"] in ("warning", "error") and not each.get("fixed") for each in reply["findings"])
        output.say("Everything is as it should be." if reply["ok"] else f"{words.count(wrong, 'thing')} to look at.")
        if any(each.get("fix") and "fixed" not in each for each in reply["findings"]):
            output.say("`backscroll doctor --fix` does what the lines with → say.", "faint")
    if not reply["ok"]:
        raise typer.Exit(FINDINGS)


def _findings(reply: dict[str, Any]) -> Iterator[RenderableType]:
    for each in reply["findings"]:
        sign, style = _SIGNS[each["severity"]]
        if each.get("fixed"):
            sign, style = "✓", "good"
        yield Text.assemble((sign, style), " ", (each["title"], "bold"), "  ", one_line(each["found"]))
        if each["means"]:
            yield Indented(Text(one_line(each["means"]), style="faint"), 2)
        if each.get("fix"):
            done = {True: "Done: ", False: "Failed: "}.get(each.get("fixed"), "→ ")  # pyright: ignore[reportArgumentType] - None when nothing was tried
            yield Indented(Text(done + one_line(each["fix"])), 2)
    if reply.get("note"):
        yield Text(one_line(reply["note"]), style="note")
