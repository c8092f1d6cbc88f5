"""From real transcripts on disk to answers: counts against an independent script, nothing twice, no network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.clock import SystemClock
from engine.core.settings import Settings
from engine.service import Engine, open_reader
from engine.transcripts.discovery import Root
from tests.helpers.corpus import ROOT, corpus_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.core.paths import Paths

pytestmark = pytest.mark.integration

SAMPLE = ROOT / "assets" / "sample" / "projects"


def index(paths: Paths, root: Path) -> None:
    engine = Engine(paths, Settings(embedding_enabled=False), SystemClock(), roots=(Root(root, "history"),))
    engine.start(watch=False)
    engine.run_once()
    assert engine.stop() == ()


@dataclass(frozen=True)
class Expected:
    """What a reader of the raw files counts, without any of the engine's code."""

    files: int
    prompts: int
    answers: int
    tool_calls: int


def count_by_hand(folder: Path) -> Expected:
    """Count main-conversation prompts, assistant lines and tool calls, each uuid once."""
    seen: set[str] = set()
    counts: Counter[str] = Counter()
    files = sorted(folder.rglob("*.jsonl"))
    for file in files:
        for line in file.read_bytes().split(b"\n"):
            if not line.strip():
                continue
            record: dict[str, Any] = json.loads(line)
            uuid = record.get("uuid")
            if not uuid or uuid in seen:
                continue
            if record["type"] == "attachment":
                attachment = record["attachment"]
                if attachment["type"] == "queued_command" and attachment.get("commandMode") == "prompt":
                    seen.add(uuid)
                    counts["prompts"] += 1
            if record["type"] not in ("user", "assistant"):
                continue
            seen.add(uuid)
            content = record["message"]["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if record["type"] == "assistant":
                counts["answers"] += 1
                counts["tool_calls"] += sum(block["type"] == "tool_use" for block in blocks)
            elif is_prompt(record, blocks):
                counts["prompts"] += 1
    return Expected(len(files), counts["prompts"], counts["answers"], counts["tool_calls"])


def is_prompt(record: dict[str, Any], blocks: list[dict[str, Any]]) -> bool:
    origin: dict[str, Any] = record.get("origin") or {}
    if record.get("isMeta") or record.get("isCompactSummary") or record.get("isSidechain"):
        return False
    if origin.get("kind") not in (None, "human") or any(block["type"] == "tool_result" for block in blocks):
        return False
    if any(block["type"] in ("image", "document") for block in blocks):
        return True
    texts = [block["text"].strip() for block in blocks if block["type"] == "text"]
    machine = ("<local-command", "<bash-stdout", "<task-notification", "[Request interrupted", "Caveat:", "<system-")
    return any(
        bool(text.partition("<command-args>")[2].split("</command-args>")[0].strip())
        if text.startswith("<command-")
        else bool(text) and not text.startswith(machine)
        for text in texts
    )


@pytest.mark.slow
def test_counts_of_real_transcripts_agree_with_an_independent_count(paths: Paths) -> None:
    projects = corpus_folder() / "projects"
    expected = count_by_hand(projects)
    index(paths, projects)

    with open_reader(paths, Settings(), SystemClock()) as api:
        covered = api.coverage()

    assert covered.files.seen == covered.files.indexed == expected.files
    assert covered.files.unreadable == 0
    assert covered.prompts == expected.prompts
    assert covered.answers == expected.answers
    assert covered.tool_calls == expected.tool_calls


def test_a_second_pass_over_unchanged_files_writes_nothing(paths: Paths) -> None:
    index(paths, SAMPLE)
    before = {file.name: file.read_bytes() for file in paths.data.rglob("*") if file.is_file()}

    index(paths, SAMPLE)

    after = {file.name: file.read_bytes() for file in paths.data.rglob("*") if file.is_file()}
    assert {**after, "index.db-shm": b""} == {**before, "index.db-shm": b""}


NO_NETWORK = """
import socket, sys
def refuse(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        raise SystemExit(f"the network was asked for {arguments[0]!r}")
    if event in ("socket.connect", "socket.bind") and arguments[0].family != getattr(socket, "AF_UNIX", None):
        raise SystemExit(f"the network was touched: {event} {arguments[1]!r}")
sys.addaudithook(refuse)
"""


def test_indexing_and_searching_touch_no_network(paths: Paths, tmp_path: Path) -> None:
    """Every call that could reach the network is refused by an audit hook in a process of its own."""
    claude = tmp_path / "claude"
    shutil.copytree(SAMPLE, claude / "projects")
    environment = {**os.environ, "BACKSCROLL_HOME": str(paths.home), "CLAUDE_CONFIG_DIR": str(claude)}
    for arguments in (["serve", "--once", "--until", "keyword"], ["search", "migration", "--json"]):
        script = f"{NO_NETWORK}\nsys.argv = {['backscroll', *arguments]!r}\nfrom engine.__main__ import main\nmain()\n"
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["total"] > 0


@pytest.mark.skipif(sys.platform != "linux", reason="network namespaces are Linux's")
def test_the_engine_answers_with_the_network_taken_away(paths: Paths, tmp_path: Path) -> None:
    claude = tmp_path / "claude"
    shutil.copytree(SAMPLE, claude / "projects")
    environment = {**os.environ, "BACKSCROLL_HOME": str(paths.home), "CLAUDE_CONFIG_DIR": str(claude)}
    isolated = ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*isolated, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine allows no network namespaces")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*isolated, sys.executable, "-m", "engine", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=100, check=False)

    once = run("serve", "--once", "--until", "keyword")
    found = run("search", "migration", "--json")

    assert once.returncode == 0, once.stderr
    assert json.loads(found.stdout)["total"] > 0


def test_importing_the_engine_opens_no_connection_and_loads_no_model(paths: Paths) -> None:
    script = "import engine.service, sys; print(sorted({'torch', 'PySide6', 'mcp'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", timeout=60, check=True)

    assert done.stdout.strip() == "[]"
    assert not paths.database.exists()


def test_a_stopped_engine_leaves_one_database_file_and_no_log_beside_it(paths: Paths) -> None:
    index(paths, SAMPLE)

    assert sorted(file.name for file in paths.data.glob("index.db*")) == ["index.db"]
