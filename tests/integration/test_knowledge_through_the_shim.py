"""Knowledge as Claude Code meets it: the official client, the real shim, a real engine. R-numbers: the contract."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from engine.core.clock import FixedClock
from engine.core.settings import Settings
from engine.knowledge.tools import TOOLS
from engine.service import Engine
from engine.transcripts.discovery import Root
from tests.helpers.engines import NOON
from tests.helpers.transcripts import TranscriptBuilder
from tests.integration.test_mcp_client import Installation, refused, structured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from mcp import Client

    from engine.core.paths import Paths

pytestmark = pytest.mark.integration

ERA: Final = "legacy"
"""What Claude Code speaks today; `test_mcp_client` holds both."""

CURRENT, EARLIER = "33333333-cccc-4ccc-8ccc-000000000003", "44444444-dddd-4ddd-8ddd-000000000004"
REPOSITORY: Final = "/home/dev/shop"
QUOTE: Final = "we keep invoices for eleven years"
DECISION: Final[dict[str, Any]] = {
    "record": {
        "kind": "claim",
        "claim_kind": "decision",
        "title": "Invoices are kept eleven years",
        "body": "The shop keeps invoices for eleven years because the tax office may ask for ten.",
        "evidence": [{"quote": QUOTE, "session": "current"}],
    }
}
PAGE: Final[dict[str, Any]] = {"expectedRevision": 0, "title": "Note", "type": "topic", "body": "x"}
REPLY_CHARACTERS: Final = 15_000
"""6,000 tokens at 2.5 characters: the budget of a reply when the call names none (interface.md)."""

READS: Final[dict[str, dict[str, Any]]] = {
    "knowledge_grep": {"query": "invoices"},
    "knowledge_lookup": {"query": "invoices"},
    "knowledge_records": {},
    "knowledge_record": {"id": "k_none"},
    "knowledge_timeline": {},
    "knowledge_chronicle_day": {"date": "2026-03-02"},
    "knowledge_chronicle_since": {"since": "2026-03-02"},
    "knowledge_chronicle_last_seen": {"entity": "Mira"},
    "knowledge_ontology": {},
    "knowledge_history": {},
    "knowledge_mutation": {"requestId": "r-none"},
}


def write_sessions(projects: Path) -> None:
    """Write two sessions that hold the same words; the later one is in the middle of recording them."""
    earlier = TranscriptBuilder(EARLIER, cwd=REPOSITORY)
    earlier.prompt(f"Somebody said {QUOTE}, is that so?")
    earlier.write(projects)
    current = TranscriptBuilder(CURRENT, cwd=REPOSITORY)
    current.prompt("How long must we keep them?")
    current.answer(f"Then {QUOTE}, one more than the tax office may ask for.")
    call = {"type": "tool_use", "id": "toolu_now", "name": "mcp__backscroll__knowledge_create", "input": DECISION}
    current.answer(call)
    current.write(projects)


@pytest.fixture
def installation(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installation]:
    """A running engine, and a shim whose environment names a session that has since been left with `/clear`."""
    projects = tmp_path / "projects"
    write_sessions(projects)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", REPOSITORY)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", EARLIER)
    settings = Settings(time_zone="UTC", embedding_enabled=False)
    engine = Engine(paths, settings, FixedClock(NOON), roots=(Root(projects, "test"),))
    engine.start(watch=False, serve=True)
    try:
        engine.run_once(until="keyword")
        yield Installation(paths)
    finally:
        assert engine.stop() == ()


class Session:
    """One connected client, its replies unpacked."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return structured(await self._client.call_tool(f"knowledge_{tool}", arguments))

    async def refused(self, tool: str, **arguments: Any) -> str:
        return refused(await self._client.call_tool(f"knowledge_{tool}", arguments))

    async def claim(self, title: str, body: str, **more: Any) -> dict[str, Any]:
        """Record a decision and return its row of the receipt."""
        evidence = [{"text": f"{body}\n", "attribution": "Mira"}]
        record = {"kind": "claim", "claim_kind": "decision", "title": title, "body": body, "evidence": evidence, **more}
        return only((await self.ask("create", record=record))["receipt"]["records"])

    async def record(self, name: str) -> dict[str, Any]:
        reply = await self.ask("record", id=name)
        return cast("dict[str, Any]", reply["record"])

    async def page(self, title: str, kind: str, **more: Any) -> dict[str, Any]:
        reply = await self.ask("save_page", expectedRevision=0, title=title, type=kind, **more)
        return only(reply["receipt"]["records"])


