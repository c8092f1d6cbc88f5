"""What is carried over from scan to scan equals what a fresh reader computes."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.clock import FixedClock
from engine.knowledge import scan
from engine.knowledge.filters import RecordFilter
from engine.knowledge.frontmatter import new_record
from engine.knowledge.queries import GrepQuery
from engine.knowledge.scan import ScanLimits, VaultWalker
from engine.knowledge.scope_index import ScopeIndex
from engine.knowledge.service import KnowledgeService
from engine.knowledge.validation import Guard
from engine.knowledge.vault import VaultReader
from tests.engine.knowledge.fixture_f import NOW, RECORDED, Store, empty_store, fixture_f, ids, sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.knowledge.scan import StatKey
    from engine.knowledge.snapshot import Snapshot
    from engine.knowledge.yamltext import YamlValue

NAMES = ["A", "B", "C", "D"]
REFERENCE = st.sampled_from([*NAMES, "missing"])
FILE = st.fixed_dictionaries(
    {
        "name": st.sampled_from(NAMES),
        "kind": st.sampled_from(["page", "page", "claim", "relationship"]),
        "lifecycle": st.sampled_from(["active", "active", "active", "superseded", "withdrawn", "merged"]),
        "revision": st.sampled_from([1, 1, 2, 0]),
        "scope": st.sampled_from(["default", "default", "other"]),
        "entities": st.lists(REFERENCE, max_size=2),
        "sources": st.lists(REFERENCE, max_size=1),
        "target": REFERENCE,
        "evidence": st.sampled_from(["ev_1", "ev_2"]),
        "broken": st.sampled_from([False, False, False, True]),
    }
)
STEP = st.one_of(
    st.tuples(st.just("write"), st.integers(0, 5), FILE),
    st.tuples(st.just("delete"), st.integers(0, 5), st.none()),
    st.tuples(st.just("evidence"), st.sampled_from([1, 2]), st.none()),
    st.tuples(st.just("guard"), st.sampled_from(NAMES), st.none()),
)


def content(chosen: dict[str, Any]) -> bytes:
    if chosen["broken"]:
        return b"---\nid: [\n---\n"
    kind = chosen["kind"]
    values: dict[str, YamlValue] = {
        "format": "knowledge-record-v1",
        "id": chosen["name"],
        "revision": chosen["revision"],
        "kind": kind,
        "title": f"Title {chosen['name']} {chosen['revision']}",
        "scope": chosen["scope"],
        "lifecycle": chosen["lifecycle"],
        "recorded_at": RECORDED,
        "updated_at": RECORDED,
        "sources": list(dict.fromkeys(chosen["sources"])),
    }
    if chosen["lifecycle"] == "superseded":
        values["superseded_by"] = chosen["target"]
    if chosen["lifecycle"] == "merged":
        values["merged_into"] = chosen["target"]
    if kind == "page":
        values |= {"type": "topic", "entities": list(dict.fromkeys(chosen["entities"]))}
    elif kind == "claim":
        values |= {"claim_kind": "fact", "attribution": {"by": "x"}, "assertion_origin": "stated"}
        values |= {"evidence": [{"id": chosen["evidence"]}], "entities": list(dict.fromkeys(chosen["entities"]))}
    else:
        values |= {"type": "related_to", "from": chosen["target"], "to": chosen["name"]}
        values |= {"evidence": [{"id": chosen["evidence"]}]}
    return new_record(values, "needle")


def retain(vault: Path, number: int) -> None:
    """Retain a text, or take its descriptor away again."""
    descriptor = vault / "evidence" / f"ev_{number}.yaml"
    if descriptor.exists():
        descriptor.unlink()
        return
    digest = sha256(b"text\n")
    original = vault / "evidence" / "files" / digest[:2] / f"{digest}.txt"
    original.parent.mkdir(parents=True, exist_ok=True)
    original.write_bytes(b"text\n")
    descriptor.write_text(
        f"id: ev_{number}\npath: evidence/files/{digest[:2]}/{digest}.txt\nsha256: {digest}\n", encoding="utf-8"
    )


FILTERS = (RecordFilter(), RecordFilter(lifecycle="superseded"), RecordFilter(lifecycle="all", kind="claim"))


def facts(snapshot: Snapshot) -> dict[str, object]:
    return {
        "id": snapshot.id,
        "files": [file.path for file in snapshot.files],
        "inventory": [(file.path, snapshot.flags(file)) for file in snapshot.inventory],
        "issues": snapshot.issues,
        "nodes": snapshot.nodes,
        "available": snapshot.available,
        "eligible": list(snapshot.eligible.items()),
        "current": list(snapshot.current.items()),
        "hashes": snapshot.hashes,
        "passing": [snapshot.passing(wanted) for wanted in FILTERS],
        "replacements": snapshot.replacements,
        "names": snapshot.names,
        "linked": {name: snapshot.linked(name) for name in sorted(snapshot.available)},
    }


@given(st.lists(st.lists(STEP, min_size=1, max_size=3), min_size=1, max_size=6))
@settings(max_examples=60)
def test_a_carried_over_snapshot_equals_a_fresh_one(rounds: list[list[Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder)
        clock = FixedClock(NOW)
        reader = VaultReader(vault, clock)
        indexes = {scope: ScopeIndex(scope, reader.evidence) for scope in ("default", "other")}
        guards: dict[str, Guard] = {}
        for number, steps in enumerate(rounds):
            for what, which, chosen in steps:
                path = vault / f"file {which}.md"
                if what == "write":
                    path.write_bytes(content(chosen))
                elif what == "delete":
                    path.unlink(missing_ok=True)
                elif what == "evidence":
                    retain(vault, which)
                else:
                    guards = {**guards, which: Guard(which, 2, "withdrawn")}
            found = reader.scan()
            fresh = VaultReader(vault, clock)
            # The second scope skips every other round, so that it also meets changes it did not see one by one.
            for scope in ("default", "other") if number % 2 == 0 else ("default",):
                expected = ScopeIndex(scope, fresh.evidence).snapshot(fresh.scan(), guards)
                assert facts(indexes[scope].snapshot(found, guards)) == facts(expected)


EDIT = st.one_of(
    st.tuples(st.just("body"), st.sampled_from(["P-ana", "P-atlas", "C-p1", "C-p2", "C-kick"]), st.integers(1, 30)),
    st.tuples(st.just("tag"), st.sampled_from(["P-ana", "C-p2"]), st.integers(1, 2)),
    st.tuples(st.just("withdraw"), st.sampled_from(["C-kick", "C-p2", "P-acme"]), st.just(0)),
    st.tuples(st.just("add"), st.sampled_from(["N-1", "N-2"]), st.integers(1, 5)),
    st.tuples(st.just("delete"), st.sampled_from(["N-1", "N-2", "C-p1"]), st.just(0)),
)
ASKED = "atlas forty price"
QUESTIONS = (
    GrepQuery(ASKED, mode="any"),
    GrepQuery(ASKED, mode="any"),
    GrepQuery(ASKED, tag="Q2"),
    GrepQuery(ASKED, lifecycle="all"),
    GrepQuery(ASKED, mode="any", kind="claim"),
)


def edit(store: Store, what: str, name: str, number: int) -> None:
    if what == "add":
        store.page(name, "topic", f"Note {name}", "atlas " * number)
    elif name in store.paths and not store.paths[name].exists():
        return
    elif what == "body":
        store.edit(name, body="\n" + "price forty " * number)
    elif what == "tag":
        tags: list[YamlValue] = ["Q2", "later"]
        store.edit(name, tags=tags[:number])
    elif what == "withdraw":
        store.withdraw(name)
    elif what == "delete" and name in store.paths:
        store.paths[name].unlink()


ROUND = st.tuples(st.lists(EDIT, max_size=4), st.integers(0, len(QUESTIONS) - 1))


@given(st.lists(ROUND, min_size=1, max_size=6))
@settings(max_examples=15)
def test_a_corpus_carried_on_ranks_as_one_read_anew(rounds: list[tuple[list[tuple[str, str, int]], int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = fixture_f(empty_store(Path(folder)))
        try:
            store.grep("atlas forty")
            for changes, question in rounds:
                for change in changes:
                    edit(store, *change)
                query = replace(QUESTIONS[question], view="full")
                answer = store.service.grep(query)
                fresh = KnowledgeService(store.root, store.clock)
                expected = fresh.grep(query)
                fresh.close()
                assert (answer["rows"], answer["total"]) == (expected["rows"], expected["total"])
        finally:
            store.service.close()


def test_a_row_one_record_left_may_be_anothers(f: Store) -> None:
    f.grep("price", time_field="occurred_at", since="2026-03-10")
    for path in f.paths.values():
        if path != f.paths["C-p2"] and path != f.paths["M-rev"]:
            path.unlink()
    f.edit("C-p2", remove=("supersedes", "entities"))
    f.edit("M-rev", remove=("entities",))
    assert set(ids(f.grep("price", time_field="occurred_at", since="2026-03-10"))) == {"C-p2", "M-rev"}


def test_only_changed_files_are_opened(f: Store) -> None:
    reader = VaultReader(f.vault, f.clock)
    old = 1_700_000_000_000_000_000
    for path in f.vault.rglob("*"):
        os.utime(path, ns=(old, old))
    first = reader.scan()
    assert first.reread == 16
    f.edit("P-ben", body="\nNew.\n")
    assert reader.scan().touched == {"person/P-ben.md"}
    f.paths["P-ben"].rename(f.vault / "Moved.md")
    assert reader.scan().touched == {"person/P-ben.md", "Moved.md"}
    assert reader.scan() is reader.scan()


def test_threads_take_turns(f: Store) -> None:
    answers: list[list[str]] = []

    def ask() -> None:
        answers.extend(ids(f.service.grep(GrepQuery("forty"))) for _ in range(5))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [["C-p2"]] * 20


def test_opening_and_closing_leaves_no_descriptor(f: Store) -> None:
    folder = Path("/proc/self/fd")
    if not folder.exists():
        return
    f.grep("atlas")
    f.service.close()
    before = len(list(folder.iterdir()))
    for _ in range(20):
        f.grep("atlas")
        f.service.close()
    assert len(list(folder.iterdir())) == before


SMALL = ScanLimits(record_bytes=64)
CHANGE = st.tuples(
    st.sampled_from(["write", "touch", "delete", "rename", "link", "folder", "pipe", "grow", "folder away"]),
    st.integers(0, 3),
    st.integers(0, 5),
)


def rename(path: Path, target: Path) -> None:
    """Rename over whatever is there; a folder and a file would not replace each other."""
    if target.is_dir():
        target.rmdir()
    elif path.is_dir():
        target.unlink(missing_ok=True)
    path.rename(target)


def alter(vault: Path, what: str, folder: int, which: int) -> None:
    """Do to a vault what editors, sync programs and people do."""
    path = vault / f"folder {folder}" / f"note {which}.md"
    if what == "folder away":
        shutil.rmtree(path.parent, ignore_errors=True)
        return
    path.parent.mkdir(exist_ok=True)
    if what == "touch":
        if path.is_file():
            os.utime(path, ns=(1, which))
        return
    if what == "rename" and path.exists():
        rename(path, path.with_name(f"note {(which + 1) % 6}.md"))
        return
    if path.is_dir():
        path.rmdir()
    if what in ("write", "grow") and not path.is_symlink() and not path.is_fifo():
        path.write_bytes(b"x" * (which + 1 if what == "write" else SMALL.record_bytes + which))
        return
    path.unlink(missing_ok=True)
    if what == "link":
        path.symlink_to(vault / "elsewhere.md")
    elif what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)


def listing(folder: Path) -> set[tuple[str, bool, bool]]:
    if not folder.exists():
        return set()
    return {(entry.name, entry.is_symlink(), entry.is_dir(follow_symlinks=False)) for entry in os.scandir(folder)}


def alter_with_new_times(vault: Path, change: tuple[str, int, int], ticks: Iterator[int]) -> None:
    """Alter, and give what changed times of its own: the clock of a file system may stand still meanwhile."""
    what, number, which = change
    folder = vault / f"folder {number}"
    before = listing(folder)
    alter(vault, what, number, which)
    path = folder / f"note {which}.md"
    if what in ("write", "grow", "touch") and path.is_file() and not path.is_symlink():
        os.utime(path, ns=(1, next(ticks)))
    if listing(folder) != before:
        for changed in (folder, vault):
            if changed.exists():
                os.utime(changed, ns=(1, next(ticks)))


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
@given(st.lists(st.lists(CHANGE, max_size=4), min_size=1, max_size=6))
@settings(max_examples=150)
def test_a_walk_that_looks_only_at_what_differs_finds_what_a_whole_one_finds(rounds: list[list[Any]]) -> None:
    ticks = itertools.count(10**18)
    # Young folders are listed anew; here none is young.
    with tempfile.TemporaryDirectory() as name, mock.patch.object(scan, "RACY_NS", -(10**18)):
        vault = Path(name)
        walker = VaultWalker(vault, SMALL)
        files: dict[str, StatKey] = {}
        for changes in rounds:
            for change in changes:
                alter_with_new_times(vault, change, ticks)
            walk = walker.walk()
            for path in walk.removed:
                del files[path]
            files.update(walk.changed)
            whole = VaultWalker(vault, SMALL).walk()
            assert files == whole.changed
            assert set(walk.issues) == set(whole.issues)


def test_changes_in_a_large_folder_are_found_wherever_they_stand(tmp_path: Path) -> None:
    paths = [tmp_path / f"note {number:04}.md" for number in range(1_203)]
    for path in paths:
        path.write_bytes(b"x")
    with mock.patch.object(scan, "RACY_NS", -(10**18)):
        walker = VaultWalker(tmp_path, ScanLimits())
        assert len(walker.walk().changed) == len(paths)
        for changed in ([paths[0]], [paths[499], paths[500]], [paths[1_202], paths[3]], []):
            for path in changed:
                path.write_bytes(b"longer")
            assert set(walker.walk().changed) == {path.name for path in changed}
            for path in changed:
                path.write_bytes(b"")
            assert set(walker.walk().changed) == {path.name for path in changed}
