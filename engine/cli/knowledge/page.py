"""Renders one record as a page: what it says, when, who said it, about what, and the evidence with its quotes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from rich.table import Table
from rich.text import Text

from engine.cli import words
from engine.cli.indented import Indented
from engine.cli.knowledge import dates
from engine.cli.knowledge.rows import day_lines, state_of
from engine.cli.safe import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from rich.console import RenderableType

EVIDENCE_LINES: Final = 6
"""Lines of a retained original that are shown around a quote."""

_UNVERIFIED: Final = {
    "no_descriptor": "its description is missing",
    "no_file": "the retained original is missing",
    "changed": "the retained original was changed",
    "no_lines": "the original has no such lines",
    "no_quote": "the original does not say this",
}
_TRANSCRIPTS: Final = {
    "verified": "the transcript still says so",
    "changed": "the transcript says something else now",
    "gone": "the transcript is gone; this copy remains",
}


@dataclass(frozen=True, slots=True)
class Linked:
    """What a page shows of other records."""

    titles: Mapping[str, str]
    """By id, as far as they are there."""
    rows: Sequence[dict[str, Any]]
    """The newest dated records about this one."""
    total: int
    """How many dated records there are."""


def references(record: dict[str, Any]) -> list[str]:
    """Return the ids that a record names, each once."""
    named = [record.get(key) for key in ("supersededBy", "mergedInto", "owner", "from", "to")]
    named.append(record.get("attribution", {}).get("by"))
    for key in ("entities", "sources", "supersedes", "dependencies"):
        named += record.get(key, ())
    return list(dict.fromkeys(one for one in named if one and " " not in one))


def page_lines(
    record: dict[str, Any], linked: Linked, zone: ZoneInfo, vault: Path, home: Path
) -> Iterator[RenderableType]:
    """Yield the page of a record.

    Args:
        record: As `knowledge_record` answers it.
        linked: What is known of the records it names.
        zone: Of dates that are moments.
        vault: Folder of the records.
        home: Shown as `~` in paths.
    """
    yield Text(one_line(record.get("title") or record["path"]), style="bold")
    yield _standing(record, linked)
    yield Text()
    body = visible(record.get("body") or "").strip()
    if body:
        yield Text(body)
        yield Text()
    table = Table.grid(padding=(0, 2))
    table.add_column(style="faint", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _details(record, linked, zone):
        table.add_row(name, value)
    table.add_row("File", Text(one_line(words.place(str(vault / record["path"]), home)), style="place"))
    yield table
    yield from _findings(record)
    yield from _evidence(record)
    if linked.rows:
        yield Text.assemble("\n", ("What is recorded about it", "bold"))
        yield from day_lines(linked.rows, zone, dict(linked.titles))
        if linked.total > len(linked.rows):
            yield Text(f"{linked.total} in all: backscroll knowledge timeline --entity {record['id']}", style="faint")
    yield Text()


def _standing(record: dict[str, Any], linked: Linked) -> Text:
    line = Text.assemble((one_line(record.get("id") or "no id"), "id"))
    if "type" in record:
        kind, of_type = one_line(record["kind"]), one_line(record["type"])
        line.append(f"  {of_type}" if kind == of_type else f"  {kind}: {of_type}", "tool")
        line.append(f"  revision {record['revision']}", "faint")
    flags = ", ".join(record.get("flags", ()))
    if flags:
        line.append(f"  {flags}", "bad")
    state = state_of(record)
    if state:
        line.append(f"  {state}", "note")
    for key in ("supersededBy", "mergedInto"):
        if record.get(key):
            line.append(" by " if key == "supersededBy" else " into ", "note")
            line.append_text(_named(record[key], linked))
    return line


def _details(record: dict[str, Any], linked: Linked, zone: ZoneInfo) -> Iterator[tuple[str, Text]]:
    for name, key in (("Occurred", "occurredAt"), ("Due", "dueAt"), ("Valid until", "validUntil")):
        if record.get(key):
            yield name, Text(dates.shown(record[key], zone), style="time")
    for name, key in (("From", "from"), ("To", "to"), ("Owner", "owner")):
        if record.get(key):
            yield name, _named(record[key], linked)
    if record.get("attribution"):
        yield "Said by", _said_by(record, linked)
    for name, key in (
        ("About", "entities"),
        ("Sources", "sources"),
        ("Supersedes", "supersedes"),
        ("Depends on", "dependencies"),
    ):
        if record.get(key):
            yield name, Text("\n").join(_named(each, linked) for each in record[key])
    yield from _words(record)
    yield from _changes(record, zone)


def _said_by(record: dict[str, Any], linked: Linked) -> Text:
    said = record["attribution"]
    line = _named(said["by"], linked)
    how = [f"via {one_line(said['via'])}"] if said.get("via") else []
    how += [one_line(record["assertionOrigin"])] if record.get("assertionOrigin") else []
    if how:
        line.append(f"  {', '.join(how)}", "faint")
    return line


def _words(record: dict[str, Any]) -> Iterator[tuple[str, Text]]:
    """Yield the fields of a page's type, its aliases and tags."""
    fields: dict[str, Any] = record.get("fields") or {}
    for name, value in fields.items():
        if name != "occurred_at":  # stands above as the record's date
            listed = cast("list[object]", value) if isinstance(value, list) else [value]
            yield one_line(name).replace("_", " ").capitalize(), Text(one_line(", ".join(str(each) for each in listed)))
    for name, key in (("Aliases", "aliases"), ("Tags", "tags")):
        if record.get(key):
            yield name, Text(one_line(", ".join(record[key])))


