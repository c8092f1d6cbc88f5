"""Vaults nobody would want: each problem is named with path and line, and touches nothing else."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.knowledge.frontmatter import new_record
from tests.engine.knowledge.fixture_f import Store, ids, sha256

posix = pytest.mark.skipif(os.name != "posix", reason="needs links and special files")

GOOD = {
    "format": "knowledge-record-v1",
    "id": "P-evil",
    "revision": 1,
    "kind": "page",
    "type": "topic",
    "title": "Evil",
    "scope": "default",
    "lifecycle": "active",
    "recorded_at": "2026-03-05T10:00:00Z",
    "updated_at": "2026-03-05T10:00:00Z",
}


def good(**changes: Any) -> bytes:
    return new_record({**GOOD, **changes}, "needle")


def expect(store: Store, path: str, *, line: int | None = None, code: str | None = None) -> None:
    """Expect findings about one file, and everything else as before."""
    issues = store.check()["issues"]
    assert {issue["path"] for issue in issues} == {path}
    if line is not None:
        assert issues[0]["line"] == line
    if code is not None:
        assert issues[0]["code"] == code
    reply = store.grep("forty")
    assert (ids(reply), reply["coverage"]["complete"]) == (["C-p2"], False)
    assert ids(store.tl(order="asc")) == ["C-ship", "C-kick", "C-p2", "M-rev"]


@pytest.mark.parametrize(
    ("front", "line"),
    [
        (b"id: [unclosed\n", 3),
        (b"a: 1\nb: *ref\n", 3),
        (b"a: &anchor x\n", 2),
        (b"a: !!python/object/apply:os.system [id]\n", 2),
        (b"a: 1\na: 2\n", 3),
        (b"a: !custom x\n", 2),
        (b"- a\n- b\n", 2),
        (b"just text\n", 2),
        (b"a: \tb\n\tc: d\n", 3),
        (b"a: " + b"9" * 5_000 + b"\n", 2),
        (b"a: " + b"[" * 200 + b"]" * 200 + b"\n", 2),
        (b"? [complex]\n: x\n", 2),
        (b"a: \x01\n", 2),
    ],
)
def test_broken_yaml_is_named_by_line(f: Store, front: bytes, line: int) -> None:
    (f.vault / "evil.md").write_bytes(b"---\n" + front + b"---\nbody\n")
    expect(f, "evil.md", line=line, code="unreadable")


def test_a_yaml_bomb_does_not_grow(f: Store) -> None:
    bomb = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (f.vault / "bomb.md").write_text("---\n" + "\n".join(bomb) + "\n---\n", encoding="utf-8")
    expect(f, "bomb.md", line=2)


def test_front_matter_over_64_kib_is_refused(f: Store) -> None:
    (f.vault / "evil.md").write_bytes(good(summary="x" * 70_000))
    expect(f, "evil.md")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", 1),
        (b"no front matter\n", 1),
        (b"---\nid: x\n", 1),
        (b"---", 1),
        (b"---\n---\n", 1),
        (b"\n---\nid: x\n---\n", 1),
        (b"---\nformat: something-else\nid: x\n---\n", 2),
        (b"---\nid: x\n---\nbad \xff\xfe utf-8\n", 4),
        (b"---\nid: x\n---\nzero\0byte\n", 4),
        (b"\xff\xfe-\0-\0-\0", 1),
    ],
)
def test_files_that_are_no_records_are_named(f: Store, content: bytes, line: int) -> None:
    (f.vault / "evil.md").write_bytes(content)
    expect(f, "evil.md", line=line)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("id", "../../etc/passwd"),
        ("id", "a" * 65),
        ("title", "two\nlines"),
        ("title", "x" * 201),
        ("revision", "1"),
        ("revision", True),
        ("scope", "../other"),
        ("lifecycle", "candidate"),
        ("recorded_at", "2026-03-05"),
        ("recorded_at", "2026-03-05T10:00:00+01:00"),
        ("type", "unheard-of"),
        ("tags", "not a list"),
        ("aliases", [1, 2]),
        ("evidence", [{"id": "../x"}]),
        ("evidence", [{"id": "ev_none"}]),
        ("owner", "P-ana"),
        ("summary", ["list"]),
        ("superseded_by", "C-p2"),
    ],
)
def test_a_wrong_key_is_named_by_line(f: Store, key: str, value: Any) -> None:
    data = good(**{key: value})
    (f.vault / "evil.md").write_bytes(data)
    lines = data.decode().splitlines()
    line = next(number for number, text in enumerate(lines, start=1) if text.startswith(f"{key}:"))
    issues = f.check()["issues"]
    assert {issue["path"] for issue in issues} == {"evil.md"}
    assert all(line <= issue["line"] <= line + 1 for issue in issues)
    assert ids(f.grep("forty")) == ["C-p2"]


def test_a_title_that_looks_like_a_number_must_be_quoted(f: Store) -> None:
    data = good().replace(b"title: Evil", b"title: 2026")
    (f.vault / "evil.md").write_bytes(data)
    expect(f, "evil.md", line=7)
    (f.vault / "evil.md").write_bytes(data.replace(b"title: 2026", b"title: 2026-05-26"))
    assert ids(f.lookup("2026-05-26")) == ["P-evil"]


def test_a_ten_megabyte_file_is_set_aside(f: Store) -> None:
    (f.vault / "huge.md").write_bytes(good() + b"x" * (10 * 1024 * 1024))
    expect(f, "huge.md", code="too_large")


@posix
def test_links_out_of_the_vault_are_not_followed(f: Store, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_bytes(good())
    (f.vault / "link.md").symlink_to(outside / "secret.md")
    expect(f, "link.md", code="symlink")
    (f.vault / "link.md").unlink()
    (f.vault / "folder").symlink_to(outside, target_is_directory=True)
    expect(f, "folder", code="symlink")
    assert f.grep("needle")["total"] == 0


@posix
def test_a_link_that_leads_in_a_circle_ends(f: Store) -> None:
    (f.vault / "loop").symlink_to(f.vault, target_is_directory=True)
    expect(f, "loop", code="symlink")


@posix
def test_a_named_pipe_is_not_opened(f: Store) -> None:
    os.mkfifo(f.vault / "pipe.md")
    expect(f, "pipe.md", code="not_a_file")


@posix
def test_an_unreadable_file_is_named(f: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.knowledge import vault

    def refuse(path: str, limit: int) -> Any:
        if path.endswith("closed.md"):
            raise PermissionError(13, "Permission denied", path)
        return original(path, limit)

    original = vault.read_file
    monkeypatch.setattr(vault, "read_file", refuse)
    (f.vault / "closed.md").write_bytes(good())
    expect(f, "closed.md", code="unreadable")


@pytest.mark.parametrize(
    "path",
    ["../../../etc/passwd", "/etc/passwd", "evidence/files/../../secret.txt", "evidence/files/aa/short.txt", "a\0b"],
)
def test_path_traversal_in_evidence_is_refused(f: Store, path: str) -> None:
    digest = sha256(b"x")
    descriptor = f.vault / "evidence" / "ev_evil.yaml"
    descriptor.write_text(f'id: ev_evil\npath: "{path}"\nsha256: {digest}\n'.replace("\0", "\\0"), encoding="utf-8")
    f.claim("C-evil", "fact", "Evil", "needle", evidence=[{"id": "ev_evil"}])
    issues = f.check()["issues"]
    assert {(issue["path"], issue["code"]) for issue in issues} == {
        ("evidence/ev_evil.yaml", "evidence_invalid"),
        ("claims/C-evil.md", "evidence_missing"),
    }
    assert next(issue["line"] for issue in issues if issue["code"] == "evidence_invalid") == 2
    assert f.grep("needle")["total"] == 0


@posix
def test_an_original_reached_through_a_link_does_not_verify(f: Store, tmp_path: Path) -> None:
    folder = next((f.vault / "evidence" / "files").iterdir())
    moved = tmp_path / "moved"
    folder.rename(moved)
    folder.symlink_to(moved, target_is_directory=True)
    assert {one["state"] for one in f.record("C-p2")["record"]["evidence"]} == {"changed"}


def test_a_missing_original_is_named_by_the_check(f: Store) -> None:
    for original in (f.vault / "evidence" / "files").rglob("*.txt"):
        original.unlink()
    issues = f.check()["issues"]
    assert {issue["code"] for issue in issues} == {"evidence_no_file"}
    assert all(issue["line"] for issue in issues)


def test_names_that_differ_by_case_only_are_named_and_both_read(f: Store) -> None:
    first, second = f.vault / "Same.md", f.vault / "same.md"
    first.write_bytes(good(id="P-one"))
    second.write_bytes(good(id="P-two"))
    if len(list(f.vault.glob("[Ss]ame.md"))) == 1:
        pytest.skip("this file system keeps one of the two")
    expect(f, "same.md", code="case_collision")
    assert ids(f.grep("needle")) == ["P-one", "P-two"]


def test_a_thousand_duplicates_hide_only_themselves(f: Store) -> None:
    folder = f.vault / "copies"
    folder.mkdir()
    for number in range(1_000):
        (folder / f"copy {number}.md").write_bytes(good())
    reply = f.grep("needle")
    assert (reply["total"], reply["coverage"]["issueCount"]) == (0, 1_000)
    assert len(reply["coverage"]["issues"]) == 3
    assert ids(f.grep("forty")) == ["C-p2"]
    assert f.records()["total"] == 1_016


@pytest.mark.parametrize(
    "name",
    [
        "Ana (conflicted copy 2026-03-05 101500).md",
        "Ana (Ben's conflicted copy 2026-03-05).md",
        "Ana.sync-conflict-20260305-101500-ABCDEFG.md",
    ],
)
def test_copies_of_sync_programs_are_reported_not_read(f: Store, name: str) -> None:
    (f.vault / name).write_bytes(f.paths["P-ana"].read_bytes())
    expect(f, name, code="conflict_copy")
    assert f.lookup("P-ana")["status"] == "found"


@pytest.mark.parametrize(
    "path",
    [".git/x.md", ".obsidian/x.md", ".trash/x.md", "evidence/x.md", ".hidden.md", "x.tmp", "note.txt", "a/.b/x.md"],
)
def test_files_that_are_nobodys_records_are_skipped(f: Store, path: str) -> None:
    target = f.vault / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(good())
    assert f.check()["ok"] is True
    assert f.grep("needle")["total"] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_not_utf8_is_named(f: Store) -> None:
    with open(os.fsencode(f.vault) + b"/bad\xff.md", "wb") as file:  # noqa: PTH123 - a Path cannot be made from it on every system
        file.write(good())
    expect(f, "bad\\xff.md", code="unreadable_name")


def test_windows_line_ends_and_a_byte_order_mark_are_read(f: Store) -> None:
    (f.vault / "bom.md").write_bytes(b"\xef\xbb\xbf" + good().replace(b"\n", b"\r\n"))
    assert ids(f.grep("needle")) == ["P-evil"]
    assert f.check()["ok"] is True


def test_a_rule_as_first_body_line_is_no_second_front_matter(f: Store) -> None:
    (f.vault / "rule.md").write_bytes(good().replace(b"\nneedle", b"---\nneedle"))
    assert ids(f.grep("needle")) == ["P-evil"]


def test_a_broken_ontology_leaves_the_default_one(f: Store) -> None:
    (f.vault / "ontology.yaml").write_text("format: knowledge-ontology-v1\npages: [\n", encoding="utf-8")
    expect(f, "ontology.yaml", code="ontology_unreadable")
    (f.vault / "ontology.yaml").write_text(
        "format: knowledge-ontology-v1\npages:\n  tool: {folder: ../../outside, alias: x}\n", encoding="utf-8"
    )
    issues = f.check()["issues"]
    assert {(issue["code"], issue["line"]) for issue in issues} == {("ontology_invalid", 3)}
    assert len(issues) == 2


@pytest.mark.parametrize("refused", ["scandir", "lstat"])
def test_what_is_closed_to_us_is_named_and_hides_nothing_else(
    f: Store, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    closed = f.vault / "lost+found" / ("" if refused == "scandir" else "note.md")
    f.write("lost+found/note.md", {"id": "P-closed", "kind": "page", "type": "topic", "title": "Closed"}, "needle")
    assert ids(f.grep("needle")) == ["P-closed"]
    real = getattr(os, refused)

    def closing(path: Any, **more: Any) -> Any:
        if isinstance(path, str) and Path(path) == closed:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, refused, closing)
        # The walk sees by itself that the folder is another: what a change of rights does to its times.
        (f.vault / "lost+found" / "new.txt").touch()
        expect(f, "lost+found" if refused == "scandir" else "lost+found/note.md", code="unreadable")
        assert f.grep("needle")["total"] == 0
    assert ids(f.grep("needle")) == ["P-closed"]
    assert f.check()["ok"]
