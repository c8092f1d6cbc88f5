from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from engine import __version__
from engine.cli import exits
from engine.cli.app import VERBS, main
from engine.cli.output import dump
from engine.core.errors import (
    Ambiguous,
    Cancelled,
    EngineError,
    EngineNotRunning,
    InvalidArgument,
    NotFound,
    StorageFailure,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.engine.cli.conftest import Run


def python(code: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env={**os.environ, **env}, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotFound("x"), 1),
        (InvalidArgument("x"), 2),
        (Ambiguous("x"), 2),
        (EngineNotRunning("x"), 3),
        (StorageFailure("x"), 3),
        (EngineError("x"), 3),
        (Cancelled("x"), 130),
    ],
)
def test_each_error_has_its_exit_code(error: EngineError, code: int) -> None:
    assert exits.exit_code(error) == code


@pytest.mark.parametrize(
    "argv", [["frobnicate"], ["search"], ["search", "x", "--frob"], ["search", "x", "--mode", "y"]]
)
def test_wrong_use_is_exit_code_2_with_a_sentence(backscroll: Callable[..., Run], argv: list[str]) -> None:
    run = backscroll(*argv)
    assert run.code == 2
    assert run.out == ""
    assert run.err.startswith("Wrong use\n")
    error = json.loads(backscroll(*argv, "--json").err)["error"]
    assert error["code"] == "invalid_argument"


def test_a_choice_that_is_not_offered_lists_those_that_are(backscroll: Callable[..., Run]) -> None:
    run = backscroll("search", "x", "--mode", "bogus")
    assert run.code == 2
    assert "'bogus' is not one of 'hybrid', 'keyword', 'semantic'." in run.err
    assert "Value error" not in run.err


@pytest.mark.parametrize("verb", [verb.__name__ for verb in VERBS])
def test_every_verb_has_help_and_json(backscroll: Callable[..., Run], verb: str) -> None:
    run = backscroll(verb, "--help")
    assert run.code == 0
    assert f"Usage: backscroll {verb}" in run.out
    assert "--json" in run.out or verb == "mcp"


def test_help_lists_the_verbs(backscroll: Callable[..., Run]) -> None:
    out = backscroll("--help").out
    assert all(f" {verb.__name__} " in out for verb in VERBS)


def test_the_version_is_said(backscroll: Callable[..., Run]) -> None:
    assert backscroll("--version").out == f"backscroll {__version__}\n"


def test_ctrl_c_is_quiet(backscroll: Callable[..., Run]) -> None:
    run = backscroll("status", status=KeyboardInterrupt())
    assert (run.code, run.out, run.err) == (130, "", "")


def test_a_bug_keeps_its_traceback(backscroll: Callable[..., Run]) -> None:
    with pytest.raises(ZeroDivisionError):
        backscroll("status", status=ZeroDivisionError("a bug"))


def test_no_database_and_no_engine_is_exit_code_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKSCROLL_HOME", str(tmp_path))
    assert main(["sessions"]) == 3
    assert not list(tmp_path.iterdir())


def test_json_of_half_a_surrogate_pair_is_escaped() -> None:
    assert dump({"a": "é"}) == '{"a": "é"}'
    assert dump({"a": "é\udc80"}) == '{"a": "\\u00e9\\udc80"}'


def test_output_is_utf8_on_an_odd_console() -> None:
    code = (
        "import sys; from engine.cli.output import Output, use_utf8; use_utf8(); "
        r"Output().show('\u65e5\u672c \udc80'); Output().json({'a': '\xe9\udc80'})"
    )
    done = python(code, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert done.stdout.decode("utf-8") == '日本 ?\n{"a": "\\u00e9\\udc80"}\n'


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    code = (
        "import sys\n"
        "from engine.cli import app, sessions\n"
        "def many(ctx):\n"
        "    for _ in range(100_000):\n"
        "        print('x' * 100)\n"
        "app.app.registered_commands.clear()\n"
        "app.app.command()(many)\n"
        "app.app.command()(sessions.sessions)\n"
        "sys.exit(app.main(['many']))\n"
    ).replace("def many(ctx):", "def many() -> None:")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == exits.BROKEN_PIPE


def test_the_shim_branches_off_before_the_command_line_is_imported() -> None:
    code = (
        "import sys; sys.argv = ['backscroll', 'mcp', '--bogus']; from engine.__main__ import main; "
        "assert main() == 2; assert not {'typer', 'rich', 'apsw', 'mcp'} & set(sys.modules)"
    )
    assert python(code).returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("comes_while", ["engine.cli.app", "rich.console", ""])
def test_ctrl_c_while_the_command_line_is_imported_ends_it_at_once_without_a_word(comes_while: str) -> None:
    code = (
        "import signal, sys\n"
        "class Comes:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {comes_while!r}: signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Comes())\n"
        "sys.argv = ['backscroll', '--version']\n"
        "from engine.__main__ import main\n"
        "main()\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
    )
    done = python(code)
    assert done.returncode == (-signal.SIGINT if comes_while else 0)
    assert done.stderr == b""


def test_help_needs_neither_database_nor_protocol() -> None:
    code = (
        "import sys; from engine.cli.app import main; assert main(['--help']) == 0; "
        "heavy = {'apsw', 'mcp', 'engine.service', 'engine.api', 'orjson', 'tomlkit', 'rapidfuzz', 'PySide6'}; "
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    assert python(code).stderr == b""
