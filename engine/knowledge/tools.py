"""The tools of Knowledge as plain declarations, for whoever serves them; and the prompt that says when to record."""

from __future__ import annotations

from types import MappingProxyType

from engine.arguments import Operation
from engine.core.errors import InvalidArgument
from engine.knowledge.tools_read import READ_TOOLS
from engine.knowledge.tools_spec import ToolSpec
from engine.knowledge.tools_write import WRITE_TOOLS

__all__ = ["DECIDE_PROMPT", "OPERATIONS", "RECALL_TOOLS", "TOOLS", "ToolSpec", "tool_named"]

TOOLS: tuple[ToolSpec, ...] = (*READ_TOOLS, *WRITE_TOOLS)

OPERATIONS = MappingProxyType({tool.name: Operation.from_schema(tool.name, tool.input_schema()) for tool in TOOLS})
"""The tools as `engine.arguments` checks them."""

RECALL_TOOLS = ("knowledge_grep", "knowledge_record", "knowledge_timeline")
"""The three knowledge reads of the `recall` toolset (interface.md)."""

DECIDE_PROMPT = """\
Record what was just decided, so that a later session finds it.

1. Record only what a person stated or agreed to, or what was verified here: a decision with its reason, a commitment
   with owner and due date, a lasting preference, a fact that cost work to find out. Not code that the repository
   already holds, not plans nobody agreed to, nothing said in confidence.
2. Look first: knowledge_grep with two or three words of it. If an active record says the same, stop. If it says
   otherwise, use knowledge_correct with that record's id, revision and hash; the old wording stays in history.
3. Otherwise knowledge_create {record: {kind: "claim", claim_kind: "decision", title, body, attribution,
   assertion_origin: "stated", occurred_at, evidence: [{quote, session: "current"}]}}. The quote is copied word for
   word from this conversation: 5 to 30 words that carry the decision.
4. One claim says one thing, in words that stand without this conversation. The title is what somebody will search for.
5. Say in one sentence what was recorded, with its id.
"""
"""Text of the `decide` prompt."""


def tool_named(name: str) -> ToolSpec:
    """Return the declaration of a tool.

    Raises:
        InvalidArgument: Knowledge has no such tool.
    """
    for tool in TOOLS:
        if tool.name == name:
            return tool
    raise InvalidArgument(f'Knowledge has no tool "{name[:60]}"', "", candidates=tuple(tool.name for tool in TOOLS))