def only(rows: list[dict[str, Any]]) -> dict[str, Any]:
    (row,) = rows
    return row


def fence(row: dict[str, Any]) -> dict[str, Any]:
    return {"id": row["id"], "expectedRevision": row["revision"], "expectedHash": row["hash"]}


def ids(reply: dict[str, Any]) -> list[str]:
    return [row["id"] for row in reply["rows"]]


def run(installation: Installation, scenario: Callable[[Session], Any]) -> Any:
    return installation.ask(ERA, lambda client: scenario(Session(client)))


def test_one_call_records_a_decision_with_the_words_it_was_made_in(installation: Installation) -> None:
    async def scenario(session: Session) -> tuple[dict[str, Any], dict[str, Any]]:
        receipt = (await session.ask("create", **DECISION))["receipt"]
        return receipt, await session.record(only(receipt["records"])["id"])

    receipt, record = run(installation, scenario)

    assert receipt["state"] == "complete"
    evidence = only(record["evidence"])
    assert evidence["state"] == "verified"
    assert CURRENT in json.dumps(evidence), "the environment names a session that was left, the transcript knows better"
    assert EARLIER not in json.dumps(record)
    assert QUOTE in json.dumps(evidence)
    text = json.dumps(record)
    assert "2026-03-02T09:00:10Z" in text, "a claim without a date is of the time its quote was said"


def test_r155_a_read_without_a_store_creates_none_and_names_the_tool_that_does(
    installation: Installation, paths: Paths
) -> None:
    assert set(READS) == {tool.name for tool in TOOLS if tool.read_only}

    async def scenario(session: Session) -> dict[str, str]:
        said = {tool: await session.refused(tool.removeprefix("knowledge_"), **READS[tool]) for tool in READS}
        await session.claim("A store", "It is created by the first write.")
        assert (await session.ask("grep", query="first write"))["total"] == 1
        return said

    answers = run(installation, scenario)

    for said in answers.values():
        assert said.startswith("store_unavailable: ")
        assert "knowledge_" in said.partition(":")[2] or "backscroll knowledge init" in said
    assert paths.knowledge.exists()


def test_r047_old_words_find_the_record_that_replaced_them(installation: Installation) -> None:
    async def scenario(session: Session) -> tuple[dict[str, Any], ...]:
        old = await session.claim("Queue", "Jobs wait in Redis.")
        replacement = {
            "kind": "claim",
            "claim_kind": "decision",
            "title": "Queue",
            "body": "Jobs wait in Postgres.",
            "evidence": [{"text": "Redis is gone, jobs wait in Postgres.", "attribution": "Mira"}],
        }
        reply = await session.ask("correct", **fence(old), reason="Redis is gone", replacement=replacement)
        return (
            old,
            reply["receipt"],
            await session.ask("grep", query="redis"),
            await session.ask("history", id=old["id"]),
        )

    old, receipt, found, history = run(installation, scenario)

    new = next(row for row in receipt["records"] if row["id"] != old["id"])
    assert ids(found) == [new["id"]]
    assert found["rows"][0]["via"]["id"] == old["id"]
    assert [row["event"] for row in history["rows"]] == ["superseded", "created"]
    assert history["rows"][0]["reason"] == "Redis is gone"


def test_r041_a_withdrawn_record_leaves_every_answer_but_not_the_inventory(installation: Installation) -> None:
    async def scenario(session: Session) -> list[dict[str, Any]]:
        wrong = await session.claim("Office", "The office is in Oslo.", occurred_at="2026-03-01")
        await session.ask("withdraw", **fence(wrong), reason="It was a joke")
        return [
            await session.ask("grep", query="oslo", lifecycle="all"),
            await session.ask("lookup", query=wrong["id"], lifecycle="all"),
            await session.ask("timeline", eligibility="include_inactive"),
            await session.ask("chronicle_day", date="2026-03-01"),
            await session.ask("records", lifecycle="withdrawn"),
        ]

    *answers, inventory = run(installation, scenario)

    assert [answer["total"] for answer in answers] == [0, 0, 0, 0]
    assert inventory["total"] == 1


