"""Which records can be relied on: a record is out when anything it needs is out, and so on (R42 to R45).

Pure: ids in, ids out. The answer is the greatest fixed point, so a cycle with nothing else wrong stays in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Standing = Literal["present", "gone", "merged"]


@dataclass(frozen=True, slots=True)
class Node:
    """What availability needs to know of one id."""

    standing: Standing
    """`gone`: withdrawn, invalid, duplicate or refused by a guard. `merged`: stands for its survivor."""
    requires: tuple[str, ...] = ()
    """Ids that must be available; of a merged page, its survivor alone."""


def available_ids(nodes: Mapping[str, Node]) -> frozenset[str]:
    """Return the ids that are available. An id that is no node is missing."""
    out = {name for name, node in nodes.items() if node.standing == "gone"}
    out |= {name for name, node in nodes.items() if node.standing == "merged" and survivor_of(name, nodes) is None}
    needed_by: dict[str, list[str]] = {}
    for name, node in nodes.items():
        for required in node.requires:
            if required not in nodes:
                out.add(name)
            else:
                needed_by.setdefault(required, []).append(name)
    pending = list(out)
    while pending:
        for dependent in needed_by.get(pending.pop(), ()):
            if dependent not in out:
                out.add(dependent)
                pending.append(dependent)
    return frozenset(nodes.keys() - out)


def survivor_of(name: str, nodes: Mapping[str, Node]) -> str | None:
    """Return the record a merged page now stands for (itself when it is not merged); None for a ring or a dead end."""
    seen: set[str] = set()
    while name not in seen:
        seen.add(name)
        node = nodes.get(name)
        if node is None or node.standing == "gone":
            return None
        if node.standing == "present":
            return name
        if not node.requires:
            return None
        name = node.requires[0]
    return None


def chain_end(name: str, replaced_by: Mapping[str, str], current: frozenset[str] | set[str]) -> str | None:
    """Return the current record at the end of a supersession chain, None when the chain ends badly (R48, R49).

    Args:
        name: A superseded record.
        replaced_by: For every superseded record that is eligible, the id that replaced it.
        current: Ids of active, eligible records.
    """
    seen: set[str] = set()
    while name in replaced_by and name not in seen:
        seen.add(name)
        name = replaced_by[name]
        if name in current:
            return name
    return None


def dead_ends(requires: Iterable[str], available: frozenset[str]) -> tuple[str, ...]:
    """Return the required ids that are not available, for the inventory to name."""
    return tuple(dict.fromkeys(name for name in requires if name not in available))
