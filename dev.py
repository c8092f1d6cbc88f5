"""The one command for working on Backscroll: prepare what is missing, then do the thing.

    python dev.py run [arguments]      start Backscroll from this checkout
    python dev.py test [arguments]     run the tests; arguments go to pytest
    python dev.py check                lint, format, types, import contracts, documentation
    python dev.py bench [name] [...]   run a benchmark of tests/benchmarks, or list them
    python dev.py bundle [arguments]   build the application for this system, and test what was built
    python dev.py setup                prepare only

Everything is installed into `.venv` beside this file, in the versions of packaging/constraints.txt, and installed again
only when those or pyproject.toml change. Standard library only, on Linux, macOS and Windows. There is no
`from __future__` line and no syntax newer than Python 3.6, so that an old Python reaches the sentence below.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - the person's Python is not the one of pyproject.toml, that is the point
    sys.exit(
        "Backscroll needs Python 3.11 or newer, and this is Python {}.{}. "
        "Start dev.py with a newer one, for example: python3.13 dev.py run".format(*sys.version_info[:2])
    )

import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

RECIPE = 1
"""Raised when this file makes or fills `.venv` differently: every checkout then does it again."""

TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
"""PyTorch's own index of builds without CUDA (several GB smaller). Used only where pip would take a CUDA build."""

PRODUCT = ("engine", "desktop", "packaging", "dev.py")
"""What runs on other systems too. Tests of one system's calls are skipped elsewhere, and only type-checked as Linux."""

INTERRUPTED = 130
"""Exit code of a program that Ctrl+C ended (128 + SIGINT)."""


class Stop(Exception):
    """A reason to end, as a sentence for the person."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """The places of one checkout."""

    root: Path

    @property
    def venv(self) -> Path:
        """The virtual environment that this file owns."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def project(self) -> Path:
        """What is to be installed."""
        return self.root / "pyproject.toml"

    @property
    def constraints(self) -> Path:
        """The version of everything that is installed."""
        return self.root / "packaging" / "constraints.txt"

    @property
    def apt_list(self) -> Path:
        """The packages of a Debian or Ubuntu system that the app and the tests need."""
        return self.root / "packaging" / "linux" / "apt.txt"

    @property
    def stamp(self) -> Path:
        """What `.venv` was made from. Written last, so that an interrupted preparation is repeated."""
        return self.venv / "backscroll-dev.json"


