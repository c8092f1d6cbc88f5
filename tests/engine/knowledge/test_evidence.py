"""Evidence of writes: quotes found in sessions, texts, retained files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.clock import FixedClock
from engine.knowledge.errors import EvidenceRefused
from engine.knowledge.requests import Caller
from engine.knowledge.service import KnowledgeService
from tests.engine.knowledge.fake_transcripts import FakeTranscripts
from tests.engine.knowledge.fixture_f import NOW, Store, call_tool, sha256

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUOTE = "let us keep SQLite and drop the server"
CALLER = Caller("session-1", "agent:claude-code")


@pytest.fixture
def told(tmp_path: Path) -> Iterator[tuple[KnowledgeService, FakeTranscripts]]:
    transcripts = FakeTranscripts()
    transcripts.say("session-1", "uuid-1", "user", f"Hm.\nOk, {QUOTE}.\nThanks")
    transcripts.say("session-1", "uuid-2", "assistant", "Fine, the server goes.")
    transcripts.say("session-2", "uuid-3", "user", "Fine, the server goes. Said elsewhere.")
    service = KnowledgeService(tmp_path / "knowledge", FixedClock(NOW), transcripts)
    yield service, transcripts
    service.close()


def record(
    service: KnowledgeService, *evidence: dict[str, Any], caller: Caller = CALLER, **more: Any
) -> dict[str, Any]:
    values = {"kind": "claim", "claim_kind": "decision", "title": "Keep SQLite", "body": "We keep SQLite."}
    arguments = {"record": {**values, **more, "evidence": list(evidence)}}
    return call_tool(service, "knowledge_create", arguments, caller)["receipt"]


def shown(service: KnowledgeService, receipt: dict[str, Any]) -> dict[str, Any]:
    return call_tool(service, "knowledge_record", {"id": receipt["records"][0]["id"]})["record"]


def test_one_call_records_a_decision_of_the_current_session(told: Any) -> None:
    service, _ = told
    receipt = record(service, {"quote": QUOTE, "session": "current"})
    row = shown(service, receipt)
    assert row["occurredAt"] == "2026-04-30T10:15:30Z"
    assert row["attribution"] == {"by": "user"}
    assert row["assertionOrigin"] == "stated"
    (evidence,) = row["evidence"]
    assert (evidence["state"], evidence["transcript"], evidence["lines"]) == ("verified", "verified", [2, 2])
    assert (evidence["session"], evidence["messageUuid"]) == ("session-1", "uuid-1")
    assert evidence["text"] == f"Ok, {QUOTE}."
    assert service.check()["ok"] is True


def test_a_quote_may_be_wrapped_differently(told: Any) -> None:
    service, _ = told
    receipt = record(service, {"quote": "Hm. Ok, let us\n  keep SQLite"})
    assert shown(service, receipt)["evidence"][0]["state"] == "verified"


def test_the_current_session_is_searched_when_it_is_known(told: Any) -> None:
    service, _ = told
    receipt = record(service, {"quote": "the server goes"})
    assert shown(service, receipt)["evidence"][0]["messageUuid"] == "uuid-2"


def test_a_quote_nobody_said_is_refused(told: Any) -> None:
    service, _ = told
    elsewhere = [{"session": "session-2"}, {"message_uuid": "uuid-2"}]
    for evidence in ({"quote": "never said"}, *({"quote": QUOTE, **place} for place in elsewhere)):
        with pytest.raises(EvidenceRefused):
            record(service, evidence)


def test_a_quote_of_several_messages_lists_the_candidates(told: Any) -> None:
    service, _ = told
    with pytest.raises(EvidenceRefused) as refused:
        record(service, {"quote": "the server goes"}, caller=Caller())
    assert refused.value.candidates == ("uuid-2", "uuid-3")
    assert "uuid-2 (assistant" in str(refused.value)
    receipt = record(service, {"quote": "the server goes", "message_uuid": "uuid-3"}, caller=Caller())
    assert shown(service, receipt)["evidence"][0]["session"] == "session-2"


def test_an_unknown_current_session_is_refused(told: Any) -> None:
    service, _ = told
    with pytest.raises(EvidenceRefused):
        record(service, {"quote": QUOTE, "session": "current"}, caller=Caller())


def test_a_message_is_retained_once(told: Any) -> None:
    service, _ = told
    first = record(service, {"quote": QUOTE})
    second = record(service, {"quote": "keep SQLite"}, title="Again")
    assert "evidence" in first
    assert "evidence" not in second
    assert shown(service, first)["evidence"][0]["id"] == shown(service, second)["evidence"][0]["id"]


def test_evidence_outlives_its_transcript_and_tells_when_it_changed(told: Any) -> None:
    service, transcripts = told
    receipt = record(service, {"quote": QUOTE})
    transcripts.messages[0] = type(transcripts.messages[0])(
        "session-1", "uuid-1", "2026-04-30T10:15:30Z", "user", "Edited"
    )
    assert (shown(service, receipt)["evidence"][0]["state"], shown(service, receipt)["evidence"][0]["transcript"]) == (
        "verified",
        "changed",
    )
    transcripts.messages.clear()
    evidence = shown(service, receipt)["evidence"][0]
    assert (evidence["state"], evidence["transcript"]) == ("verified", "gone")


def test_without_transcripts_only_texts_can_be_cited(f: Store) -> None:
    with pytest.raises(EvidenceRefused):
        record(f.service, {"quote": QUOTE})
    receipt = record(
        f.service, {"text": "They said it.", "attribution": "Ben", "quote": "said it", "filename": "a/b.txt"}
    )
    (evidence,) = shown(f.service, receipt)["evidence"]
    assert (evidence["state"], evidence["attribution"], evidence["filename"]) == ("verified", "Ben", "a b.txt")
    with pytest.raises(EvidenceRefused):
        record(f.service, {"text": "They said it.", "attribution": "Ben", "quote": "never"})


def attach(store: Store, path: Path, digest: str | None = None, **more: Any) -> dict[str, Any]:
    arguments = {"filePath": str(path), "sha256": digest or sha256(path.read_bytes()), "attribution": "Ben", **more}
    return store.call("knowledge_attach_file", arguments)["receipt"]


def test_a_file_is_retained_unchanged_and_can_be_cited(f: Store, tmp_path: Path) -> None:
    path = tmp_path / "Price List.CSV"
    path.write_bytes(b"a;b\r\n49;EUR\r\n")
    receipt = attach(f, path, requestId="r-1")
    (evidence,) = receipt["evidence"]
    assert (f.vault / evidence["path"]).read_bytes() == path.read_bytes()
    assert evidence["path"].endswith(".csv")
    assert attach(f, path, requestId="r-1")["evidence"] == receipt["evidence"]
    created = record(f.service, {"id": evidence["id"], "lines": [2, 2], "quote": "49;EUR"}, attribution={"by": "P-ana"})
    assert shown(f.service, created)["evidence"][0]["descriptor"]["filename"] == "Price List.CSV"
    assert f.check()["ok"] is True
    assert not list(f.vault.rglob(".backscroll-*"))


def test_the_same_file_twice_is_stored_once(f: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"same")
    first, second = attach(f, path), attach(f, path, attribution="Ana")
    assert first["evidence"][0]["path"] == second["evidence"][0]["path"]
    assert first["evidence"][0]["id"] != second["evidence"][0]["id"]
    assert not list(f.vault.rglob(".backscroll-*"))


def test_only_the_announced_plain_file_is_retained(f: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"text")
    refused: list[tuple[Path, str]] = [(path, "0" * 64), (tmp_path, sha256(b"")), (tmp_path / "none.txt", sha256(b""))]
    if os.name == "posix":
        (tmp_path / "link.txt").symlink_to(path)
        os.mkfifo(tmp_path / "pipe")
        refused += [(tmp_path / "link.txt", sha256(b"text")), (tmp_path / "pipe", sha256(b""))]
    os.link(path, tmp_path / "hard.txt")
    refused.append((tmp_path / "hard.txt", sha256(b"text")))
    for target, digest in refused:
        with pytest.raises(EvidenceRefused):
            attach(f, target, digest)
    with pytest.raises(EvidenceRefused):
        f.call("knowledge_attach_file", {"filePath": "a.txt", "sha256": "0" * 64, "attribution": "x"})
    assert not list(f.vault.rglob(".backscroll-*"))


def test_a_text_given_as_evidence_can_be_cited_by_its_lines(f: Store) -> None:
    def create(**item: Any) -> dict[str, Any]:
        given = {"text": "Erstens.\r\nZweitens: ja.\nDrittens.\n", "attribution": "Ben", **item}
        record = {"kind": "claim", "claim_kind": "fact", "title": "Ja", "evidence": [given]}
        return f.call("knowledge_create", {"record": record})["receipt"]["records"][0]

    row = create(lines=[2, 3], quote="Zweitens: ja. Drittens.")
    (cited,) = f.record(row["id"])["record"]["evidence"]
    assert (cited["lines"], cited["state"], cited["text"]) == ([2, 3], "verified", "Zweitens: ja.\nDrittens.")
    for wrong in ({"lines": [2, 4]}, {"lines": [1, 1], "quote": "Zweitens"}):
        with pytest.raises(EvidenceRefused):
            create(**wrong)
