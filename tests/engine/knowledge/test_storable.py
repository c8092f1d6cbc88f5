"""Whatever any argument of any tool holds, the answer is a reply or a refusal in words, and nothing half written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import EngineError, InvalidArgument
from engine.knowledge.arguments import Arg
from engine.knowledge.errors import ScanLimitReached, error_reply
from engine.knowledge.names import file_stem, is_conflict_copy
from engine.knowledge.scan import ScanLimits
from engine.knowledge.storable import MAX_DEPTH, storable
from engine.knowledge.tools import TOOLS
from tests.engine.knowledge.fixture_f import Store, empty_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.knowledge.tools import ToolSpec

HALF = "\ud800"


def nested(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels):
        found = {"a": found}
    return found


BAD_TEXTS = [HALF, f"a{HALF}b", "a\0b"]
BAD_VALUES: list[Any] = [*BAD_TEXTS, float("inf"), float("nan"), nested(3_000), [[HALF]], {HALF: 1}, {"a": ["b\0"]}]


def example(arg: Arg) -> Any:
    """Return a value of an argument's type."""
    if arg.choices:
        return arg.choices[0]
    values: dict[str, Any] = {"integer": max(1, arg.minimum or 0), "number": 1.5, "boolean": True, "string": "x"}
    if arg.type in values:
        return values[arg.type]
    if arg.type == "array":
        return [example(arg.items)] if arg.items is not None else []
    return {each.name: example(each) for each in arg.properties if each.required}


def with_bad(tool: ToolSpec, bad: str) -> Iterator[dict[str, Any]]:
    """Yield calls of a tool, each with the bad text in another argument or property."""
    good = {arg.name: example(arg) for arg in tool.arguments if arg.required}
    for arg in tool.arguments:
        if arg.type == "string" and not arg.choices:
            yield {**good, arg.name: bad}
        if arg.type == "array":
            yield {**good, arg.name: [bad]}
        if arg.type == "object":
            whole = example(arg)
            for each in arg.properties or (Arg("anything", "string"),):
                if each.type == "string" and not each.choices:
                    yield {**good, arg.name: {**whole, each.name: bad}}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_no_text_in_any_argument_breaks_a_tool(f: Store, tool: ToolSpec) -> None:
    calls = [call for bad in BAD_TEXTS for call in with_bad(tool, bad)]
    for arguments in calls:
        before = sorted(f.vault.rglob("*.md"))
        try:
            reply = f.service.call(tool.name, arguments)
        except EngineError as refusal:
            reply = error_reply(refusal)
        else:
            assert tool.read_only
        assert json.dumps(reply, ensure_ascii=False).encode()
        assert sorted(f.vault.rglob("*.md")) == before
    assert calls or not any(arg.type == "string" for arg in tool.arguments)


@pytest.mark.parametrize("value", BAD_VALUES, ids=range(len(BAD_VALUES)))
def test_what_no_text_file_holds_is_refused_before_anything_is_written(f: Store, value: Any) -> None:
    arguments = {"expectedRevision": 0, "title": "Note", "type": "topic", "body": "x", "fields": {"key": value}}
    with pytest.raises(InvalidArgument, match=r"^fields holds "):
        f.call("knowledge_save_page", arguments)
    assert not (f.vault / "topics").exists()
    assert f.service.check()["ok"]


ANYTHING = st.recursive(
    st.text() | st.integers() | st.floats() | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(ANYTHING)
def test_what_passes_can_be_written_as_json_in_utf_8(value: Any) -> None:
    try:
        passed = storable({"fields": value})
    except InvalidArgument:
        return
    assert json.dumps(dict(passed), ensure_ascii=False, allow_nan=False).encode()


def test_values_may_stand_as_deep_in_one_another_as_is_said() -> None:
    assert storable({"fields": nested(MAX_DEPTH - 2)})
    with pytest.raises(InvalidArgument):
        storable({"fields": nested(MAX_DEPTH)})


def test_a_request_id_has_a_length() -> None:
    assert storable({"requestId": "x" * 200})
    with pytest.raises(InvalidArgument, match="201"):
        storable({"requestId": "x" * 201})


def save(store: Store, title: str, body: str = "needle") -> dict[str, Any]:
    arguments = {"expectedRevision": 0, "title": title, "type": "topic", "body": body}
    return store.call("knowledge_save_page", arguments)["receipt"]["records"][0]


@pytest.mark.parametrize(
    "title",
    ["Notes (conflicted copy 2026-01-01)", "a.sync-conflict-20260101", "Plan (SyncConflict 3)", "((conflicted copy))",
     ".hidden", "...", "CON", "nul.txt", "evidence", "x.tmp", "a/b\\c", "会" * 200, "[[link]] #tag ^block", "%00"],
)  # fmt: skip
def test_a_page_of_any_title_is_found_again(empty: Store, title: str) -> None:
    written = save(empty, title)
    assert [row["id"] for row in empty.lookup(written["id"])["rows"]] == [written["id"]]
    assert empty.record(written["id"])["record"]["title"] == title
    assert empty.grep("needle")["total"] == 1
    assert empty.service.check()["issues"] == []


PIECES = st.sampled_from(
    ["(", ")", " conflicted copy", "conflicted copy", ".sync-conflict-1", "(SyncConflict", ".", "x"]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_no_title_makes_a_name_that_the_scan_skips(title: str) -> None:
    stem = file_stem(title)
    assert not is_conflict_copy(f"{stem}.md")
    assert not stem.startswith(".")


def test_a_record_too_large_to_be_read_is_not_written(f: Store) -> None:
    limit = ScanLimits().record_bytes
    with pytest.raises(ScanLimitReached, match="bytes"):
        save(f, "Large", "x" * limit)
    page = save(f, "Small", "grow")
    arguments = {"id": page["id"], "expectedRevision": 1, "expectedHash": page["hash"], "find": "grow"}
    with pytest.raises(ScanLimitReached):
        f.call("knowledge_edit_body", {**arguments, "replace": "x" * limit})
    assert f.record(page["id"])["record"]["revision"] == 1
    assert f.service.check()["ok"]


@pytest.mark.parametrize("limits", [ScanLimits(records=3), ScanLimits(total_bytes=1_500)])
def test_a_full_vault_takes_no_new_record_and_stays_readable(tmp_path: Path, limits: ScanLimits) -> None:
    store = empty_store(tmp_path, limits=limits)
    pages = [save(store, f"Page {number}", "x" * 100) for number in range(3)]
    with pytest.raises(ScanLimitReached, match="full"):
        save(store, "One more", "x" * 500)
    assert store.records()["total"] == 3
    arguments = {"id": pages[0]["id"], "expectedRevision": 1, "expectedHash": pages[0]["hash"], "find": "x" * 100}
    store.call("knowledge_edit_body", {**arguments, "replace": "changed"})
    assert store.grep("changed")["total"] == 1
    store.service.close()


@pytest.mark.parametrize("blank", ["", " ", "\u3000\n"])
def test_a_request_id_says_something(f: Store, blank: str) -> None:
    with pytest.raises(InvalidArgument):
        f.call("knowledge_save_page", {"expectedRevision": 0, "title": "T", "type": "topic", "requestId": blank})
