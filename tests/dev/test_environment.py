from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import dev
from tests.dev.fake_shell import FakeShell

if TYPE_CHECKING:
    from collections.abc import Callable

CREATE = "Creating .venv"
PIP = "Updating pip"
ASK = "Asking pip which build of torch it would take"
INSTALL = "Installing packages"
COMPILE = "Compiling"


@pytest.fixture(autouse=True)
def on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev.sys, "platform", "linux")
    monkeypatch.setattr(dev.platform, "machine", lambda: "x86_64")


def prepared(checkout: dev.Checkout) -> FakeShell:
    dev.prepare_environment(checkout, FakeShell(checkout.root))
    shell = FakeShell(checkout.root)
    dev.prepare_environment(checkout, shell)
    assert shell.steps == [], "a second start is immediate"
    return shell


def test_first_start_creates_the_environment_and_installs_with_the_pins(checkout: dev.Checkout) -> None:
    shell = FakeShell(checkout.root)
    dev.prepare_environment(checkout, shell)
    assert shell.steps == [CREATE, PIP, ASK, INSTALL, COMPILE]
    install, _ = shell.commands[-2:]
    assert install[0] == str(checkout.python)
    assert {f"--constraint={checkout.constraints}", f"--build-constraint={checkout.constraints}"} <= {*install}
    assert {"--group=dev", f"--editable={checkout.root}"} <= {*install}