@dataclass(frozen=True, slots=True)
class Shell:
    """Starts programs in the checkout."""

    folder: Path

    def quietly(self, what: str, argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> None:
        """Run a program behind one progress line on stderr.

        Raises:
            Stop: The program failed; the text holds its output.
        """
        started = time.monotonic()
        on_terminal = sys.stderr.isatty()
        sys.stderr.write(f"{what} ... ")
        sys.stderr.flush()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                argv, cwd=self.folder, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
            while True:
                try:
                    code = process.wait(timeout=1)
                    break
                except subprocess.TimeoutExpired:
                    if on_terminal:
                        sys.stderr.write(f"\r{what} ... {time.monotonic() - started:.0f} s ")
                        sys.stderr.flush()
                except KeyboardInterrupt:
                    sys.stderr.write("\n")
                    process.wait()  # Ctrl+C reached it too; leaving first would leave it writing behind our back
                    raise
            again = f"\r{what} ... " if on_terminal else ""
            sys.stderr.write(f"{again}{time.monotonic() - started:.1f} s\n")
            if code != 0:
                output.seek(0)
                text = output.read().decode("utf-8", errors="replace").strip()
                raise Stop(f"{what} failed with exit code {code}. The program said:\n\n{text}\n")

    def visibly(self, argv: Sequence[str], *, env: Mapping[str, str]) -> int:
        """Run a program on this terminal and return its exit code."""
        sys.stdout.flush()
        process = subprocess.Popen(argv, cwd=self.folder, env=env)
        while True:
            try:
                code = process.wait()
            except KeyboardInterrupt:
                continue  # Ctrl+C reached the program as well: it decides how to end
            return code if code >= 0 else 128 - code

    def become(self, argv: Sequence[str], *, env: Mapping[str, str]) -> int:
        """Run a program as the last act. POSIX replaces this process, so that signals reach the program itself."""
        if os.name != "nt":
            sys.stdout.flush()
            os.chdir(self.folder)
            os.execve(argv[0], [*argv], env)  # noqa: S606 - no shell is wanted
        return self.visibly(argv, env=env)


# --- The virtual environment


def prepare_environment(checkout: Checkout, shell: Shell) -> None:
    """Make `.venv` what pyproject.toml and the constraints say. Starts no program when it already is."""
    wanted = {"environment": environment_fingerprint(checkout), "packages": packages_fingerprint(checkout)}
    have = read_stamp(checkout)
    if not interpreter_exists(checkout) or have.get("environment") != wanted["environment"]:
        create_environment(checkout, shell)
        write_stamp(checkout, {"environment": wanted["environment"]})
    elif have == wanted:
        return
    else:
        write_stamp(checkout, {"environment": wanted["environment"]})
    install_packages(checkout, shell)
    write_stamp(checkout, wanted)


def environment_fingerprint(checkout: Checkout) -> str:
    """Name what makes an environment unusable when it changes: recipe, Python version, and place (scripts hold it)."""
    return f"{RECIPE} {sys.version_info[0]}.{sys.version_info[1]} {platform.machine()} {checkout.root}"


def packages_fingerprint(checkout: Checkout) -> str:
    """Return a digest of what the installed packages follow from."""
    digest = hashlib.sha256()
    for file in (checkout.project, checkout.constraints):
        digest.update(file.read_bytes())
        digest.update(b"\0")
    return digest.hexdigest()


def read_stamp(checkout: Checkout) -> dict[str, str]:
    """Return what `.venv` was made from; empty when it was never finished."""
    try:
        return json.loads(checkout.stamp.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}


def write_stamp(checkout: Checkout, values: Mapping[str, str]) -> None:
    """Note what `.venv` is made from."""
    checkout.stamp.write_text(json.dumps(values), encoding="utf-8")


def interpreter_exists(checkout: Checkout) -> bool:
    """Tell whether the environment's Python, and the Python it was made from, are still there."""
    try:
        lines = (checkout.venv / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return False
    settings = dict(line.split(" = ", 1) for line in lines if " = " in line)
    return checkout.python.exists() and Path(settings.get("home", "")).is_dir()


def create_environment(checkout: Checkout, shell: Shell) -> None:
    """Make an empty `.venv` with the Python that runs this file, and the pinned pip in it.

    Raises:
        Stop: An old `.venv` is in use and cannot be removed, or venv or pip failed.
    """
    if checkout.venv.exists():
        try:
            shutil.rmtree(checkout.venv)
        except OSError as error:
            raise Stop(f"The old .venv cannot be removed: {error}. Close what runs from it and start again.") from error
    # When this very file was started with .venv's own Python, that one has just been removed.
    interpreter: str = getattr(sys, "_base_executable", None) or sys.executable
    shell.quietly("Creating .venv", [interpreter, "-m", "venv", str(checkout.venv)])
    # The pip that Python brings may be too old for dependency groups and build constraints (25.3).
    shell.quietly("Updating pip", [*pip(checkout), "--upgrade", "pip"])


def install_packages(checkout: Checkout, shell: Shell) -> None:
    """Install the checkout itself (editable), what it needs, and what its tests need."""
    extra = ["--extra-index-url", TORCH_CPU_INDEX] if torch_would_be_cuda(checkout, shell) else []
    shell.quietly(
        "Installing packages",
        [
            *pip(checkout),
            f"--build-constraint={checkout.constraints}",
            *extra,
            "--group=dev",
            f"--editable={checkout.root}",
        ],
    )
    # An editable install compiles nothing, and the shim's start is too short to compile on the way.
    packages = [str(checkout.root / name) for name in ("engine", "desktop") if (checkout.root / name).is_dir()]
    shell.quietly("Compiling", [str(checkout.python), "-m", "compileall", "-q", *packages])


def pip(checkout: Checkout) -> list[str]:
    """Return the beginning of an install command that stays quiet, asks nothing and keeps to the pins."""
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check"]
    return [str(checkout.python), "-m", "pip", "install", *quiet, f"--constraint={checkout.constraints}"]


def torch_would_be_cuda(checkout: Checkout, shell: Shell) -> bool:
    """Ask pip which build of torch the present configuration would take, without installing it.

    Only Linux has the question: PyPI's builds for macOS and Windows are CPU builds.
    """
    if sys.platform != "linux" or not needs_torch(checkout.project.read_text(encoding="utf-8")):
        return False
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        question = ["--dry-run", "--no-deps", f"--report={report}", "torch"]
        try:
            shell.quietly("Asking pip which build of torch it would take", [*pip(checkout), *question])
        except Stop:
            return False  # no torch to be had this way: the installation itself will say so, in pip's words
        return is_cuda_build(json.loads(report.read_text(encoding="utf-8")), platform.machine())


def needs_torch(project: str) -> bool:
    """Tell whether the project asks for torch, itself or through sentence-transformers."""
    dependencies: list[str] = tomllib.loads(project)["project"]["dependencies"]
    return any(re.match(r"(torch|sentence-transformers)\b(?!-)", dependency) for dependency in dependencies)


def is_cuda_build(report: Mapping[str, Any], machine: str) -> bool:
    """Tell whether a report of `pip install --report` would install a torch that brings CUDA.

    A local version tag decides (`2.13.0+cpu`, `+cu130`). PyPI's wheels have none; the CUDA ones require NVIDIA's
    libraries, under a marker that may exclude this machine.
    """
    for item in report["install"]:
        metadata: dict[str, Any] = item["metadata"]
        if metadata["name"] != "torch":
            continue
        tag: str = metadata["version"].partition("+")[2]
        if tag:
            return tag != "cpu"
        return any(
            re.match(r"(nvidia|cuda|triton)\b", requirement) and applies_to(requirement, machine)
            for requirement in metadata.get("requires_dist", [])
        )
    return False


def applies_to(requirement: str, machine: str) -> bool:
    """Tell whether a requirement's marker admits this machine (`platform_machine == "x86_64"`)."""
    named = re.findall(r"""platform_machine == ["']([^"']+)["']""", requirement)
    return not named or machine in named


# --- The system's packages (Debian and Ubuntu)


def prepare_system(checkout: Checkout, shell: Shell, groups: Iterable[str]) -> None:
    """Install the system packages that are missing, or say how to. Nothing to do on macOS and Windows."""
    if sys.platform != "linux":
        return
    if not shutil.which("dpkg-query") or not shutil.which("apt-get"):
        if not checkout.stamp.exists():
            say("This is no Debian or Ubuntu: packaging/linux/apt.txt names the libraries that Qt and the tests need.")
        return
    wanted = read_apt_list(checkout.apt_list.read_text(encoding="utf-8"), groups)
    if importlib.util.find_spec("ensurepip") is None:  # Debian splits the venv module off
        wanted.append(f"python{sys.version_info[0]}.{sys.version_info[1]}-venv")
    missing = missing_packages(wanted, installed_packages())
    if not missing:
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() != 0:
        say(f"System packages are missing. Install them with:\n\n    sudo {' '.join(command)}\n")
        return
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    patient = ["-o", "DPkg::Lock::Timeout=120"]  # another apt may be at work
    try:
        shell.quietly("Updating apt's lists", ["apt-get", *patient, "update"], env=env)
        shell.quietly(f"Installing {len(missing)} system packages", [*command, *patient], env=env)
    except Stop as stop:
        say(f"{stop}Going on without: {' '.join(missing)}.")


def read_apt_list(text: str, groups: Iterable[str]) -> list[str]:
    """Return the names under the headings `# run: ...` and `# test: ...` that are asked for."""
    wanted = set(groups)
    names: list[str] = []
    group = ""
    for line in text.splitlines():
        heading = re.match(r"# (\w+):", line)
        if heading:
            group = heading[1]
        name = line.partition("#")[0].strip()
        if name and group in wanted:
            names.append(name)
    return names


def installed_packages() -> str:
    """Return one line for each package dpkg knows: name, state, and what it provides."""
    fields = "${Package}\t${db:Status-Status}\t${Provides}\n"
    return subprocess.run(
        ["dpkg-query", "--show", f"--showformat={fields}"], check=True, capture_output=True, encoding="utf-8"
    ).stdout


def missing_packages(wanted: Iterable[str], installed: str) -> list[str]:
    """Return what is neither installed nor provided by an installed package (`libglib2.0-0t64` has the old name)."""
    present: set[str] = set()
    for line in installed.splitlines():
        name, state, provides = line.split("\t")
        if state == "installed":
            present.add(name)
            present.update(re.findall(r"(?:^|, )([^\s,]+)", provides))
    return [name for name in wanted if name not in present]


# --- The commands


def run(checkout: Checkout, shell: Shell, arguments: Sequence[str]) -> int:
    """Start Backscroll from this checkout."""
    prepare(checkout, shell, groups=["run"])
    return shell.become([str(checkout.python), "-m", "engine", "run", *arguments], env=child_env())


def test(checkout: Checkout, shell: Shell, arguments: Sequence[str]) -> int:
    """Run the tests; arguments go to pytest."""
    prepare(checkout, shell, groups=["run", "test"])
    return shell.become([str(checkout.python), "-m", "pytest", *arguments], env=test_env())


def check(checkout: Checkout, shell: Shell, arguments: Sequence[str]) -> int:
    """Run every check that needs no test, all of them even when one fails."""
    refuse_arguments("check", arguments)
    prepare(checkout, shell, groups=[])
    python = str(checkout.python)
    types = [python, "-m", "basedpyright", "--pythonpath", python]
    steps = [
        ("lint", [python, "-m", "ruff", "check"]),
        ("format", [python, "-m", "ruff", "format", "--check"]),
        ("types", types),
        ("types on Windows", [*types, "--pythonplatform", "Windows", *PRODUCT]),
        ("types on macOS", [*types, "--pythonplatform", "Darwin", *PRODUCT]),
        ("imports", [str(checkout.python.with_name("lint-imports")), "--no-logo", "--no-cache"]),
        ("documentation", [python, "-m", "pytest", "-q", "-n0", "tests/docs"]),
    ]
    results: list[str] = []
    failed: list[str] = []
    for name, argv in steps:
        print(f"--- {name}", flush=True)
        started = time.monotonic()
        if shell.visibly(argv, env=test_env()) != 0:
            failed.append(name)
        results.append(f"{name} {time.monotonic() - started:.1f} s")
    print(f"--- {', '.join(results)}: {'failed: ' + ', '.join(failed) if failed else 'all passed'}")
    return 1 if failed else 0


def bench(checkout: Checkout, shell: Shell, arguments: Sequence[str]) -> int:
    """Run a benchmark by name, or list them."""
    names = benchmarks(checkout.root / "tests" / "benchmarks")
    if not arguments:
        print("\n".join(names) or "There are no benchmarks yet.")
        return 0
    name, *rest = arguments
    if name not in names:
        raise Stop(f"There is no benchmark {name!r}. There are: {', '.join(names) or 'none yet'}.")
    prepare(checkout, shell, groups=["run"])
    return shell.become([str(checkout.python), "-m", f"tests.benchmarks.{name}", *rest], env=child_env())


def benchmarks(folder: Path) -> list[str]:
    """Return the names that `bench` takes: modules, and packages with a `__main__`, that are not private."""
    modules = [file.stem for file in folder.glob("*.py")]
    packages = [file.parent.name for file in folder.glob("*/__main__.py")]
    return sorted(name for name in [*modules, *packages] if not name.startswith("_") and name != "conftest")


def bundle(checkout: Checkout, shell: Shell, arguments: Sequence[str]) -> int:
    """Build the application with PyInstaller, pack it, and let it show that it works."""
    prepare(checkout, shell, groups=["run", "test"])
    # Not in the environment of those who only run or test.
    shell.quietly("Installing PyInstaller", [*pip(checkout), "--group=bundle"])
    program = checkout.root / "packaging" / "build.py"
    return shell.become([str(checkout.python), str(program), *arguments], env=child_env())


def setup(checkout: Checkout, shell: Shell, arguments: Sequence[str]) -> int:
    """Prepare only."""
    refuse_arguments("setup", arguments)
    prepare(checkout, shell, groups=["run", "test"])
    say("Ready.")
    return 0


COMMANDS: Mapping[str, Callable[[Checkout, Shell, Sequence[str]], int]] = {
    "run": run,
    "test": test,
    "check": check,
    "bench": bench,
    "bundle": bundle,
    "setup": setup,
}


def prepare(checkout: Checkout, shell: Shell, *, groups: Iterable[str]) -> None:
    """Bring the system and `.venv` to where a command can run."""
    prepare_system(checkout, shell, groups)
    prepare_environment(checkout, shell)


def refuse_arguments(command: str, arguments: Sequence[str]) -> None:
    """Say so rather than ignore what somebody typed."""
    if arguments:
        raise Stop(f"`dev.py {command}` takes no arguments. You gave: {' '.join(arguments)}")


def child_env() -> dict[str, str]:
    """Return the environment of what is started: text is UTF-8 on Windows too."""
    return {**os.environ, "PYTHONUTF8": "1"}


def test_env() -> dict[str, str]:
    """Return the environment of tests, where opening a text file without naming its encoding is a warning."""
    return {**child_env(), "PYTHONWARNDEFAULTENCODING": "1"}


def say(text: str) -> None:
    """Tell the person something that is not the answer."""
    print(text, file=sys.stderr, flush=True)


def main(argv: Sequence[str], checkout: Checkout, shell: Shell) -> int:
    """Do what the arguments say and return the exit code: 2 for wrong use, 130 after Ctrl+C."""
    usage = __doc__ or ""
    name, *arguments = argv or ["--help"]
    if name in {"-h", "--help", "help"}:
        print(usage.strip())
        return 0 if argv else 2
    if name not in COMMANDS:
        say(f"dev.py has no command {name!r}. It has: {', '.join(COMMANDS)}.")
        return 2
    try:
        return COMMANDS[name](checkout, shell, arguments)
    except Stop as stop:
        say(str(stop))
        return 1
    except KeyboardInterrupt:
        say("Interrupted.")
        return INTERRUPTED


def start() -> NoReturn:
    """Run from the command line."""
    here = Path(__file__).resolve().parent
    sys.exit(main(sys.argv[1:], Checkout(here), Shell(here)))


if __name__ == "__main__":
    start()
