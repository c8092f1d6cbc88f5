"""What a server shows: which tools, in which words, with which hints, by toolset and by what the engine can do.

Nothing is shown that cannot be called: tools, instructions and prompts are all made from the set of operations the
front door has. The texts themselves are in `descriptions.py` and `prompts.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol

from engine.arguments import OPERATIONS, Operation
from engine.mcp.descriptions import TOOLS, ToolText, instructions, without_absent
from engine.mcp.prompts import PROMPTS, Prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.ipc.protocol import Toolset

RECALL_KNOWLEDGE: Final = frozenset({"knowledge_grep", "knowledge_lookup", "knowledge_record"})
"""The three Knowledge reads of the toolset `recall` (interface.md, "MCP tools")."""

RECALL: Final = (
    frozenset(
        {
            "hybrid_search",
            "keyword_search",
            "semantic_search",
            "get_context",
            "get_session",
            "list_sessions",
            "get_period",
        }
    )
    | RECALL_KNOWLEDGE
)

ALWAYS_LOADED: Final = frozenset({"hybrid_search", "get_context"})
"""Tools that Claude Code keeps in view; it defers the others until it looks for them (interface.md)."""

MAIN: Final = "hybrid_search"
"""It is always in view, so what its arguments mean is not said again at the same arguments of other tools."""

_KNOWLEDGE: Final = "knowledge_"


class DescribedTool(Protocol):
    """A tool that another room describes: Knowledge's."""

    @property
    def name(self) -> str:
        """The operation's name, `knowledge_…`."""
        ...

    @property
    def description(self) -> str:
        """When to use it, then what it answers."""
        ...

    @property
    def schema(self) -> Mapping[str, Any]:
        """The closed JSON schema of its arguments."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether it leaves the store as it is."""
        ...


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
        schema = self.operation.schema
        main = beside.get(MAIN)
        if main is not None and main is not self:
            schema["properties"] = {
                name: _undescribed(each) if each == main.operation.properties.get(name) else each
                for name, each in schema["properties"].items()
            }
        tool: dict[str, Any] = {
            "name": self.name,
            "description": without_absent(text.description, frozenset(beside)),
            "inputSchema": schema,
            "annotations": hints,
        }
        if self.name in ALWAYS_LOADED:
            tool["_meta"] = {"anthropic/alwaysLoad": True}
        return tool


class Catalogue:
    """What the servers of one engine show.

    Args:
        available: The operations the front door has.
        described: Tools of other rooms, by their own description; those of them that are not available are left out.
    """

    def __init__(self, available: Iterable[str], described: Iterable[DescribedTool] = ()) -> None:
        names = frozenset(available)
        ours = (Tool(OPERATIONS[text.name], text) for text in TOOLS if text.name in names)
        theirs = (_described(each) for each in described if each.name in names)
        self._tools = (*ours, *theirs)

    def tools(self, toolset: Toolset) -> Mapping[str, Tool]:
        """Return the tools of a toolset by name, in the order they are shown."""
        return MappingProxyType({tool.name: tool for tool in self._tools if tool.shown_in(toolset)})

    def wire(self, toolset: Toolset) -> list[dict[str, Any]]:
        """Return the `tools` of `tools/list`."""
        shown = self.tools(toolset)
        return [tool.wire(shown) for tool in shown.values()]

    def instructions(self, toolset: Toolset) -> str:
        """Return when to use what, in at most 1,500 characters; the same text in both protocol eras."""
        return instructions(frozenset(self.tools(toolset)))

    def prompts(self, toolset: Toolset) -> Mapping[str, Prompt]:
        """Return the prompts whose tools are there, by name."""
        shown = self.tools(toolset)
        return MappingProxyType({each.name: each for each in PROMPTS if any(tool in shown for tool in each.needs)})


def _undescribed(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "description"}


def _described(tool: DescribedTool) -> Tool:
    text = ToolText(tool.name, tool.description, read_only=tool.read_only)
    return Tool(Operation.from_schema(tool.name, tool.schema), text)