@pytest.mark.parametrize("file", ["project", "constraints"])
def test_changed_requirements_are_installed_into_the_same_environment(checkout: dev.Checkout, file: str) -> None:
    shell = prepared(checkout)
    changed = checkout.project if file == "project" else checkout.constraints
    changed.write_text(changed.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    dev.prepare_environment(checkout, shell)
    assert shell.steps == [ASK, INSTALL, COMPILE]
    prepared(checkout)


def remove_interpreter(checkout: dev.Checkout) -> None:
    checkout.python.unlink()


def remove_base_python(checkout: dev.Checkout) -> None:
    (checkout.venv / "pyvenv.cfg").write_text(f"home = {checkout.root / 'gone'}\n", encoding="utf-8")


def forget_stamp(checkout: dev.Checkout) -> None:
    checkout.stamp.unlink()


def damage_stamp(checkout: dev.Checkout) -> None:
    checkout.stamp.write_text("{", encoding="utf-8")


def use_other_python(checkout: dev.Checkout) -> None:
    stamp = json.loads(checkout.stamp.read_text(encoding="utf-8"))
    stamp["environment"] = stamp["environment"].replace(" 3.", " 2.")
    checkout.stamp.write_text(json.dumps(stamp), encoding="utf-8")


def remove_everything(checkout: dev.Checkout) -> None:
    shutil.rmtree(checkout.venv)


@pytest.mark.parametrize(
    "harm",
    [remove_interpreter, remove_base_python, forget_stamp, damage_stamp, use_other_python, remove_everything],
)
def test_broken_environment_is_made_again(checkout: dev.Checkout, harm: Callable[[dev.Checkout], None]) -> None:
    shell = prepared(checkout)
    harm(checkout)
    dev.prepare_environment(checkout, shell)
    assert shell.steps == [CREATE, PIP, ASK, INSTALL, COMPILE]
    prepared(checkout)


def test_moved_checkout_makes_its_environment_again(checkout: dev.Checkout) -> None:
    prepared(checkout)
    moved = dev.Checkout(checkout.root.rename(checkout.root.with_name("elsewhere")))
    shell = FakeShell(moved.root)
    dev.prepare_environment(moved, shell)
    assert shell.steps[0] == CREATE


def test_interrupted_creation_is_repeated_from_the_start(checkout: dev.Checkout) -> None:
    with pytest.raises(dev.Stop):
        dev.prepare_environment(checkout, FakeShell(checkout.root, fail=PIP))
    shell = FakeShell(checkout.root)
    dev.prepare_environment(checkout, shell)
    assert shell.steps == [CREATE, PIP, ASK, INSTALL, COMPILE]


def test_interrupted_installation_is_repeated(checkout: dev.Checkout) -> None:
    prepared(checkout)
    checkout.constraints.write_text("torch==2.14.0\n", encoding="utf-8")
    with pytest.raises(dev.Stop):
        dev.prepare_environment(checkout, FakeShell(checkout.root, fail=INSTALL))
    checkout.constraints.write_text("torch==2.13.0\n", encoding="utf-8")  # as it was, but pip may have been half way
    shell = FakeShell(checkout.root)
    dev.prepare_environment(checkout, shell)
    assert shell.steps == [ASK, INSTALL, COMPILE]


def torch(version: str, *requires: str) -> dict[str, Any]:
    return {"install": [{"metadata": {"name": "torch", "version": version, "requires_dist": [*requires]}}]}


X86_ONLY = 'nvidia-cublas<=13.1; platform_system == "Linux" and platform_machine == "x86_64"'
LINUX = 'nvidia-cublas<=13.1; platform_system == "Linux"'


@pytest.mark.parametrize(
    ("report", "machine", "cuda"),
    [
        pytest.param(torch("2.13.0+cpu", LINUX), "x86_64", False, id="cpu tag"),
        pytest.param(torch("2.13.0+cu130"), "x86_64", True, id="cuda tag"),
        pytest.param(torch("2.13.0", "filelock", LINUX), "x86_64", True, id="no tag, needs cuda"),
        pytest.param(torch("2.13.0", 'cuda-toolkit[cublas]==13.0.2; platform_system == "Linux"'), "x86_64", True),
        pytest.param(torch("2.13.0", 'triton==3.6.0; platform_system == "Linux"'), "x86_64", True, id="triton"),
        pytest.param(torch("2.13.0", X86_ONLY), "x86_64", True, id="marker admits"),
        pytest.param(torch("2.13.0", X86_ONLY), "aarch64", False, id="marker excludes"),
        pytest.param(torch("2.13.0", "filelock", "numpy"), "aarch64", False, id="no tag, plain"),
        pytest.param({"install": []}, "x86_64", False, id="already there"),
    ],
)
def test_cuda_builds_of_torch_are_recognised(report: dict[str, Any], machine: str, cuda: bool) -> None:  # noqa: FBT001 - a column of the table
    assert dev.is_cuda_build(report, machine) is cuda


def test_public_cpu_index_is_added_only_where_pip_would_take_cuda(checkout: dev.Checkout) -> None:
    for report, added in ((torch("2.13.0+cpu"), False), (torch("2.13.0", LINUX), True)):
        shell = FakeShell(checkout.root, report=report)
        dev.install_packages(checkout, shell)
        assert (dev.TORCH_CPU_INDEX in shell.commands[-2]) is added


def test_pip_is_asked_for_torch_alone_and_installs_nothing(checkout: dev.Checkout) -> None:
    shell = FakeShell(checkout.root)
    dev.install_packages(checkout, shell)
    question = shell.commands[0]
    assert {"--dry-run", "--no-deps", "torch"} <= {*question}


def test_unanswered_question_leaves_the_installation_to_speak(checkout: dev.Checkout) -> None:
    shell = FakeShell(checkout.root, fail=ASK)
    dev.install_packages(checkout, shell)
    assert shell.steps == [ASK, INSTALL, COMPILE]
    assert dev.TORCH_CPU_INDEX not in shell.commands[-2]


def test_question_is_not_asked_where_every_build_is_a_cpu_build(
    checkout: dev.Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev.sys, "platform", "darwin")
    shell = FakeShell(checkout.root)
    dev.install_packages(checkout, shell)
    assert shell.steps == [INSTALL, COMPILE]


@pytest.mark.parametrize(
    ("dependency", "needed"),
    [
        ("torch", True),
        ("torch>=2.13", True),
        ("sentence-transformers>=6", True),
        ("torchvision", False),
        ("torch-geometric", False),
        ("rich>=14", False),
    ],
)
def test_only_a_project_with_torch_asks_about_torch(dependency: str, needed: bool) -> None:  # noqa: FBT001 - a column of the table
    assert dev.needs_torch(f'[project]\ndependencies = ["{dependency}"]') is needed
