from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dev
from tests.dev.fake_shell import FakeShell

ROOT = Path(dev.__file__).parent


@pytest.fixture(autouse=True)
def nothing_missing_on_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev.sys, "platform", "darwin")


@pytest.fixture
def shell(checkout: dev.Checkout) -> FakeShell:
    dev.prepare_environment(checkout, FakeShell(checkout.root))
    return FakeShell(checkout.root, codes={"engine": 3, "pytest": 5})


def test_run_starts_the_engine_of_the_environment_and_passes_arguments_and_code_through(
    checkout: dev.Checkout, shell: FakeShell
) -> None:
    assert dev.main(["run", "--sample"], checkout, shell) == 3
    assert shell.commands == [[str(checkout.python), "-m", "engine", "run", "--sample"]]


def test_test_passes_its_arguments_to_pytest(checkout: dev.Checkout, shell: FakeShell) -> None:
    assert dev.main(["test", "-k", "a and b", "-x"], checkout, shell) == 5
    assert shell.commands == [[str(checkout.python), "-m", "pytest", "-k", "a and b", "-x"]]


def test_check_runs_every_step_even_when_the_first_fails(
    checkout: dev.Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    dev.prepare_environment(checkout, FakeShell(checkout.root))
    shell = FakeShell(checkout.root, codes={"ruff": 1})
    assert dev.main(["check"], checkout, shell) == 1
    assert len(shell.commands) == 7
    assert capsys.readouterr().out.splitlines()[-1].endswith(": failed: lint, format")


def test_check_that_finds_nothing_says_so(checkout: dev.Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["check"], checkout, FakeShell(checkout.root)) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(": all passed")


@pytest.mark.parametrize("command", ["check", "setup"])
def test_arguments_that_would_be_ignored_are_refused(
    command: str, checkout: dev.Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dev.main([command, "--fast"], checkout, FakeShell(checkout.root)) == 1
    assert "takes no arguments. You gave: --fast" in capsys.readouterr().err


def test_setup_prepares_and_starts_nothing(checkout: dev.Checkout) -> None:
    shell = FakeShell(checkout.root)
    assert dev.main(["setup"], checkout, shell) == 0
    assert shell.steps[-2:] == ["Installing packages", "Compiling"]
    assert len(shell.commands) == len(shell.steps)


def test_failed_preparation_ends_with_the_programs_words(
    checkout: dev.Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dev.main(["run"], checkout, FakeShell(checkout.root, fail="Installing packages")) == 1
    assert "no such package" in capsys.readouterr().err


def test_bench_lists_and_starts_what_exists(
    checkout: dev.Checkout, shell: FakeShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dev.main(["bench"], checkout, shell) == 0
    assert "no benchmarks yet" in capsys.readouterr().out
    folder = checkout.root / "tests" / "benchmarks"
    for name in ("index.py", "_data.py", "conftest.py", "retrieval/__main__.py", "retrieval/_score.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    assert dev.main(["bench"], checkout, shell) == 0
    assert capsys.readouterr().out == "index\nretrieval\n"
    assert dev.main(["bench", "index", "--rows", "9"], checkout, shell) == 0
    assert shell.commands == [[str(checkout.python), "-m", "tests.benchmarks.index", "--rows", "9"]]
    assert dev.main(["bench", "nothing"], checkout, shell) == 1
    assert "There are: index, retrieval." in capsys.readouterr().err


def test_bundle_alone_installs_what_builds_it(checkout: dev.Checkout, shell: FakeShell) -> None:
    assert dev.main(["bundle", "--no-pack"], checkout, shell) == 0
    assert shell.steps == ["Installing PyInstaller"]
    program = str(checkout.root / "packaging" / "build.py")
    assert shell.commands == [
        [*dev.pip(checkout), "--group=bundle"],
        [str(checkout.python), program, "--no-pack"],
    ]


def test_bundle_that_lacks_pyinstaller_is_not_begun(checkout: dev.Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["bundle"], checkout, FakeShell(checkout.root, fail="Installing PyInstaller")) == 1
    assert "no such package" in capsys.readouterr().err


def test_unknown_command_is_wrong_use_and_names_the_known_ones(
    checkout: dev.Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dev.main(["tests"], checkout, FakeShell(checkout.root)) == 2
    assert "run, test, check, bench, bundle, setup" in capsys.readouterr().err


@pytest.mark.parametrize(("argv", "code"), [([], 2), (["--help"], 0), (["-h"], 0), (["help"], 0)])
def test_help_names_every_command(
    argv: list[str], code: int, checkout: dev.Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dev.main(argv, checkout, FakeShell(checkout.root)) == code
    text = capsys.readouterr().out
    assert all(f"dev.py {command}" in text for command in dev.COMMANDS)


def test_ctrl_c_ends_without_a_traceback(checkout: dev.Checkout, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        dev.main(["run"], checkout, FakeShell(checkout.root, failure=KeyboardInterrupt(), fail="Creating .venv")) == 130
    )
    assert capsys.readouterr().err == "Interrupted.\n"


# --- Real programs


def test_quiet_program_shows_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dev.Shell(tmp_path).quietly("Counting", [sys.executable, "-c", "print('one two three')"])
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("Counting ... ")
    assert said.err.count("\n") == 1
    assert "one two three" not in said.err


def test_quiet_program_that_fails_shows_its_output(tmp_path: Path) -> None:
    program = "import sys; print('half way'); sys.exit('no space left')"
    with pytest.raises(dev.Stop, match=r"(?s)Counting failed with exit code 1.*half way.*no space left"):
        dev.Shell(tmp_path).quietly("Counting", [sys.executable, "-c", program], env={**os.environ, "PYTHONUTF8": "1"})


def become(program: str) -> list[str]:
    shell = f"dev.Shell(pathlib.Path({str(ROOT)!r}))"
    argv = f"[sys.executable, '-c', {program!r}]"
    return [sys.executable, "-c", f"import sys, pathlib, dev; sys.exit({shell}.become({argv}, env=dev.test_env()))"]


def test_exit_code_passes_through() -> None:
    assert subprocess.run(become("import sys; sys.exit(7)"), cwd=ROOT, check=False).returncode == 7


def test_visible_programs_exit_code_passes_through(tmp_path: Path) -> None:
    shell = dev.Shell(tmp_path)
    assert shell.visibly([sys.executable, "-c", "import sys; sys.exit(7)"], env=dev.child_env()) == 7


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals that end a program")
def test_program_ended_by_a_signal_counts_as_the_shell_counts(tmp_path: Path) -> None:
    program = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    code = dev.Shell(tmp_path).visibly([sys.executable, "-c", program], env=dev.child_env())
    assert code == 128 + signal.SIGTERM


def test_started_programs_speak_utf8_and_warn_about_unnamed_encodings() -> None:
    program = "import sys; print(sys.flags.utf8_mode, sys.flags.warn_default_encoding)"
    done = subprocess.run(become(program), cwd=ROOT, check=True, capture_output=True, encoding="utf-8")
    assert done.stdout.split() == ["1", "1"]


# --- An old Python


def test_old_python_can_read_the_file_far_enough_to_be_told() -> None:
    source = (ROOT / "dev.py").read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 6))
    first = [type(node).__name__ for node in tree.body[:3]]
    assert first == ["Expr", "Import", "If"], "docstring, import sys, the sentence: nothing may come before it"


def test_old_python_is_told_which_one_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    source = (ROOT / "dev.py").read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    with pytest.raises(SystemExit) as ended:
        exec(compile(source, "dev.py", "exec"), {"__name__": "old"})  # noqa: S102 - the file under test
    assert "needs Python 3.11 or newer, and this is Python 3.9" in str(ended.value.code)
