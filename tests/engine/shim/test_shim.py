from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine import __version__, shim

ROOT = Path(__file__).parents[3]

HEAVY = (
    "argparse",
    "asyncio",
    "concurrent.futures",
    "ctypes",
    "engine.api",
    "engine.core.files",
    "engine.core.models",
    "engine.ipc.client",
    "engine.ipc.server",
    "engine.store",
    "logging",
    "mcp",
    "multiprocessing",
    "orjson",
    "subprocess",
)
"""What must not be loaded before the first reply: each of these costs more than the relay itself."""


def test_starting_loads_nothing_heavy() -> None:
    code = f"import sys, engine.shim; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert told.stdout.split() == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "all"),
        (["--toolset", "recall"], "recall"),
        (["--toolset=knowledge"], "knowledge"),
        (["--toolset"], None),
        (["--toolset", "some"], None),
        (["recall"], None),
        (["--toolset", "recall", "more"], None),
        (["--help"], None),
    ],
)
def test_the_toolset_is_one_of_those_there_are(arguments: list[str], expected: str | None) -> None:
    assert shim.toolset_of(arguments) == expected


def test_wrong_arguments_are_answered_with_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert shim.main(["--nonsense"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "usage: backscroll-mcp [--toolset transcripts|knowledge|recall|all]\n"


def test_the_hello_says_who_asks_from_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {
        "CLAUDE_PROJECT_DIR": "/p",
        "CLAUDE_CODE_SESSION_ID": "s",
        "CLAUDE_CONFIG_DIR": "/c",
        "OTHER": "secret",
    }
    assert shim.hello_of("recall", environment) == {
        "type": "hello",
        "protocol": 1,
        "kind": "mcp",
        "version": __version__,
        "pid": os.getpid(),
        "ppid": os.getppid(),
        "cwd": str(tmp_path),
        "toolset": "recall",
        "project_dir": "/p",
        "session_id": "s",
        "config_dir": "/c",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not let a folder in use be removed")
def test_a_folder_that_no_longer_exists_is_an_empty_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    hello = shim.hello_of("all", {})
    assert hello["cwd"] == ""
    assert "session_id" not in hello
