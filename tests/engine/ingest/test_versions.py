"""Resumes, forks, compactions and sub-agents as the official program of each version wrote them."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import defaultdict
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.helpers.corpus import corpus_folder
from tests.helpers.histories import differences
from tests.helpers.indexing import Index, index

if TYPE_CHECKING:
    from pathlib import Path

NEW_UUIDS = ("0.2.126", "1.0.24")
"""Versions whose copies have new uuids."""

LINEAGE: dict[str, dict[str, tuple[str, str]]] = {
    "0.2.126": {
        "d7ebfbbe": ("0aba7708", "resumed"),
        "40d61c1c": ("d7ebfbbe", "resumed"),
        "79864042": ("40d61c1c", "resumed"),
        "9da7b0a9": ("79864042", "resumed"),
    },
    "1.0.24": {
        "ba129e0a": ("15b70408", "resumed"),
        "d7412f12": ("ba129e0a", "resumed"),
        "082facc9": ("d7412f12", "resumed"),
        "357f8105": ("082facc9", "resumed"),
    },
    "1.0.128": {"3392c1ed": ("74b89618", "forked")},
    "2.0.20": {"608a935b": ("37cd9827", "forked")},
    "2.0.77": {"803f78a0": ("19fd1feb", "forked")},
    "2.1.20": {"eca8f796": ("a292615c", "forked")},
    "2.1.100": {"05cf43d7": ("9200a9e9", "forked")},
    "2.1.332": {"a15a3a77": ("1d717df4", "forked"), "dd94e246": ("18056366", "forked")},
}
"""Which session came from which, by the first digits of their ids: how they were made is known."""

Line = dict[str, Any]


def transcripts(version: str) -> Path:
    folder = corpus_folder() / "versions" / version / "projects"
    if not folder.is_dir():
        pytest.skip(f"no transcripts of {version}")
    return folder


def said(projects: Path) -> dict[str, list[Line]]:
    """Return the user and assistant lines of each file, read without any of the engine's code."""
    found: dict[str, list[Line]] = {}
    for file in sorted(projects.rglob("*.jsonl")):
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
        found[file.name] = [line for line in lines if line["type"] in ("user", "assistant")]
    return found


def words(line: Line) -> str:
    content: Any = line["message"]["content"]
    blocks = cast("list[Line]", content) if isinstance(content, list) else [{"type": "text", "text": content}]
    kept = [{name: value for name, value in block.items() if name != "signature"} for block in blocks]
    return json.dumps(kept, sort_keys=True)


def distinct(files: dict[str, list[Line]], *, new_uuids: bool) -> list[set[str]]:
    """Return the uuids of each message that was said: several where copies got new ones.

    An answer is told by the id of its call and its words, a result by its call. What a person typed is told by its
    words and the answer that followed.
    """
    groups: dict[object, set[str]] = defaultdict(set)
    for name, lines in files.items():
        for position, line in enumerate(lines):
            key: object = line["uuid"]
            if new_uuids:
                following = [
                    each["message"]["id"]
                    for each in lines[position:]
                    if each["type"] == "assistant" and each["isSidechain"] == line["isSidechain"]
                ]
                answered = following[0] if following and following[0].startswith("msg_") else name
                key = (line["type"], words(line), answered)
            groups[key].add(line["uuid"])
    return list(groups.values())


@pytest.mark.parametrize("version", sorted(LINEAGE))
def test_each_message_is_found_once_and_every_session_knows_its_parent(version: str, tmp_path: Path) -> None:
    projects = transcripts(version)
    messages = distinct(said(projects), new_uuids=version in NEW_UUIDS)
    with index(tmp_path / "index.db", projects) as read:
        read.read()
        stored = uuids(read)
        lineage = {child[:8]: (parent[:8], kind) for child, (parent, kind) in read.lineage().items()}

    assert [sorted(group & stored) for group in messages if len(group & stored) != 1] == []
    assert lineage == LINEAGE[version]