def _changes(record: dict[str, Any], zone: ZoneInfo) -> Iterator[tuple[str, Text]]:
    change = record.get("lifecycleChange")
    if change:
        by = f" by {one_line(change['actor'])}" if change.get("actor") else ""
        said = f"{dates.shown(change['at'], zone)}{by}: {one_line(change['reason'])}"
        yield one_line(record["lifecycle"]).capitalize(), Text(said)
    if record.get("recordedAt"):
        line = Text(dates.shown(record["recordedAt"], zone), style="time")
        if record["updatedAt"] != record["recordedAt"]:
            line.append(f", changed {dates.shown(record['updatedAt'], zone)}")
        yield "Recorded", line


def _findings(record: dict[str, Any]) -> Iterator[RenderableType]:
    issues = record.get("issues", ())
    missing = record.get("unavailableReferences", ())
    if issues or missing:
        yield Text.assemble("\n", ("Findings", "bold"))
    for issue in issues:
        where = f"line {issue['line']}: " if issue.get("line") else ""
        yield Indented(Text.assemble((where, "faint"), one_line(issue["message"])), 2)
    if missing:
        yield Indented(Text("Not in use, because these are not available: " + ", ".join(missing), style="note"), 2)


def _evidence(record: dict[str, Any]) -> Iterator[RenderableType]:
    if not record.get("evidence"):
        return
    yield Text.assemble("\n", ("Evidence", "bold"))
    for cited in record["evidence"]:
        verified = cited.get("state") == "verified"
        sign = ("✓ ", "good") if verified else ("✗ ", "bad")
        quote = f"“{one_line(cited['quote'])}”" if cited.get("quote") else one_line(cited["id"])
        yield Indented(Text.assemble(sign, quote), 2)
        origin = _origin(cited)
        if origin:
            yield Indented(Text(origin, style="faint"), 4)
        if not verified:
            said = _UNVERIFIED.get(cited.get("state"), str(cited.get("state")))
            yield Indented(Text(f"Not verified: {said}", style="bad"), 4)
        around = visible(cited.get("text") or "").strip()
        if around and around != (cited.get("quote") or "").strip():
            lines = around.splitlines()
            more = [f"… {words.count(len(lines) - EVIDENCE_LINES, 'more line')}"] if len(lines) > EVIDENCE_LINES else []
            yield Indented(Text("\n".join([*lines[:EVIDENCE_LINES], *more]), style="thinking"), 4)


def _origin(cited: dict[str, Any]) -> str:
    """Return who said it, where it stands, and where it came from."""
    parts = [cited.get("attribution"), cited.get("filename")]
    lines = cited.get("lines")
    if lines:
        parts.append(f"line {lines[0]}" if lines[0] == lines[1] else f"lines {lines[0]} to {lines[1]}")
    parts.append(cited.get("descriptor", {}).get("url"))
    if cited.get("messageUuid"):
        parts.append(f"backscroll show --hit {cited['messageUuid']}")
    if cited.get("transcript"):
        parts.append(_TRANSCRIPTS.get(cited["transcript"], cited["transcript"]))
    return " · ".join(one_line(part) for part in parts if part)


def _named(name: str, linked: Linked) -> Text:
    """Return a record by its title with its id, or what else stands there."""
    title = linked.titles.get(name)
    if title is None:
        return Text(one_line(name), style="id" if name.startswith("k_") else "")
    return Text.assemble(one_line(title), "  ", (one_line(name), "id"))
