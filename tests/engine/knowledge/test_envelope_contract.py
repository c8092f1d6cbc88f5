"""Contract 2.14: freshness, envelope, strict arguments, no writes by reading, determinism."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.clock import FixedClock
from engine.knowledge.errors import InvalidArgument, StoreUnavailable
from engine.knowledge.service import KnowledgeService
from engine.knowledge.tools import TOOLS
from tests.engine.knowledge.fixture_f import NOW, Store, call_tool, ids, sha256

if TYPE_CHECKING:
    from pathlib import Path

READS: list[tuple[str, dict[str, Any]]] = [
    ("knowledge_grep", {"query": "atlas"}),
    ("knowledge_lookup", {"query": "Ana Ruiz"}),
    ("knowledge_records", {}),
    ("knowledge_record", {"id": "C-p2"}),
    ("knowledge_timeline", {"includeSources": True}),
    ("knowledge_timeline", {"entity": "P-ana", "group": "source"}),
    ("knowledge_chronicle_day", {"date": "2026-03-05"}),
    ("knowledge_chronicle_since", {"since": "2026-03-05"}),
    ("knowledge_chronicle_last_seen", {"entity": "P-ana"}),
    ("knowledge_ontology", {}),
    ("knowledge_ontology", {"view": "definitions"}),
    ("knowledge_ontology", {"view": "sources"}),
    ("knowledge_ontology", {"view": "diagnostics"}),
    ("knowledge_history", {}),
]


def tree(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(path.relative_to(folder)): (sha256(path.read_bytes()), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_r151_complete_replies_tell_how_fresh_they_are(f: Store) -> None:
    assert f.grep("atlas", view="full")["freshness"].keys() == {"queriedAt", "scannedAt", "indexedAt"}
    assert f.tl(view="full")["freshness"].keys() == {"queriedAt", "scannedAt"}
    assert "freshness" not in f.grep("atlas")


def test_r152_an_unchanged_scan_is_reused(f: Store) -> None:
    first = f.grep("atlas", view="full")
    f.clock.advance(60)
    second = f.grep("atlas", view="full")
    assert second["freshness"]["queriedAt"] > first["freshness"]["queriedAt"]
    assert second["freshness"]["scannedAt"] == first["freshness"]["scannedAt"]
    assert second["rows"] == first["rows"]


def test_r152_a_change_that_keeps_size_and_mtime_is_seen(f: Store) -> None:
    f.grep("atlas")
    path = f.paths["P-ben2"]
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"Lawyer", b"Doctor"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert ids(f.grep("doctor")) == ["P-ben2"]


@pytest.mark.parametrize("number", [0, 2, 4, 5, 6, 7])
def test_r153_every_list_has_the_same_envelope(f: Store, number: int) -> None:
    tool, arguments = READS[number]
    reply = f.call(tool, arguments)
    assert {"rows", "total", "snapshot", "coverage"} <= reply.keys()
    assert isinstance(reply["coverage"]["complete"], bool)
    assert "nextOffset" in f.call(tool, {**arguments, "limit": 1})
    dated = tool in ("knowledge_timeline", "knowledge_chronicle_day", "knowledge_chronicle_since")
    expected = {"knowledge_lookup": "not_used", "knowledge_records": "not_used"}.get(tool, "ready")
    assert reply["projection" if dated else "index"]["state"] == expected


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("knowledge_grep", {"query": "x", "limit": "10"}),
        ("knowledge_grep", {"query": 7}),
        ("knowledge_grep", {"query": "x", "offset": None}),
        ("knowledge_timeline", {"includeSources": "true"}),
        ("knowledge_chronicle_day", {"date": 20260305}),
        ("knowledge_records", {"limit": [50]}),
    ],
)
def test_r154_wrong_types_are_refused_never_coerced(f: Store, tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        f.call(tool, arguments)


def test_r155_reading_never_touches_the_vault(f: Store) -> None:
    f.call("knowledge_save_page", {"expectedRevision": 0, "title": "One", "type": "topic", "body": "x"})
    f.edit("P-ben", body="\nEdited by hand.\n")
    before = tree(f.vault)
    for tool, arguments in READS:
        f.call(tool, arguments)
    f.check()
    assert tree(f.vault) == before


def test_r155_looking_creates_no_store(tmp_path: Path) -> None:
    service = KnowledgeService(tmp_path / "knowledge", FixedClock(NOW))
    assert service.exists() is False
    for tool, arguments in READS:
        with pytest.raises(StoreUnavailable) as refused:
            service.call(tool, arguments)
        assert "knowledge init" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_r155_the_first_write_creates_the_store(tmp_path: Path) -> None:
    service = KnowledgeService(tmp_path / "knowledge", FixedClock(NOW))
    service.call("knowledge_save_page", {"expectedRevision": 0, "title": "One", "type": "topic", "body": "x"})
    assert service.exists()
    assert service.init()["created"] is False
    service.close()


def test_r156_the_same_store_gives_the_same_bytes_anywhere(f: Store, tmp_path: Path) -> None:
    first = [json.dumps(f.call(*call).get("rows")) for call in READS]
    assert [json.dumps(f.call(*call).get("rows")) for call in READS] == first
    f.service.close()
    shutil.copytree(f.root, tmp_path / "elsewhere")
    copy = KnowledgeService(tmp_path / "elsewhere", FixedClock(NOW))
    assert [json.dumps(call_tool(copy, *call).get("rows")) for call in READS] == first
    copy.close()


def test_every_tool_is_declared_within_its_limits() -> None:
    assert len({tool.name for tool in TOOLS}) == len(TOOLS) == 20
    for tool in TOOLS:
        assert len(tool.description) <= 900
        assert tool.input_schema()["additionalProperties"] is False
        assert callable(getattr(KnowledgeService, tool.method))
