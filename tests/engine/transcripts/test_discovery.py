"""Which files are transcripts, whose they are, and where the roots lie."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import pytest

from engine.transcripts.discovery import FileIdentity, FileKind, claude_roots, identify, label_of

SESSION = "11111111-1111-4111-8111-111111111111"


@pytest.mark.parametrize(
    ("path", "identity"),
    [
        (f"-p/{SESSION}.jsonl", FileIdentity(FileKind.SESSION, SESSION)),
        (f"-p/{SESSION.upper()}.jsonl", FileIdentity(FileKind.SESSION, SESSION)),
        (f"-p/2026-01-22-{SESSION}.jsonl", FileIdentity(FileKind.SESSION, SESSION)),
        ("-p/export.jsonl", FileIdentity(FileKind.SESSION, None)),
        (f"-p/{SESSION}-old.jsonl", FileIdentity(FileKind.SESSION, None)),
        ("-p/agent-a15f266.jsonl", FileIdentity(FileKind.OLD_AGENT, None, "a15f266")),
        (f"-p/{SESSION}/subagents/agent-a1.jsonl", FileIdentity(FileKind.AGENT, SESSION, "a1")),
        (f"-p/{SESSION}/subagents/agent-acompact-1f.jsonl", FileIdentity(FileKind.AGENT, SESSION, "acompact-1f")),
        (
            f"-p/{SESSION}/subagents/workflows/wf_1/agent-a2.jsonl",
            FileIdentity(FileKind.AGENT, SESSION, "a2"),
        ),
        (f"-p/{SESSION}/subagents/agent-a1.meta.json", FileIdentity(FileKind.META, SESSION, "a1")),
        (f"-p/{SESSION}/tool-results/toolu_1.txt", FileIdentity(FileKind.SPILL, SESSION)),
        (f"-p/{SESSION}/subagents/workflows/wf_1/journal.jsonl", None),
        (f"-p/{SESSION}/workflows/wf_1.json", None),
        (f"-p/{SESSION}/other.jsonl", None),
        ("-p/sessions-index.json", None),
        ("-p/memory/notes.md", None),
        ("history.jsonl", None),
    ],
)
def test_a_path_tells_what_a_file_is(path: str, identity: FileIdentity | None) -> None:
    assert identify(PurePosixPath(path)) == identity


def test_only_conversations_are_transcripts() -> None:
    kinds = {kind: FileIdentity(kind, None).is_transcript for kind in FileKind}
    assert [kind for kind, yes in kinds.items() if yes] == [FileKind.SESSION, FileKind.AGENT, FileKind.OLD_AGENT]


def test_without_a_setting_both_usual_places_are_roots() -> None:
    home = Path("/home/dev")
    roots = [(root.path, root.from_environment) for root in claude_roots({}, home)]
    assert roots == [(home / ".claude" / "projects", False), (home / ".config" / "claude" / "projects", False)]


@pytest.mark.parametrize("separator", [",", os.pathsep, f" {os.pathsep} "])
def test_the_environment_may_name_several_folders(separator: str) -> None:
    roots = claude_roots({"CLAUDE_CONFIG_DIR": f"/one{separator}/two/projects"}, Path("/home/dev"))
    assert [(root.path, root.label) for root in roots] == [
        (Path("/one/projects"), "one"),
        (Path("/two/projects"), "two"),
    ]
    assert all(root.from_environment for root in roots)


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("/home/dev/.claude/projects", "claude"),
        ("/mnt/My Files/projects", "My-Files"),
        ("/", "root"),
        ("/日本/projects", "日本"),
    ],
)
def test_a_root_gets_a_label_that_can_be_a_folder(path: str, label: str) -> None:
    assert label_of(Path(path)) == label
