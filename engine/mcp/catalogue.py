"""What a server shows: which tools, in which words, with which hints, by toolset and by what the engine can do.

Nothing is shown that cannot be called: tools, instructions and prompts are all made from the set of operations the
front door has. The texts themselves are in `descriptions.py` and `prompts.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from engine.arguments import OPERATIONS, Operation
from engine.knowledge.tools import OPERATIONS as KNOWLEDGE
from engine.knowledge.tools import RECALL_TOOLS
from engine.knowledge.tools import TOOLS as KNOWLEDGE_TOOLS
from engine.mcp.descriptions import TOOLS, ToolText, instructions, without_absent
from engine.mcp.prompts import PROMPTS, Prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.ipc.protocol import Toolset

RECALL: Final = frozenset(
    {
        "hybrid_search",
        "keyword_search",
        "semantic_search",
        "get_context",
        "get_session",
        "list_sessions",
        "get_period",
        *RECALL_TOOLS,
    }
)
"""The toolset for sessions that only look back (interface.md, "MCP tools")."""

ALWAYS_LOADED: Final = frozenset({"hybrid_search", "get_context"})
"""Tools that Claude Code keeps in view; it defers the others until it looks for them (interface.md)."""

_KNOWLEDGE: Final = "knowledge_"
_SAID_WHEN_WRONG: Final = frozenset({"minimum", "maximum", "minItems", "maxItems", "examples"})
_SAID_ONCE: Final = frozenset({"description", "default"})


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as a server shows it."""

    operation: Operation
    text: ToolText

    @property
    def name(self) -> str:
        """The tool's name, which is its operation's."""
        return self.operation.name

    def shown_in(self, toolset: Toolset) -> bool:
        """Whether a server of this toolset has it."""
        match toolset:
            case "all":
                return True
            case "recall":
                return self.name in RECALL
            case "knowledge":
                return self.name.startswith(_KNOWLEDGE)
            case "transcripts":
                return not self.name.startswith(_KNOWLEDGE)

    def wire(self, beside: Mapping[str, Tool]) -> dict[str, Any]:
        """Return the tool as `tools/list` has it.

        Args:
            beside: All tools that are shown. No text names another one.
        """
        text = self.text
        hints: dict[str, Any] = {"readOnlyHint": text.read_only, "openWorldHint": False}
        if not text.read_only:
            hints |= {"destructiveHint": text.destructive, "idempotentHint": text.idempotent}
        tool: dict[str, Any] = {
            "name": self.name,
            "description": without_absent(text.description, frozenset(beside)),
            "inputSchema": self.operation.schema,
            "annotations": hints,
        }
        if self.name in ALWAYS_LOADED:
            tool["_meta"] = {"anthropic/alwaysLoad": True}
        return tool


class Catalogue:
    """What the servers of one engine show.

    Args:
        available: The operations the front door has; other names in it are passed by.
    """

    def __init__(self, available: Iterable[str]) -> None:
        names = frozenset(available)
        history = (Tool(OPERATIONS[text.name], text) for text in TOOLS if text.name in names)
        knowledge = (
            Tool(
                KNOWLEDGE[each.name],
                ToolText(
                    each.name,
                    each.description,
                    read_only=each.read_only,
                    destructive=each.destructive,
                    idempotent=each.idempotent,
                ),
            )
            for each in KNOWLEDGE_TOOLS
            if each.name in names
        )
        self._tools = (*history, *knowledge)

    def tools(self, toolset: Toolset) -> Mapping[str, Tool]:
        """Return the tools of a toolset by name, in the order they are shown."""
        return MappingProxyType({tool.name: tool for tool in self._tools if tool.shown_in(toolset)})

    def wire(self, toolset: Toolset) -> list[dict[str, Any]]:
        """Return the `tools` of `tools/list`, made short: the whole list has a budget of 9,000 tokens."""
        shown = self.tools(toolset)
        listed = [tool.wire(shown) for tool in shown.values()]
        said: set[tuple[str, str, str]] = set()
        for tool in listed:
            tool["inputSchema"] = _shortened(tool["inputSchema"], said)
        return listed

    def instructions(self, toolset: Toolset) -> str:
        """Return when to use what, in at most 1,500 characters; the same text in both protocol eras."""
        return instructions(frozenset(self.tools(toolset)))

    def prompts(self, toolset: Toolset) -> Mapping[str, Prompt]:
        """Return the prompts whose tools are there, by name."""
        shown = self.tools(toolset)
        return MappingProxyType({each.name: each for each in PROMPTS if any(tool in shown for tool in each.needs)})


def reading_tools() -> tuple[str, ...]:
    """Return the tools that change nothing, Knowledge's included: what a permission may be given for."""
    return tuple(each.name for each in (*TOOLS, *KNOWLEDGE_TOOLS) if each.read_only)


def _shortened(schema: Mapping[str, Any], said: set[tuple[str, str, str]]) -> dict[str, Any]:
    """Return a schema without what a reader can do without.

    What several tools say alike about an argument of one name (its description, values, default) stands at the first
    of them only, which is `hybrid_search`, always in view, where it has the argument. Bounds and examples are left out:
    a number outside of the bounds is answered with the number that is inside. So is the inside of an object that has a
    description: that says its keys, and a wrong key is answered with the right one.
    """
    if schema.get("type") == "object" and "description" in schema:
        return {"type": "object", "description": schema["description"]}
    shown: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            shown[key] = {
                name: _shortened(_once(name, cast("Mapping[str, Any]", each), said), said)
                for name, each in cast("Mapping[str, Any]", value).items()
            }
        elif key == "items":
            shown[key] = _shortened(cast("Mapping[str, Any]", value), said)
        elif key not in _SAID_WHEN_WRONG:
            shown[key] = value
    return shown


def _once(name: str, schema: Mapping[str, Any], said: set[tuple[str, str, str]]) -> Mapping[str, Any]:
    known = {key for key in _SAID_ONCE & schema.keys() if (name, key, str(schema[key])) in said}
    said.update((name, key, str(schema[key])) for key in _SAID_ONCE & schema.keys())
    return {key: value for key, value in schema.items() if key not in known}
