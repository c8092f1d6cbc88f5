"""A data folder that cannot be written is read without an engine, and whatever would write says so in a sentence."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.core.clock import SystemClock
from engine.core.paths import Paths
from engine.core.settings import Settings
from engine.service import Engine
from engine.transcripts.discovery import Root

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="mount namespaces are Linux's"),
]

ROOT = Path(__file__).parents[2]
INSIDE = ("unshare", "--map-root-user", "--mount", "sh", "-c")
READS = (
    "search migration --json",
    "sessions --json",
    "status --json",
    "coverage --json",
    "usage --json",
    "prune --older-than 1d --json",
)
WRITES = ("reindex --json", "serve --once --json", "knowledge init --json", "prune --older-than 1d --apply --json")


def told(home: Path, arguments: str) -> tuple[int, str, str]:
    """Run the program while nothing below its folder can be written."""
    program = f"{shlex.quote(sys.executable)} -P -m engine {arguments}"
    place = shlex.quote(str(home))
    command = f"mount --bind {place} {place} && mount -o remount,ro,bind {place} && exec {program}"
    done = subprocess.run(
        [*INSIDE, command],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "BACKSCROLL_HOME": str(home), "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if subprocess.run([*INSIDE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no mount namespaces")
    folder = tmp_path_factory.mktemp("read only")
    shutil.copytree(ROOT / "assets" / "sample" / "projects", folder / "projects")
    paths = Paths.below(folder / "home")
    engine = Engine(
        paths, Settings(embedding_enabled=False), SystemClock(), roots=(Root(folder / "projects", "history"),)
    )
    engine.start(watch=False)
    engine.run_once()
    assert engine.stop() == ()
    return folder / "home"


@pytest.mark.parametrize("arguments", READS)
def test_what_reads_answers(home: Path, arguments: str) -> None:
    code, out, err = told(home, arguments)

    assert code == 0, err
    reply = json.loads(out)
    assert not reply.get("warnings")
    assert reply.get("total", 1)


@pytest.mark.parametrize("arguments", WRITES)
def test_what_writes_is_refused_in_words(home: Path, arguments: str) -> None:
    code, _, err = told(home, arguments)

    assert code == 3
    error = json.loads(err.splitlines()[-1])["error"]
    assert "Read-only file system" in error["message"]
    assert error["hint"]
