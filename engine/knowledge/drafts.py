"""New records as files: their keys from a request, their name from their title, their place from the vocabulary."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from engine.knowledge.errors import InvalidArgument
from engine.knowledge.manifest import new_id
from engine.knowledge.names import file_stem, normal_name
from engine.knowledge.records import FORMAT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from engine.knowledge.records import Kind
    from engine.knowledge.requests import JsonObject
    from engine.knowledge.retain import Cited
    from engine.knowledge.snapshot import Snapshot
    from engine.knowledge.yamltext import YamlValue

_COMMON = ("title", "summary", "aliases", "tags", "sources", "dependencies")
_KEYS: Mapping[str, tuple[str, ...]] = {
    "claim": (
        *_COMMON,
        "claim_kind",
        "occurred_at",
        "valid_until",
        "due_at",
        "owner",
        "entities",
        "source_event",
        "attribution",
        "assertion_origin",
    ),
    "relationship": (*_COMMON, "type", "from", "to", "occurred_at", "valid_until", "attribution", "assertion_origin"),
}


def envelope(kind: Kind, scope: str, now: str, name: str | None = None) -> dict[str, YamlValue]:
    """Return the keys every new record begins with."""
    return {
        "format": FORMAT,
        "id": name or new_id("k"),
        "revision": 1,
        "kind": kind,
        "scope": scope,
        "lifecycle": "active",
        "recorded_at": now,
        "updated_at": now,
    }


def assertion_values(
    record: JsonObject,
    kind: Kind,
    cited: Sequence[Cited],
    scope: str,
    now: str,
) -> dict[str, YamlValue]:
    """Return the keys of a new claim or relationship.

    A claim that does not say who stated it takes the attribution of its first evidence, and the time of the earliest
    cited message as the time of the statement: both are known, not guessed.
    """
    values = envelope(kind, scope, now)
    for key in _KEYS[kind]:
        if key in record:
            values[key] = cast("YamlValue", record[key])
    if kind == "claim":
        if "attribution" not in values:
            by = next((one.attribution for one in cited if one.attribution), None)
            if by is None:
                raise InvalidArgument("attribution is missing", "A claim says who stated it.", 'Pass {"by": "name"}.')
            values["attribution"] = {"by": by}
        values.setdefault("assertion_origin", "stated")
        said = sorted(one.said_at for one in cited if one.said_at is not None)
        if said:
            values.setdefault("occurred_at", said[0])
    values["evidence"] = [dict(one.item) for one in cited]
    return values


def title_of(record: JsonObject, kind: Kind, snapshot: Snapshot) -> str:
    """Return the title of a new record; a relationship without one is named by its ends."""
    title = record.get("title")
    if isinstance(title, str) and title.strip():
        return " ".join(title.split())
    if kind == "relationship":
        ends = [snapshot.eligible.get(str(record.get(key))) for key in ("from", "to")]
        if ends[0] is not None and ends[1] is not None:
            return f"{ends[0].title} {str(record.get('type', '')).replace('_', ' ')} {ends[1].title}"
    raise InvalidArgument("title is missing", "It is what somebody will search for.", "Pass a title of one line.")


def see_links(snapshot: Snapshot, values: Mapping[str, YamlValue]) -> list[YamlValue]:
    """Return the generated mirror of references that Obsidian's graph shows; reading ignores it (contract 4)."""
    names: list[YamlValue] = []
    for key in ("entities", "owner", "from", "to", "sources"):
        value = values.get(key)
        names += value if isinstance(value, list) else [value] if value is not None else []
    found: dict[str, None] = {}
    for name in names:
        file = snapshot.by_id.get(str(name))
        if file is not None:
            found[f"[[{file.path.rpartition('/')[2].removesuffix('.md')}]]"] = None
    return list(found)


def new_path(
    vault: Path, snapshot: Snapshot, values: Mapping[str, YamlValue], *, type_name: str, day: str | None
) -> str:
    """Return a free path for a new record, compared without case because other systems do (contract 5, point 3)."""
    kind, title, name = (str(values[key]) for key in ("kind", "title", "id"))
    rule = snapshot.ontology.rule("page", type_name) if kind == "page" else None
    folder = (rule.folder if rule is not None else None) or "pages"
    stem = file_stem(title)
    if kind == "claim":
        folder, stem = f"claims/{(day or '')[:4] or 'undated'}", f"{day or ''} {stem} {name[:4]}".strip()
    elif kind == "relationship":
        folder, stem = "relationships", f"{stem} {name[:4]}"
    elif day is not None:
        stem = stem if stem.startswith(day) else f"{day} {stem}"
    folder = _as_spelled(vault, folder)
    taken = {file.path.casefold() for file in snapshot.scan.files}
    for candidate in (f"{folder}/{stem}.md", f"{folder}/{stem} {name}.md"):
        if candidate.casefold() not in taken and not os.path.lexists(vault / candidate):
            return candidate
    return f"{folder}/{name}.md"


def _as_spelled(vault: Path, folder: str) -> str:
    """Return a folder under the names it already has: a second one that differs by case would be one elsewhere."""
    spelled: list[str] = []
    for part in folder.split("/"):
        above = vault.joinpath(*spelled)
        known = part
        if above.is_dir() and not (above / part).is_dir():
            with os.scandir(above) as entries:
                folders = [one.name for one in entries if one.is_dir(follow_symlinks=False)]
            known = min((name for name in folders if name.casefold() == part.casefold()), default=part)
        spelled.append(known)
    return "/".join(spelled)


def same_title(snapshot: Snapshot, title: str, kind: str, but: str | None = None) -> list[str]:
    """Return current records of the kind that already have this name: a writer must be told (contract 5, point 3)."""
    names = snapshot.names.get(normal_name(title), ())
    return [name for name in names if name != but and name in snapshot.current and snapshot.current[name].kind == kind]
