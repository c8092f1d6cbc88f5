"""The writing tools: fences, retries, receipts, minimal edits, lifecycles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.core.errors import EngineError, StorageFailure
from engine.knowledge import publish
from engine.knowledge.errors import (
    HashConflict,
    InvalidArgument,
    InvalidRecord,
    LifecycleConflict,
    RecordNotFound,
    RequestConflict,
    RevisionConflict,
    StoreIdentityMismatch,
)
from engine.knowledge.service import KnowledgeService
from tests.engine.knowledge.fixture_f import Store, ids, sha256

if TYPE_CHECKING:
    from pathlib import Path


def call(store: Store, tool: str, **arguments: Any) -> dict[str, Any]:
    return store.call(f"knowledge_{tool}", arguments)["receipt"]


def fence(store: Store, name: str) -> dict[str, Any]:
    row = store.record(name)["record"]
    return {"id": name, "expectedRevision": row["revision"], "expectedHash": row["hash"]}


def claim(**more: Any) -> dict[str, Any]:
    return {
        "kind": "claim",
        "claim_kind": "decision",
        "title": "Use SQLite",
        "body": "We use SQLite.",
        "evidence": [{"text": "we use SQLite then", "attribution": "Ben Okafor"}],
        **more,
    }


def test_a_new_page_is_a_plain_file_with_a_readable_name(f: Store) -> None:
    receipt = call(
        f,
        "save_page",
        expectedRevision=0,
        title='Zed: "x"/y?',
        type="project",
        body="Hello\r\nworld",
        tags=["a b", "no"],
        aliases=["Zed"],
        entities=["P-ana"],
        fields={"status": "active"},
        summary="Short.",
    )
    row = receipt["records"][0]
    assert row["path"] == "projects/Zed x y.md"
    text = (f.vault / row["path"]).read_text(encoding="utf-8")
    assert 'title: "Zed: \\"x\\"/y?"\n' in text
    assert 'tags: ["a b", "no"]' in text or 'tags: [a b, "no"]' in text
    assert text.endswith("\n\nHello\nworld\n")
    assert sha256((f.vault / row["path"]).read_bytes()) == row["hash"]
    assert ids(f.lookup("zed")) == [row["id"]]
    assert f.check()["ok"] is True


def test_a_second_page_of_the_same_name_gets_its_own_file_and_a_warning(f: Store) -> None:
    first = call(f, "save_page", expectedRevision=0, title="Same Name", type="topic", body="one")
    second = call(f, "save_page", expectedRevision=0, title="same name", type="topic", body="two")
    assert first["records"][0]["path"].casefold() != second["records"][0]["path"].casefold()
    assert first["records"][0]["id"] in second["warnings"][0]


def test_saving_a_page_changes_only_what_was_given(f: Store) -> None:
    path = f.paths["P-ana"]
    path.write_bytes(path.read_bytes().replace(b"tags: [team]", b"# mine\ntags: [team]  # hers\ncustom: 1_000"))
    before = path.read_text(encoding="utf-8")
    call(f, "save_page", **fence(f, "P-ana"), aliases=["Ana"], tags=[])
    after = path.read_text(encoding="utf-8")
    assert "# mine\ncustom: 1_000\n" in after
    assert "aliases: [Ana]\n" in after
    assert "tags" not in after
    assert after.partition("\n---\n")[2] == before.partition("\n---\n")[2]
    assert "revision: 2\n" in after
    assert 'updated_at: "2026-05-01T12:00:00Z"\n' in after


def test_a_moved_file_is_saved_where_it_is_now(f: Store) -> None:
    target = f.vault / "elsewhere" / "Renamed.md"
    target.parent.mkdir()
    f.paths["P-ana"].rename(target)
    receipt = call(f, "save_page", **fence(f, "P-ana"), body="New body")
    assert receipt["records"][0]["path"] == "elsewhere/Renamed.md"
    assert not f.paths["P-ana"].exists()


def test_one_passage_of_a_body_is_replaced(f: Store) -> None:
    call(f, "edit_body", **fence(f, "P-ana"), find="short memos", replace="long memos")
    assert f.paths["P-ana"].read_text(encoding="utf-8").endswith("Product lead at Acme. Prefers long memos.\n")
    for find in ("nowhere", "e", ""):
        with pytest.raises(InvalidArgument):
            call(f, "edit_body", **fence(f, "P-ana"), find=find, replace="x")


def test_an_edit_keeps_windows_line_ends(f: Store) -> None:
    path = f.page("P-crlf", "topic", "Lines", "one\ntwo\nthree")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    call(f, "edit_body", **fence(f, "P-crlf"), find="one\ntwo", replace="1\n2")
    data = path.read_bytes()
    assert b"1\r\n2\r\nthree" in data
    assert data.count(b"\n") == data.count(b"\r\n")


def test_writes_are_fenced_by_revision_and_hash(f: Store) -> None:
    good = fence(f, "P-ana")
    with pytest.raises(RevisionConflict):
        call(f, "save_page", **{**good, "expectedRevision": 2}, body="x")
    with pytest.raises(HashConflict):
        call(f, "save_page", **{**good, "expectedHash": "0" * 64}, body="x")
    with pytest.raises(HashConflict):
        call(f, "save_page", **{**good, "expectedHash": good["expectedHash"][:11]}, body="x")
    with pytest.raises(RecordNotFound):
        call(f, "save_page", **{**good, "id": "P-none"}, body="x")
    call(f, "save_page", **{**good, "expectedHash": good["expectedHash"][:12]}, body="x")


def test_a_hand_edit_needs_its_own_hash(f: Store) -> None:
    call(f, "save_page", **fence(f, "P-ana"), body="By tool.")
    f.edit("P-ana", body="\nBy hand.\n")
    assert ids(f.grep("hand")) == ["P-ana"]
    with pytest.raises(HashConflict):
        call(f, "save_page", id="P-ana", expectedRevision=2, body="Over it.")
    events = [row["event"] for row in f.call("knowledge_history", {"id": "P-ana"})["rows"]]
    assert events == ["external_edit", "saved"]
    call(f, "save_page", **fence(f, "P-ana"), body="On top of it.")
    kept = f.call("knowledge_history", {"id": "P-ana", "revision": 2})["rows"]
    assert [("By hand." in row["text"], "By tool." in row["text"]) for row in kept if "text" in row] == [
        (True, False),
        (False, True),
    ]


def test_the_same_request_gives_the_same_receipt(f: Store) -> None:
    first = call(f, "create", requestId="r-1", record=claim())
    second = call(f, "create", requestId="r-1", record=claim())
    assert first["records"] == second["records"]
    assert f.grep("sqlite")["total"] == 1
    with pytest.raises(RequestConflict):
        call(f, "create", requestId="r-1", record=claim(title="Other"))


def test_an_identical_call_without_request_id_is_a_retry_for_ten_minutes(f: Store) -> None:
    first = call(f, "create", record=claim())
    f.clock.advance(599)
    assert call(f, "create", record=claim())["records"] == first["records"]
    f.clock.advance(2)
    assert call(f, "create", record=claim())["records"] != first["records"]


def test_a_write_for_another_vault_is_refused(f: Store) -> None:
    with pytest.raises(StoreIdentityMismatch):
        call(f, "create", record=claim(), expectedVaultId="vault_other")
    vault = f.service.init()["vaultId"]
    assert call(f, "create", record=claim(), expectedVaultId=vault)["state"] == "complete"


def test_a_changed_vocabulary_is_refused(f: Store) -> None:
    fingerprint = f.call("knowledge_ontology", {})["fingerprint"]
    call(f, "create", record=claim(), expectedOntologyFingerprint=fingerprint)
    (f.vault / "ontology.yaml").write_text(
        "format: knowledge-ontology-v1\nclaims:\n  risk: {label: Risk}\n", encoding="utf-8"
    )
    with pytest.raises(HashConflict):
        call(f, "create", record=claim(claim_kind="risk"), expectedOntologyFingerprint=fingerprint)
    assert call(f, "create", record=claim(claim_kind="risk"))["records"][0]["kind"] == "claim"


INVALID: list[tuple[dict[str, Any], type[EngineError]]] = [
    ({"evidence": []}, EngineError),
    ({"claim_kind": "rumour"}, InvalidRecord),
    ({"entities": ["P-none"]}, InvalidRecord),
    ({"entities": ["C-p2"]}, InvalidRecord),
    ({"dependencies": ["C-wd"]}, InvalidRecord),
    ({"occurred_at": "yesterday"}, InvalidRecord),
    ({"due_at": "2026-06-01"}, InvalidRecord),
    ({"owner": "P-ana"}, InvalidRecord),
    ({"kind": "page"}, InvalidArgument),
    ({"title": ""}, InvalidArgument),
    ({"title": "x" * 201}, InvalidRecord),
    ({"colour": "red"}, InvalidArgument),
    ({"tags": "one"}, InvalidArgument),
    ({"evidence": [{"id": "ev_none"}]}, EngineError),
    ({"evidence": [{"text": "x"}]}, InvalidArgument),
    ({"evidence": [{}]}, InvalidArgument),
    ({"evidence": [{"id": "ev_notes", "quote": "never said"}]}, EngineError),
    ({"source_event": True}, InvalidRecord),
]


@pytest.mark.parametrize(("change", "error"), INVALID)
def test_an_invalid_claim_is_refused_and_leaves_nothing(f: Store, change: dict[str, Any], error: type) -> None:
    before = sorted(path.name for path in f.vault.rglob("*"))
    with pytest.raises(error):
        call(f, "create", record=claim(**change))
    assert [name for name in sorted(path.name for path in f.vault.rglob("*")) if name != "claims"] == [
        name for name in before if name != "claims"
    ]
    assert f.check()["ok"] is True


def test_a_relationship_is_checked_against_the_vocabulary(f: Store) -> None:
    record = {"kind": "relationship", "type": "works_on", "from": "P-ana", "to": "P-atlas", "body": "Leads it.",
              "evidence": [{"id": "ev_notes", "lines": [4, 4]}]}  # fmt: skip
    receipt = call(f, "create", record=record)
    assert receipt["records"][0]["title"] == "Ana Ruiz works on Atlas"
    assert receipt["records"][0]["path"].startswith("relationships/Ana Ruiz works on Atlas k_")
    with pytest.raises(InvalidRecord):
        call(f, "create", record={**record, "from": "P-atlas", "to": "P-ana"})


def test_a_correction_supersedes_in_one_step(f: Store) -> None:
    receipt = call(f, "correct", **fence(f, "C-p2"), reason="New list", replacement=claim(title="Atlas price of May"))
    new, old = receipt["records"]
    assert (new["revision"], new["lifecycle"], old["revision"], old["lifecycle"]) == (1, "active", 2, "superseded")
    row = f.record("C-p2")["record"]
    assert row["supersededBy"] == new["id"]
    assert row["lifecycleChange"]["reason"] == "New list"
    assert row["lifecycleChange"]["requestId"] == receipt["requestId"]
    assert f.record(new["id"])["record"]["supersedes"] == ["C-p2"]
    assert f.grep("forty")["rows"][0]["id"] == new["id"]


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"claim_kind": "event", "source_event": True}, "source_event"),
        ({"claim_kind": "event", "source_event": True, "sources": ["P-atlas"]}, "source_event"),
        ({"sources": ["P-none"]}, "P-none"),
    ],
)
def test_nothing_is_written_that_the_check_would_name(f: Store, more: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidRecord, match=named):
        call(f, "create", record=claim(**more))
    with pytest.raises(InvalidRecord, match=named):
        call(f, "correct", **fence(f, "C-p2"), reason="New", replacement=claim(**more))
    assert f.check()["issues"] == []


def test_what_a_hand_made_record_had_before_does_not_keep_it_from_being_saved(f: Store) -> None:
    f.edit("P-atlas", sources=["P-none"])
    found: Any = f.check()["issues"]
    assert [issue["code"] for issue in found] == ["dangling_reference"]
    call(f, "save_page", **fence(f, "P-atlas"), body="Saved again.")
    assert f.grep("saved again")["rows"][0]["id"] == "P-atlas"
    with pytest.raises(InvalidRecord, match="P-other"):
        call(f, "save_page", **fence(f, "P-atlas"), sources=["P-none", "P-other"])


def test_an_expired_claim_can_be_corrected(f: Store) -> None:
    receipt = call(f, "correct", **fence(f, "C-exp"), reason="Again", replacement=claim())
    assert f.record("C-exp")["record"]["supersededBy"] == receipt["records"][0]["id"]


@pytest.mark.parametrize(
    ("name", "error"), [("C-p1", LifecycleConflict), ("C-wd", LifecycleConflict), ("P-ana", LifecycleConflict)]
)
def test_only_active_claims_and_relationships_are_corrected(f: Store, name: str, error: type) -> None:
    with pytest.raises(error):
        call(f, "correct", **fence(f, name), reason="x", replacement=claim())


def test_a_replacement_is_of_the_same_kind_and_does_not_rest_on_the_original(f: Store) -> None:
    f.claim("C-dep", "fact", "Rests on it", dependencies=["C-p2"])
    for change in ({"kind": "relationship"}, {"dependencies": ["C-p2"]}, {"dependencies": ["C-dep"]}):
        with pytest.raises(InvalidRecord):
            call(f, "correct", **fence(f, "C-p2"), reason="x", replacement=claim(**change))
    with pytest.raises(InvalidArgument):
        call(f, "correct", **fence(f, "C-p2"), reason="  ", replacement=claim())


def test_a_withdrawal_keeps_the_file_and_hides_what_depends_on_it(f: Store) -> None:
    call(f, "withdraw", **fence(f, "P-acme"), reason="Wrong company")
    assert "lifecycle: withdrawn" in f.paths["P-acme"].read_text(encoding="utf-8")
    assert f.lookup("R-emp")["status"] == "missing"
    with pytest.raises(LifecycleConflict):
        call(f, "withdraw", **fence(f, "P-acme"), reason="again")


def test_a_merge_lets_one_page_stand_for_the_other_until_it_is_undone(f: Store) -> None:
    f.claim("C-stone", "fact", "About Stone", entities=["P-ben2"], occurred_at="2026-03-09")
    old = f.paths["P-ben2"].read_bytes()
    good = fence(f, "P-ben2")
    merge = {"merged": "P-ben2", "expectedRevision": good["expectedRevision"], "expectedHash": good["expectedHash"]}
    with pytest.raises(InvalidArgument):
        call(f, "merge", survivor="P-ben2", **merge)
    with pytest.raises(LifecycleConflict):
        call(f, "merge", survivor="C-p2", **merge)
    with pytest.raises(RevisionConflict):
        call(f, "merge", survivor="P-ben", expectedSurvivorRevision=9, **merge)
    call(f, "merge", survivor="P-ben", **merge)
    assert ids(f.lookup("Ben")) == ["P-ben"]
    assert ids(f.tl(entity="P-ben")) == ["C-stone"]
    f.paths["P-ben2"].write_bytes(old)
    assert ids(f.lookup("Ben")) == ["P-ben"]
    f.paths["P-ben2"].write_bytes(
        f.call("knowledge_history", {"id": "P-ben2", "revision": 2})["rows"][0]["text"].encode()
    )
    call(f, "unmerge", **fence(f, "P-ben2"))
    assert ids(f.lookup("Ben")) == ["P-ben", "P-ben2"]
    assert "merged_into" not in f.paths["P-ben2"].read_text(encoding="utf-8")
    assert f.check()["ok"] is True


def test_a_stale_copy_cannot_be_written_to(f: Store) -> None:
    old = f.paths["C-ship"].read_bytes()
    call(f, "withdraw", **fence(f, "C-ship"), reason="no")
    f.paths["C-ship"].write_bytes(old)
    with pytest.raises(LifecycleConflict):
        call(f, "correct", **fence(f, "C-ship"), reason="x", replacement=claim())


def test_an_invalid_record_is_not_written_over(f: Store) -> None:
    f.edit("P-ana", tags="not a list")
    with pytest.raises(InvalidRecord):
        call(f, "save_page", **fence(f, "P-ana"), body="x")


def test_front_matter_in_braces_is_refused_and_left_alone(f: Store) -> None:
    values = f.paths["P-ben"].read_text(encoding="utf-8").split("---\n")[1]
    pairs = ", ".join(line for line in values.splitlines() if line)
    f.paths["P-ben"].write_text(f"---\n{{{pairs}}}\n---\n\nEngineer.\n", encoding="utf-8")
    before = f.paths["P-ben"].read_bytes()
    assert ids(f.lookup("Ben Okafor")) == ["P-ben"]
    with pytest.raises(InvalidRecord):
        call(f, "save_page", **fence(f, "P-ben"), body="x")
    assert f.paths["P-ben"].read_bytes() == before


def test_a_folder_that_is_a_link_is_not_written_through(f: Store, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    try:
        (f.vault / "topics").symlink_to(outside, target_is_directory=True)
    except OSError:
        pytest.skip("this system makes no links")
    with pytest.raises(EngineError):
        call(f, "save_page", expectedRevision=0, title="X", type="topic", body="x")
    assert list(outside.iterdir()) == []
    (f.vault / "topics").unlink()
    f.records()
    assert not (f.vault / "topics").exists()
    call(f, "save_page", expectedRevision=0, title="X", type="topic", body="x")
    assert (f.vault / "topics" / "X.md").exists()


def test_a_file_changed_at_the_last_moment_is_not_overwritten(f: Store) -> None:
    class EditMeanwhile:
        def reached(self, step: str) -> None:
            if step == "journaled":
                f.edit("P-ana", body="\nAt the same moment.\n")

    good = fence(f, "P-ana")
    f.service.close()
    service = KnowledgeService(f.root, f.clock, steps=EditMeanwhile())
    with pytest.raises(HashConflict):
        service.call("knowledge_save_page", {**good, "body": "By tool."})
    service.close()
    assert ids(f.grep("moment")) == ["P-ana"]
    call(f, "save_page", **fence(f, "P-ana"), body="By tool.")


def test_a_request_that_failed_before_anything_was_written_can_be_repeated(
    f: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    request = {"requestId": "r-1", "expectedRevision": 0, "title": "X", "type": "topic", "body": "needle"}
    with monkeypatch.context() as patched:
        patched.setattr(publish, "write_atomic", full)
        with pytest.raises(StorageFailure):
            call(f, "save_page", **request)
    assert f.grep("needle")["total"] == 0
    assert call(f, "save_page", **request)["state"] == "complete"
    assert f.grep("needle")["total"] == 1