def uuids(read: Index) -> set[str]:
    return {
        row[0]
        for row in read.rows(
            """SELECT lower(substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-' || substr(h, 13, 4) || '-'
               || substr(h, 17, 4) || '-' || substr(h, 21)) FROM (SELECT hex(uuid) AS h FROM messages)"""
        )
    }


@pytest.mark.parametrize("version", sorted(LINEAGE))
def test_every_session_holds_the_lines_of_its_file(version: str, tmp_path: Path) -> None:
    projects = transcripts(version)
    with index(tmp_path / "index.db", projects) as read:
        read.read()
        held = {
            row[0]: row[1]
            for row in read.rows(
                """SELECT f.path, count(*) FROM (SELECT file_id, role FROM messages UNION ALL
                     SELECT c.file_id, m.role FROM copies c JOIN messages m ON m.id = c.message_id) p
                   JOIN files f ON f.id = p.file_id WHERE p.role <> 3 GROUP BY f.path"""
            )
        }
        injected = {
            row[0]: row[1]
            for row in read.rows(
                """SELECT f.path, count(*) FROM (SELECT file_id, role, agent FROM messages UNION ALL
                     SELECT c.file_id, m.role, m.agent FROM copies c JOIN messages m ON m.id = c.message_id) p
                   JOIN files f ON f.id = p.file_id WHERE p.role = 3 GROUP BY f.path"""
            )
        }
    for name, lines in said(projects).items():
        places = [path for path in {**held, **injected} if path.endswith(name)]
        if lines:
            assert len(places) == 1
            # Injected text also comes from attachments and system lines.
            assert held.get(places[0], 0) <= len(lines) <= held.get(places[0], 0) + injected.get(places[0], 0)


@pytest.mark.slow
@pytest.mark.parametrize("version", sorted(LINEAGE))
def test_the_order_in_which_files_are_read_does_not_matter(version: str, tmp_path: Path) -> None:
    projects = tmp_path / "projects"
    shutil.copytree(transcripts(version), projects)
    files = sorted(projects.rglob("*.jsonl"))
    dumps: list[dict[str, Any]] = []
    for seed in range(3):
        for age, file in enumerate(random.Random(seed).sample(files, len(files))):
            os.utime(file, (1e9 + age, 1e9 + age))
        with index(tmp_path / f"{seed}.db", projects) as read:
            read.read()
            dumps.append(read.dump())
    assert [differences(dumps[0], other) for other in dumps[1:]] == ["", ""]


def test_sub_agents_are_described_and_tied_to_the_call_that_started_them(tmp_path: Path) -> None:
    projects = transcripts("2.1.332")
    expected: set[tuple[str, str, str, str, str]] = set()
    for file in projects.rglob("agent-*.meta.json"):
        meta = json.loads(file.read_text(encoding="utf-8"))
        agent = file.name.removeprefix("agent-").removesuffix(".meta.json")
        expected.add((file.parts[-3], agent, meta["toolUseId"], meta["agentType"], meta["description"]))
    with index(tmp_path / "index.db", projects) as read:
        read.read()
        stored = read.rows(
            """SELECT s.session_id, a.agent, a.tool_use, a.kind, a.description FROM agents a
               JOIN sessions s ON s.id = a.session_id"""
        )
        spoken = read.rows("SELECT DISTINCT agent FROM messages WHERE agent IS NOT NULL")
    assert expected
    assert expected <= set(stored)
    assert {row[0] for row in spoken} == {agent for _, agent, *_ in expected}


def test_an_old_sub_agents_file_belongs_to_the_sessions_its_lines_name(tmp_path: Path) -> None:
    projects = transcripts("2.0.77")
    named = {
        (line["agentId"], line["sessionId"])
        for name, lines in said(projects).items()
        for line in lines
        if name.startswith("agent-")
    }
    with index(tmp_path / "index.db", projects) as read:
        read.read()
        stored = read.rows(
            """SELECT DISTINCT m.agent, s.session_id FROM messages m JOIN sessions s ON s.id = m.session_id
               WHERE m.agent <> ''"""
        )
    assert set(stored) == named