def test_a_stale_revision_is_refused_with_what_to_do_and_doing_that_works(installation: Installation) -> None:
    async def scenario(session: Session) -> tuple[str, str, dict[str, Any]]:
        seen = await session.page("Mira", "person", body="Owns the shop.")
        await session.ask("edit_body", **fence(seen), find="the shop", replace="shop and queue")
        stale = await session.refused("edit_body", **fence(seen), find="Owns", replace="Leads")
        fresh = only((await session.ask("lookup", query="Mira"))["rows"])
        wrong_bytes = {**fence(fresh), "expectedHash": "0" * 12}
        other = await session.refused("edit_body", **wrong_bytes, find="Owns", replace="Leads")
        await session.ask("edit_body", **fence(fresh), find="Owns", replace="Leads")
        return stale, other, await session.record(seen["id"])

    stale, other, record = run(installation, scenario)

    assert stale.startswith("revision_conflict: The record has revision 2, not 1.")
    assert "knowledge_record" in stale
    assert other.startswith("hash_conflict: ")
    assert "its hash is " in other
    assert record["body"].strip() == "Leads shop and queue."


def test_r073_a_request_sent_again_returns_the_same_receipt(installation: Installation) -> None:
    async def scenario(session: Session) -> tuple[list[dict[str, Any]], str, dict[str, Any], dict[str, Any]]:
        request = {"requestId": "r-77", **DECISION}
        before = (await session.ask("create", **request))["receipt"]
        again = (await session.ask("create", **request))["receipt"]
        other = {"record": {**DECISION["record"], "title": "Something else"}}
        conflict = await session.refused("create", requestId="r-77", **other)
        unnamed = [(await session.ask("create", **other))["receipt"] for _ in range(2)]
        found = await session.ask("grep", query="invoices")
        return [before, again, *unnamed], conflict, found, await session.ask("mutation", requestId="r-77")

    (before, again, first, second), conflict, found, mutation = run(installation, scenario)

    assert before["records"] == again["records"]
    assert before["indexed"] is False
    assert mutation["receipt"]["indexed"] is True
    assert mutation["receipt"]["records"] == before["records"]
    assert conflict.startswith("request_conflict: ")
    assert "new request id" in conflict
    assert first["requestId"] == second["requestId"] != "r-77"
    assert found["total"] == 2


def test_r028_a_name_is_found_ambiguous_or_missing(installation: Installation) -> None:
    async def scenario(session: Session) -> list[dict[str, Any]]:
        await session.page("Ana Ruiz", "person", aliases=["A. Ruiz", "Ana"])
        await session.page("Ana Berg", "person", aliases=["Ana"])
        queries = ("  a.　ruiz ", "Ana", "Nobody", "Ruiz")
        return [await session.ask("lookup", query=query) for query in queries]

    found, ambiguous, missing, part = run(installation, scenario)

    assert (found["status"], found["rows"][0]["title"]) == ("found", "Ana Ruiz")
    assert (ambiguous["status"], ambiguous["total"]) == ("ambiguous", 2)
    assert missing["status"] == part["status"] == "missing"


def test_r110_an_entity_is_named_exactly_and_a_merged_page_answers_for_its_survivor(installation: Installation) -> None:
    async def scenario(session: Session) -> tuple[str, str, list[dict[str, Any]], str]:
        survivor = await session.page("Atlas", "project", aliases=["Shop two"])
        merged = await session.page("Project Atlas", "project", aliases=["Shop two"])
        claim = await session.claim(
            "Launch", "Atlas starts in May.", occurred_at="2026-03-02", entities=[survivor["id"]]
        )
        several = await session.refused("timeline", entity="Shop two")
        nobody = await session.refused("timeline", entity="Atlas three")
        fenced = fence(merged)
        merge = {"survivor": survivor["id"], "merged": fenced.pop("id"), **fenced}
        receipt = (await session.ask("merge", **merge))["receipt"]
        through = await session.ask("timeline", entity=merged["id"])
        await session.ask("unmerge", **fence(only(receipt["records"])))
        apart = await session.ask("timeline", entity=merged["id"])
        return several, nobody, [through, apart], claim["id"]

    several, nobody, (through, apart), claim = run(installation, scenario)

    assert several.startswith("ambiguous_entity: ")
    assert "Candidates: k_" in several
    assert nobody.startswith("unknown_entity: ")
    assert ids(through) == [claim]
    assert ids(apart) == []


