"""Every row of the table in docs/transcripts.md: a line as Claude Code writes it, and what becomes of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from engine.core.models.kinds import Kind, Role, Signal
from engine.transcripts.parser import TranscriptParser
from engine.transcripts.records import Kept, Parsed, ParsedMessage, SessionFact

SESSION = "11111111-1111-4111-8111-111111111111"
DOCUMENT = Path(__file__).parents[3] / "docs" / "transcripts.md"

Line = dict[str, Any]


def line(kind: str, **fields: Any) -> Line:
    return {
        "parentUuid": "p",
        "isSidechain": False,
        "cwd": "/home/dev/api",
        "sessionId": SESSION,
        "version": "2.1.119",
        "type": kind,
        "uuid": "u",
        "timestamp": "2026-03-02T09:00:00.000Z",
    } | fields


def user(content: object, **fields: Any) -> Line:
    return line("user", message={"role": "user", "content": content}, **fields)


def text(words: str) -> Line:
    return {"type": "text", "text": words}


def assistant(*blocks: Line, model: str = "claude-opus-4-6", **fields: Any) -> Line:
    return line("assistant", message={"id": "msg_1", "model": model, "content": list(blocks)}, **fields)


def call(name: str, **given: Any) -> Line:
    return assistant({"type": "tool_use", "id": "toolu_1", "name": name, "input": given})


def result(content: object, **fields: Any) -> Line:
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": content, **fields.pop("block", {})}
    return user([block], **fields)


def attachment(kind: str, **fields: Any) -> Line:
    return line("attachment", attachment={"type": kind, **fields})


@dataclass(frozen=True)
class Said:
    """A message with one block that can be found."""

    role: Role
    signal: Signal
    words: str
    kind: Kind = Kind.TEXT
    tool: str | None = None


@dataclass(frozen=True)
class Nothing:
    """A message of which nothing can be found."""


Expected = Said | Nothing | Kept | SessionFact


def typed(words: str) -> Said:
    return Said(Role.USER, Signal.HIGH, words)


def injected(words: str) -> Said:
    return Said(Role.INJECTED, Signal.LOW, words)


HIGH, MEDIUM, LOW = Signal.HIGH, Signal.MEDIUM, Signal.LOW
CONTINUED = "This session is being continued from a previous conversation that ran out of context."
PLAN = "1. Measure 2. Cut"
ASK = call("AskUserQuestion", questions=[{"question": "Which way?"}])
PAGE = {
    "type": "web_search_result",
    "title": "SQLite FTS5",
    "url": "https://sqlite.org/fts5.html",
    "encrypted_content": "QUFB" * 200,
}
RAN: Line = {"type": "code_execution_result", "stdout": "42", "stderr": "slow", "return_code": 0, "content": []}
OWN = "mcp__backscroll__keyword_search"

CASES: dict[str, list[tuple[list[Line], Expected]]] = {
    "`user`: what a person typed": [
        ([user("Why is it slow?")], typed("Why is it slow?")),
        ([user([text("Why is it slow?")])], typed("Why is it slow?")),
        ([user("<div>is this right?</div>")], typed("<div>is this right?</div>")),
        ([line("user", message="a message that is a text")], typed("a message that is a text")),
        ([user(["a text in a list"])], typed("a text in a list")),
    ],
    "`user`: an image or a document": [
        ([user([{"type": "image", "source": {"data": "aGk="}}, text("see here")])], typed("see here")),
        ([user([{"type": "document", "source": {"data": "aGk="}}])], Nothing()),
    ],
    "`user`: a slash command with arguments": [
        (
            [user("<command-name>/review</command-name>\n<command-args>the parser</command-args>")],
            typed("/review the parser"),
        ),
        (
            [user("<command-message>go</command-message><command-name>go</command-name><command-args>x</command-args>")],
            typed("/go x"),
        ),
    ],
    "`user`: a slash command without arguments": [
        ([user("<command-name>/clear</command-name><command-args></command-args>")], injected("/clear")),
        ([user("<command-message>usage</command-message>")], injected("usage")),
    ],
    "`user`: a shell command (`!command`)": [
        ([user("<bash-input>git status</bash-input>")], typed("!git status")),
    ],
    "`user`: editor context or reminders before a prompt": [
        (
            [user("<ide_selection>lines 1 to 3</ide_selection>\nwhat does this do?")],
            typed("what does this do?"),
        ),
        ([user("<system-reminder>be kind</system-reminder>go on")], typed("go on")),
    ],
    "`user`: editor context or reminders alone": [
        ([user("<ide_opened_file>a.py</ide_opened_file>")], injected("<ide_opened_file>a.py</ide_opened_file>")),
    ],
    "`user`: output of a local command": [
        ([user("<local-command-stdout>2 sessions</local-command-stdout>")], injected("2 sessions")),
        ([user("<bash-stdout>clean</bash-stdout>")], injected("<bash-stdout>clean</bash-stdout>")),
    ],
    "`user`: `isMeta` (caveats, skills, hooks)": [
        ([user("Base directory for this skill: /s", isMeta=True)], injected("Base directory for this skill: /s")),
        ([user("Caveat: The messages below were generated")], injected("Caveat: The messages below were generated")),
    ],
    '`user`: "[Request interrupted by user]"': [
        ([user("[Request interrupted by user]")], injected("[Request interrupted by user]")),
        (
            [user([text("[Request interrupted by user for tool use]")])],
            injected("[Request interrupted by user for tool use]"),
        ),
    ],
    "`user`: a task notification, or another origin than a person": [
        ([user("<task-notification>3</task-notification>")], injected("<task-notification>3</task-notification>")),
        ([user("It is done.", origin={"kind": "task-notification"})], injected("It is done.")),
        ([user("It is done.", origin={"kind": "human"})], typed("It is done.")),
    ],
    "`user`: from a team mate (`teamName`)": [
        ([user("Take the tests.", teamName="blue")], injected("Take the tests.")),
    ],
    "`user`: a prompt for a sub-agent (`isSidechain`)": [
        ([user("Find the parser.", isSidechain=True, parentUuid=None)], injected("Find the parser.")),
    ],
    "`user`: a sub-agent's warm-up, and its answer": [
        ([user("Warmup", isSidechain=True, parentUuid=None)], injected("Warmup")),
        (
            [user("Warmup", isSidechain=True, parentUuid=None), assistant(text("Ready."), isSidechain=True)],
            Said(Role.ASSISTANT, LOW, "Ready."),
        ),
        (
            [
                user("Warmup", isSidechain=True, parentUuid=None),
                user("Find it.", isSidechain=True, parentUuid=None),
                assistant(text("Found."), isSidechain=True),
            ],
            Said(Role.ASSISTANT, HIGH, "Found."),
        ),
    ],
    "`user`: a compaction summary": [
        ([user("We spoke of caches.", isCompactSummary=True)], Said(Role.SUMMARY, LOW, "We spoke of caches.")),
        (
            [user(CONTINUED)],
            Said(Role.SUMMARY, LOW, CONTINUED),
        ),
    ],
    "`user`: a result of a tool": [
        (
            [call("Read", file_path="/a"), result("1 import os", toolUseResult={"file": {"content": "1 import os"}})],
            Said(Role.TOOL, LOW, "1 import os", Kind.TOOL_RESULT, "Read"),
        ),
        (
            [result([text("one"), {"type": "tool_reference", "tool_name": "Grep"}])],
            Said(Role.TOOL, LOW, "one\nGrep", Kind.TOOL_RESULT),
        ),
    ],
    "`user`: a failed result": [
        (
            [call("Bash", command="make"), result("no rule", block={"is_error": True}, toolUseResult="Error: no rule")],
            Said(Role.TOOL, MEDIUM, "no rule", Kind.TOOL_RESULT, "Bash"),
        ),
    ],
    "`user`: an answer to a question of Claude's": [
        ([ASK, result("The left one.")], Said(Role.TOOL, HIGH, "The left one.", Kind.TOOL_RESULT, "AskUserQuestion")),
    ],
    "`user`: a sub-agent's report": [
        (
            [call("Task", prompt="look"), result([text("It is in a.py.")])],
            Said(Role.TOOL, MEDIUM, "It is in a.py.", Kind.TOOL_RESULT, "Task"),
        ),
    ],
    "`user`: a result of Backscroll itself": [
        ([call(OWN, query="x"), result("hits")], Said(Role.TOOL, LOW, "hits", Kind.TOOL_RESULT, OWN)),
    ],
    "`user`: a result with images": [
        (
            [result([{"type": "image", "source": {"data": "aGk="}}, text("a chart")])],
            Said(Role.TOOL, LOW, "a chart", Kind.TOOL_RESULT),
        ),
    ],
    "`user` or `assistant` without content": [
        ([line("user")], Kept("user (empty)", known=True)),
        ([line("user", message="")], Kept("user (empty)", known=True)),
        ([line("assistant", message={})], Kept("assistant (empty)", known=True)),
        ([line("assistant", message={"id": "msg_1", "content": []})], Nothing()),
    ],
    "`assistant`: text": [
        ([assistant(text("Because of the cache."))], Said(Role.ASSISTANT, HIGH, "Because of the cache.")),
        ([line("assistant", message={"content": "a text"})], Said(Role.ASSISTANT, HIGH, "a text")),
    ],
    "`assistant`: thinking": [
        (
            [assistant({"type": "thinking", "thinking": "It may be the cache.", "signature": "c2ln"})],
            Said(Role.ASSISTANT, MEDIUM, "It may be the cache.", Kind.THINKING),
        ),
        ([assistant({"type": "thinking", "thinking": "", "signature": "c2ln"})], Nothing()),
    ],
    "`assistant`: redacted thinking": [([assistant({"type": "redacted_thinking", "data": "c2VjcmV0"})], Nothing())],
    "`assistant`: a plan": [
        ([call("ExitPlanMode", plan=PLAN)], Said(Role.ASSISTANT, HIGH, PLAN, Kind.TOOL_USE, "ExitPlanMode")),
    ],
    "`assistant`: a question to the person": [
        ([ASK], Said(Role.ASSISTANT, HIGH, "questions: question: Which way?", Kind.TOOL_USE, "AskUserQuestion")),
    ],
    "`assistant`: a command": [
        (
            [call("Bash", command="make test", description="Run the tests", timeout=60)],
            Said(Role.ASSISTANT, MEDIUM, "make test\ndescription: Run the tests", Kind.TOOL_USE, "Bash"),
        ),
    ],
    "`assistant`: an edit": [
        (
            [call("Edit", file_path="/a.py", old_string="x = 1", new_string="x = 2")],
            Said(
                Role.ASSISTANT, MEDIUM, "file_path: /a.py\nold_string: x = 1\nnew_string: x = 2", Kind.TOOL_USE, "Edit"
            ),
        ),
    ],
    "`assistant`: a task for a sub-agent": [
        ([call("Agent", prompt="look")], Said(Role.ASSISTANT, MEDIUM, "prompt: look", Kind.TOOL_USE, "Agent")),
    ],
    "`assistant`: reading, searching, listing": [
        ([call("Grep", pattern="todo")], Said(Role.ASSISTANT, LOW, "pattern: todo", Kind.TOOL_USE, "Grep")),
    ],
    "`assistant`: a call without input": [
        ([call("ExitWorktree")], Said(Role.ASSISTANT, LOW, "ExitWorktree", Kind.TOOL_USE, "ExitWorktree")),
        (
            [assistant({"type": "tool_use", "name": "Wait"})],
            Said(Role.ASSISTANT, LOW, "Wait", Kind.TOOL_USE, "Wait"),
        ),
    ],
    "`assistant`: a call of Backscroll itself": [
        ([call(OWN, query="x")], Said(Role.ASSISTANT, LOW, "query: x", Kind.TOOL_USE, OWN)),
    ],
    "`assistant`: a server's tool and its result": [
        (
            [assistant({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "fts5"}})],
            Said(Role.ASSISTANT, LOW, "query: fts5", Kind.TOOL_USE, "web_search"),
        ),
        (
            [assistant({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [text("a page")]})],
            Said(Role.ASSISTANT, LOW, "a page", Kind.TOOL_RESULT),
        ),
        (
            [assistant({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [PAGE]})],
            Said(Role.ASSISTANT, LOW, "SQLite FTS5\nhttps://sqlite.org/fts5.html", Kind.TOOL_RESULT),
        ),
        (
            [assistant({"type": "code_execution_tool_result", "tool_use_id": "srv_1", "content": RAN})],
            Said(Role.ASSISTANT, LOW, "42\nslow", Kind.TOOL_RESULT),
        ),
    ],
    "`assistant`: a block of an unknown type": [
        (
            [assistant({"type": "hologram", "text": "readable", "data": "QUFB" * 200})],
            Said(Role.ASSISTANT, LOW, "text: readable", Kind.OTHER),
        ),
    ],
    "`assistant`: written by Claude Code itself (`<synthetic>`, API errors)": [
        ([assistant(text("Not run."), model="<synthetic>")], Said(Role.ASSISTANT, LOW, "Not run.")),
        ([assistant(text("API Error: 500"), isApiErrorMessage=True)], Said(Role.ASSISTANT, LOW, "API Error: 500")),
    ],
    "`attachment`: a prompt typed while Claude worked (`queued_command`)": [
        ([attachment("queued_command", prompt="and the docs", commandMode="prompt")], typed("and the docs")),
        ([attachment("queued_command", prompt=[text("and the docs")])], typed("and the docs")),
    ],
    "`attachment`: a queued notification": [
        (
            [attachment("queued_command", prompt="task 3 is done", commandMode="task-notification")],
            injected("task 3 is done"),
        ),
    ],
    "`attachment`: output of hooks, files, editor selections, diagnostics": [
        ([attachment("hook_success", stdout="formatted", content="")], injected("formatted")),
        ([attachment("hook_additional_context", content=["use tabs"])], injected("use tabs")),
        ([attachment("edited_text_file", filename="/a.py", snippet="1 x")], injected("/a.py\n1 x")),
        ([attachment("hook_success", stdout="")], Kept("attachment/hook_success", known=True)),
    ],
    "`attachment`: reminders, listings, program prompts (`prompt_snapshot`)": [
        ([attachment("prompt_snapshot", content="You are")], Kept("attachment/prompt_snapshot", known=True)),
        ([attachment("task_reminder", content=[])], Kept("attachment/task_reminder", known=True)),
    ],
    "`attachment`: of an unknown type": [
        ([attachment("telepathy", content="x")], Kept("attachment/telepathy", known=False)),
        ([line("attachment")], Kept("attachment/(no type)", known=False)),
    ],
    "`system` with text (recaps, local commands, notices)": [
        ([line("system", subtype="away_summary", content="You fixed it.")], injected("You fixed it.")),
        (
            [line("system", subtype="local_command", content="<command-name>/model</command-name>")],
            injected("/model"),
        ),
        ([line("system", content="Running hooks", level="info")], injected("Running hooks")),
    ],
    "`system`: compaction boundary, hook and turn summaries, API errors": [
        (
            [line("system", subtype="compact_boundary", content="Conversation compacted")],
            Kept("system/compact_boundary", known=True),
        ),
        ([line("system", subtype="turn_duration", durationMs=5)], Kept("system/turn_duration", known=True)),
        ([line("system", subtype="api_error", error={})], Kept("system/api_error", known=True)),
    ],
    "`system`: of an unknown subtype without text": [
        ([line("system", subtype="weather")], Kept("system/weather", known=False)),
    ],
    "`ai-title`, `custom-title`, `last-prompt`": [
        ([{"type": "ai-title", "aiTitle": "Caches"}], SessionFact("ai_title", SESSION, "Caches")),
        ([{"type": "custom-title", "customTitle": "Mine"}], SessionFact("custom_title", SESSION, "Mine")),
        ([{"type": "last-prompt", "lastPrompt": "go  on"}], SessionFact("last_prompt", SESSION, "go on")),
    ],
    "`summary`": [
        ([{"type": "summary", "summary": "Old", "leafUuid": "l"}], SessionFact("summary", SESSION, "Old", "l")),
    ],
    "`fork-context-ref`, `continued-in`": [
        (
            [{"type": "fork-context-ref", "parentSessionId": "other", "agentId": "a"}],
            SessionFact("parent", SESSION, "other", "forked"),
        ),
        (
            [{"type": "continued-in", "continuedInSessionId": "next"}],
            SessionFact("parent", "next", SESSION, "continued"),
        ),
    ],
    "`worktree-state`": [
        (
            [{"type": "worktree-state", "worktreeSession": {"originalCwd": "/r", "worktreePath": "/w"}}],
            SessionFact("worktree", SESSION, "/r", "/w"),
        ),
    ],
    "a known type without the field that matters": [
        ([{"type": "last-prompt", "leafUuid": "l"}], Kept("last-prompt", known=True)),
        ([{"type": "ai-title", "aiTitle": 7}], Kept("ai-title", known=True)),
        ([{"type": "fork-context-ref", "parentSessionId": SESSION}], Kept("fork-context-ref", known=True)),
        ([{"type": "worktree-state", "worktreeSession": None}], Kept("worktree-state", known=True)),
    ],
    "`progress`": [
        (
            [line("progress", data={"type": "agent_progress", "message": {"type": "assistant", "message": {}}})],
            Kept("progress", known=True),
        ),
    ],
    "`api-request`, `api-request-shape`, `api-request-blob`": [
        ([{"type": name, "message": {"role": "user", "content": "a copy"}}], Kept(name, known=True))
        for name in ("api-request", "api-request-shape", "api-request-blob")
    ],
    "`file-history-snapshot`, `queue-operation`, `permission-mode`, `mode`, `pr-link`, `cost-state` and the like": [
        ([{"type": name, "content": "x"}], Kept(name, known=True))
        for name in ("file-history-snapshot", "queue-operation", "permission-mode", "mode", "pr-link", "cost-state")
    ],
    "an unknown type": [([{"type": "from-the-future"}], Kept("from-the-future", known=False))],
    "no type, or one that is no text": [
        ([{"uuid": "u"}], Kept("(no type)", known=False)),
        ([{"type": 7}], Kept("(no type)", known=False)),
        ([{"type": ["user"]}], Kept("(no type)", known=False)),
    ],
}  # fmt: skip


def documented_rows(heading: str) -> list[str]:
    section = DOCUMENT.read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (.+?) \| .+ \|$", section, re.MULTILINE)
    return rows[1:]


def parsed(lines: list[Line]) -> Parsed:
    parser = TranscriptParser(SESSION)
    outcome = [parser.parse(each, orjson.dumps(each)) for each in lines]
    return outcome[-1]


def test_every_row_of_the_documented_table_has_its_case() -> None:
    assert sorted(CASES) == sorted(documented_rows("Lines"))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [pytest.param(*case, id=f"{row} {number}") for row, cases in CASES.items() for number, case in enumerate(cases)],
)
def test_a_line_becomes_what_the_table_says(lines: list[Line], expected: Expected) -> None:
    outcome = parsed(lines)
    if isinstance(expected, (Kept, SessionFact)):
        assert outcome == expected
        return
    assert isinstance(outcome, ParsedMessage)
    found = [block for block in outcome.blocks if block.text]
    if isinstance(expected, Nothing):
        assert found == []
        return
    assert [(outcome.role, each.signal, each.text, each.kind, each.tool) for each in found] == [
        (expected.role, expected.signal, expected.words, expected.kind, expected.tool)
    ]
    assert outcome.starts_exchange == (
        outcome.role is Role.USER or (outcome.is_sidechain and outcome.parent_uuid is None)
    )
