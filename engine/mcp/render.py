"""From the front door's answer to what goes over the wire: the structured reply, fitted, and its text beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.mcp.budget import fit
from engine.mcp.outline import outline

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Rendered:
    """One reply, both ways a client may show it."""

    structured: dict[str, Any]
    """Everything, within the budget; `note` is its first key."""
    text: str
    """A short rendering, never the only place of a fact."""


def render(method: str, wire: Mapping[str, Any], arguments: Mapping[str, Any]) -> Rendered:
    """Return an operation's answer as a reply.

    Args:
        method: The operation.
        wire: Its answer as JSON.
        arguments: The validated arguments it was asked with.
    """
    structured = fit(method, wire, arguments)
    return Rendered(structured, outline(structured))