def test_r099_to_r149_what_happened_when(installation: Installation) -> None:
    async def scenario(session: Session) -> dict[str, dict[str, Any]]:
        mira = (await session.page("Mira", "person"))["id"]
        for title, at in (
            ("Early", "2026-02-27"),
            ("Late evening", "2026-03-01T23:30:00Z"),
            ("Morning", "2026-03-02T08:00:00Z"),
            ("To come", "2026-06-01"),
        ):
            await session.claim(title, f"{title} it was.", occurred_at=at, entities=[mira])
        return {
            "newest": await session.ask("timeline", entity="Mira"),
            "oldest": await session.ask("timeline", entity="Mira", order="asc", until="2026-03-31"),
            "utc": await session.ask("chronicle_day", date="2026-03-02"),
            "berlin": await session.ask("chronicle_day", date="2026-03-02", timeZone="Europe/Berlin"),
            "week": await session.ask("chronicle_day", date="2026-02-25", week=True),
            "since": await session.ask("chronicle_since", since="2026-03-01", until="2026-03-31"),
            "seen": await session.ask("chronicle_last_seen", entity="Mira"),
            "earlier": await session.ask("chronicle_last_seen", entity="Mira", occurredOnOrBefore="2026-02-28"),
            "never": await session.ask("chronicle_last_seen", entity="Mira", occurredOnOrBefore="2026-01-01"),
        }

    replies = run(installation, scenario)

    def titles(name: str) -> list[str]:
        return [row["title"] for row in replies[name]["rows"]]

    assert titles("newest") == ["To come", "Morning", "Late evening", "Early"]
    assert titles("oldest") == ["Early", "Late evening", "Morning"]
    assert titles("utc") == ["Morning"]
    assert sorted(titles("berlin")) == ["Late evening", "Morning"]
    assert sorted(titles("week")) == ["Early", "Late evening"]
    assert titles("since") == ["Late evening", "Morning"]
    assert "Morning" in json.dumps(replies["seen"])
    assert "Early" in json.dumps(replies["earlier"])
    assert replies["never"]["found"] is False


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "way_on"),
    [
        ("timeline", {"since": "last week"}, "invalid_date", "YYYY-MM-DD"),  # R91
        ("chronicle_day", {"date": "2026-02-30"}, "invalid_date", "2026-02-30"),  # R139
        ("chronicle_day", {"date": "2026-03-02", "timeZone": "Mars/Base"}, "invalid_time_zone", "Mars/Base"),  # R138
        ("chronicle_since", {"since": "2026-03-02", "until": "2026-03-01"}, "invalid_range", "since"),  # R97
        ("timeline", {"group": "source"}, "invalid_argument", "entity"),  # R121
        ("grep", {"query": "... !!"}, "empty_query", ""),  # R19
        ("grep", {"query": "w " * 65}, "too_many_tokens", "64"),  # R19
        ("grep", {"query": "x", "mode": "regex"}, "invalid_argument", "all, any, phrase"),  # R10
        ("grep", {"query": "x", "scope": "other"}, "invalid_argument", "scope"),  # R26
        ("grep", {"query": "x", "limit": "10"}, "invalid_argument", 'Call again with "limit": 10.'),  # R154
        ("record", {"id": "k_none"}, "not_found", "knowledge_records"),
        ("create", {"record": {"kind": "claim", "titel": "x"}}, "invalid_argument", '"title"'),
        ("create", {"record": {**DECISION["record"], "evidence": []}}, "evidence_refused", '"quote"'),
        ("save_page", {**PAGE, "title": "A\0B"}, "invalid_argument", "NUL"),
        ("save_page", {**PAGE, "body": "x" * 5_000_000}, "scan_limit", "knowledge_attach_file"),
        ("save_page", {**PAGE, "requestId": "r" * 201}, "invalid_argument", "200"),
        (
            "create",
            {"record": {**DECISION["record"], "evidence": [{"quote": "nobody said this"}]}},
            "evidence_refused",
            "Copy the words exactly",
        ),
    ],
)
def test_a_refusal_has_a_stable_code_and_says_how_to_go_on(
    installation: Installation, tool: str, arguments: dict[str, Any], code: str, way_on: str
) -> None:
    async def scenario(session: Session) -> str:
        await session.claim("A store", "There is one.")
        return await session.refused(tool, **arguments)

    said = cast("str", run(installation, scenario))

    assert said.startswith(f"{code}: ")
    assert way_on in said
    assert len(said) < 2_000


