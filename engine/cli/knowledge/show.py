"""`backscroll knowledge show`: one record as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli import options
from engine.cli.access import access_of
from engine.cli.knowledge import dates
from engine.cli.knowledge.asking import findings
from engine.cli.knowledge.page import Linked, page_lines, references
from engine.cli.output import Output
from engine.core.errors import NotFound
from engine.knowledge.errors import AmbiguousEntity, RecordNotFound

if TYPE_CHECKING:
    from engine.cli.access import Front

RECENT = 5
"""Dated records that a page of a person, a project or another entity shows."""


def show(
    ctx: typer.Context,
    name: Annotated[list[str], typer.Argument(metavar="NAME", help="An id, a whole title or an alias.")],
    *,
    offset: Annotated[
        int | None, typer.Option("--offset", metavar="N", help="With --json: the body from this character on.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show a record with its dates and evidence."""
    output = Output(as_json=as_json)
    with access_of(ctx).front() as front:
        reply = _record(front, " ".join(name), options.given(bodyOffset=offset))
        if as_json:
            output.json(reply)
            return
        record = reply["record"]
        _read_on(front, record)
        linked = _linked(front, record)
    paths = access_of(ctx).paths
    output.show(*page_lines(record, linked, dates.zone_of(paths), paths.knowledge / "vault", output.home))
    for sentence, style in findings(reply):
        output.say(sentence, style)


def _record(front: Front, name: str, more: dict[str, Any]) -> dict[str, Any]:
    """Return the record with this id, else the one with this name.

    Raises:
        RecordNotFound: There is none.
        AmbiguousEntity: Several are called so.
    """
    try:
        return front.call("knowledge_record", {"id": name, **more})
    except NotFound:
        found = front.call("knowledge_lookup", {"query": name, "lifecycle": "all"})
        if found.get("mergedInto"):
            return front.call("knowledge_record", {"id": found["mergedInto"], **more})
        if found["status"] == "missing":
            raise RecordNotFound(
                f"No record has exactly the id or name {name!r}",
                "",
                "`backscroll knowledge grep` searches words, `backscroll knowledge records` lists everything.",
            ) from None
        if found["status"] == "ambiguous":
            raise AmbiguousEntity(
                f"{found['total']} records are called {name!r}",
                "",
                "Ask again with one of their ids.",
                candidates=tuple(row["id"] for row in found["rows"][:10]),
            ) from None
        return front.call("knowledge_record", {"id": found["rows"][0]["id"], **more})


def _read_on(front: Front, record: dict[str, Any]) -> None:
    """Read the rest of a body that did not fit into one reply."""
    while (following := record.pop("nextBodyOffset", None)) is not None:
        rest = front.call("knowledge_record", {"id": record["id"], "bodyOffset": following})["record"]
        record["body"] += rest.get("body", "")
        if "nextBodyOffset" in rest:
            record["nextBodyOffset"] = rest["nextBodyOffset"]


def _linked(front: Front, record: dict[str, Any]) -> Linked:
    """Look up the titles of what a record names, and what is known about a page."""
    titles: dict[str, str] = {}
    for name in references(record):
        for row in front.call("knowledge_lookup", {"query": name, "lifecycle": "all"})["rows"]:
            if row["id"] == name:
                titles[name] = row["title"]
    if record.get("kind") != "page" or record.get("lifecycle") != "active" or record.get("flags"):
        return Linked(titles, [], 0)
    known = front.call("knowledge_timeline", {"entity": record["id"], "limit": RECENT, "includeSources": True})
    titles.update({each["id"]: each["title"] for each in known["sources"]})
    rows = [row for row in known["rows"] if row["id"] != record["id"]]
    return Linked(titles, rows, known["total"])
