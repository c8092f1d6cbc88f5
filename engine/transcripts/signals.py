"""The signal table: how much a chunk says about what was meant, tried or decided.

| signal | what |
|---|---|
| high | human prompts, assistant answers, plans, questions to the person and their answers |
| medium | thinking, commands (Bash), edits and writes, failed tool results, tasks given to a sub-agent and its report |
| low | routine tool results, reads, searches and listings, injected text, warm-ups, API errors, compaction summaries, |
|     | Backscroll's own calls and their results |

Low signal is indexed for keyword search and shown on request only; it is embedded last.
"""

from __future__ import annotations

import re

from engine.core.models.kinds import Kind, Role, Signal

PLAN_TOOLS = frozenset({"ExitPlanMode", "exit_plan_mode"})
QUESTION_TOOLS = frozenset({"AskUserQuestion"})
COMMAND_TOOLS = frozenset({"Bash", "PowerShell", "KillShell", "Monitor"})
EDIT_TOOLS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit", "Update", "apply_patch"})
AGENT_TOOLS = frozenset({"Task", "Agent"})

_OWN_TOOL = re.compile(r"mcp__(?:.*_)?backscroll__", re.IGNORECASE)
"""Our tools as Claude Code names them: `mcp__backscroll__hybrid_search`, or with a plugin's name before it."""


def is_own_tool(tool: str | None) -> bool:
    """True for a call of Backscroll itself: its answers quote other sessions and must not be found as if said again."""
    return tool is not None and _OWN_TOOL.match(tool) is not None


def signal_of(role: Role, kind: Kind, *, tool: str | None, failed: bool, synthetic: bool, warmup: bool) -> Signal:
    """Return the signal of one block.

    Args:
        role: Who speaks.
        kind: What the block is.
        tool: The tool that was called or answered, when it is known.
        failed: The tool reported an error.
        synthetic: Claude Code wrote the answer itself ("API Error", "No response requested").
        warmup: The message belongs to a sub-agent's warm-up.
    """
    if synthetic or warmup or is_own_tool(tool) or role in (Role.INJECTED, Role.SUMMARY):
        return Signal.LOW
    if kind is Kind.TEXT:
        return Signal.HIGH
    if kind is Kind.THINKING:
        return Signal.MEDIUM
    if kind is Kind.TOOL_USE:
        return _signal_of_call(tool or "")
    if kind is Kind.TOOL_RESULT:
        return _signal_of_result(tool or "", failed=failed)
    return Signal.LOW


def _signal_of_call(tool: str) -> Signal:
    if tool in PLAN_TOOLS or tool in QUESTION_TOOLS:
        return Signal.HIGH
    if tool in COMMAND_TOOLS or tool in EDIT_TOOLS or tool in AGENT_TOOLS:
        return Signal.MEDIUM
    return Signal.LOW


def _signal_of_result(tool: str, *, failed: bool) -> Signal:
    if tool in QUESTION_TOOLS:
        return Signal.HIGH
    if failed or tool in AGENT_TOOLS:
        return Signal.MEDIUM
    return Signal.LOW