def test_r023_and_r025_any_script_goes_in_and_comes_out_unchanged(installation: Installation) -> None:
    body = "Zoë Ångström 同意了: 東京都の会議 🙂 עברית"

    async def scenario(session: Session) -> tuple[dict[str, Any], list[int]]:
        row = await session.claim("会議 🙂", body, tags=["größe"])
        asked = ("zoe angstrom", "東京都の会議", "会議", "עברית")
        totals = [(await session.ask("grep", query=query))["total"] for query in asked]
        totals.append((await session.ask("grep", query="zoe", tag="größe"))["total"])
        return await session.record(row["id"]), totals

    record, totals = run(installation, scenario)

    assert record["body"].strip() == body
    assert record["title"] == "会議 🙂"
    assert totals == [1, 1, 1, 1, 1]


def test_r017_pages_of_large_rows_fit_their_budget_and_yield_every_record_once(installation: Installation) -> None:
    count = 18

    async def scenario(session: Session) -> tuple[list[str], list[str]]:
        for number in range(count):
            text = f"Budget line {number}. " + "The dispatcher waits for its queue. " * 40
            await session.claim(f"Line {number}", text, summary=text[:900], occurred_at="2026-03-02")
        return (
            await pages(session, "grep", query="budget", view="full"),
            await pages(session, "timeline", view="full"),
        )

    async def pages(session: Session, tool: str, **arguments: Any) -> list[str]:
        seen: list[str] = []
        following: dict[str, Any] | None = {}
        while following is not None:
            reply = await session.ask(tool, **arguments, **following)
            assert len(json.dumps(reply, ensure_ascii=False, separators=(",", ":"))) <= REPLY_CHARACTERS
            assert reply["rows"]
            seen += ids(reply)
            following = None
            if "nextOffset" in reply:
                cursor = {} if tool == "grep" else {"snapshot": reply["snapshot"]}
                following = {"offset": reply["nextOffset"], **cursor}
        return seen

    for seen in run(installation, scenario):
        assert len(seen) == len(set(seen)) == count


def test_r116_a_page_after_a_change_is_refused(installation: Installation) -> None:
    async def scenario(session: Session) -> tuple[dict[str, Any], str]:
        for number in range(3):
            await session.claim(f"Line {number}", f"Number {number}.", occurred_at="2026-03-02")
        first = await session.ask("timeline", limit=1)
        following = {"limit": 1, "offset": first["nextOffset"], "snapshot": first["snapshot"]}
        second = await session.ask("timeline", **following)
        await session.claim("Line 3", "Number 3.", occurred_at="2026-03-02")
        return second, await session.refused("timeline", **following)

    second, said = run(installation, scenario)

    assert len(second["rows"]) == 1
    assert said.startswith("snapshot_changed: ")


def test_r069_what_a_person_writes_into_the_file_is_what_is_found(installation: Installation, paths: Paths) -> None:
    async def scenario(session: Session) -> tuple[int, int]:
        row = await session.claim("Price", "Atlas lists at 49.")
        (file,) = (path for path in paths.knowledge.rglob("*.md") if row["id"] in path.read_text(encoding="utf-8"))
        file.write_text(file.read_text(encoding="utf-8").replace("at 49.", "at 51."), encoding="utf-8", newline="")
        old, new = (await session.ask("grep", query="49"), await session.ask("grep", query="51"))
        return old["total"], new["total"]

    assert run(installation, scenario) == (0, 1)


def test_a_file_is_retained_unchanged_and_cited_by_its_receipt(installation: Installation, tmp_path: Path) -> None:
    original = tmp_path / "Minutes.TXT"
    original.write_bytes(b"Agenda\r\nWe list at 49.\r\n")
    digest = hashlib.sha256(original.read_bytes()).hexdigest()

    async def scenario(session: Session) -> tuple[str, dict[str, Any]]:
        changed = await session.refused(
            "attach_file", filePath=str(original), sha256="0" * 64, attribution="The minutes of 2 March"
        )
        reply = await session.ask(
            "attach_file", filePath=str(original), sha256=digest, attribution="The minutes of 2 March"
        )
        descriptor = only(reply["receipt"]["evidence"])["id"]
        cited = [{"id": descriptor, "lines": [2, 2], "quote": "We list at 49."}]
        row = await session.claim("Price", "Atlas lists at 49.", evidence=cited)
        return changed, await session.record(row["id"])

    changed, record = run(installation, scenario)

    assert changed.startswith("evidence_refused: ")
    assert digest in changed
    assert only(record["evidence"])["state"] == "verified"
