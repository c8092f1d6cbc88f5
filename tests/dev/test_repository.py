from __future__ import annotations

import ast
import sys
import tomllib
from importlib.metadata import distribution, distributions, packages_distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import dev

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from packaging.markers import Marker

CHECKOUT = dev.Checkout(Path(dev.__file__).parent)
PROJECT: dict[str, Any] = tomllib.loads(CHECKOUT.project.read_text(encoding="utf-8"))


def pins() -> dict[str, Version]:
    lines = [line.partition("#")[0].strip() for line in CHECKOUT.constraints.read_text(encoding="utf-8").splitlines()]
    pairs = [line.split("==") for line in lines if line]
    return {canonicalize_name(name): Version(version) for name, version in pairs}


def requirements() -> list[Requirement]:
    groups: dict[str, list[str]] = {
        "build": PROJECT["build-system"]["requires"],
        "app": PROJECT["project"]["dependencies"],
        **PROJECT["project"].get("optional-dependencies", {}),
        **PROJECT["dependency-groups"],
    }
    return [Requirement(text) for texts in groups.values() for text in texts]


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_every_dependency_has_a_pin_that_satisfies_it(requirement: Requirement) -> None:
    pin = pins().get(canonicalize_name(requirement.name))
    assert pin is not None, f"{requirement.name} has no line in {CHECKOUT.constraints.name}"
    assert pin in requirement.specifier


def test_pip_is_pinned_to_one_that_knows_groups_and_build_constraints() -> None:
    assert pins()["pip"] >= Version("25.3")


def test_pins_name_no_systems_build() -> None:
    assert [name for name, version in pins().items() if version.local] == []


def test_everything_installed_here_is_pinned() -> None:
    wanted = [requirement for requirement in requirements() if applies(requirement.marker)]
    present = {canonicalize_name(found.name) for found in distributions()}
    seen: set[str] = set()
    while wanted:
        requirement = wanted.pop()
        name = canonicalize_name(requirement.name)
        if name in seen or name not in present:
            continue
        seen.add(name)
        for text in distribution(name).requires or []:
            needed = Requirement(text)
            if applies(needed.marker, requirement.extras):
                wanted.append(needed)
    assert sorted(seen - {*pins()}) == []


def applies(marker: Marker | None, extras: AbstractSet[str] = frozenset()) -> bool:
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in (extras or {""}))


def imported(folder: str) -> set[str]:
    """Return the top-level names of every absolute import below a folder, lazy ones included."""
    names: set[str] = set()
    for file in (CHECKOUT.root / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("folder", ["engine", "desktop"])
def test_every_library_that_is_imported_is_a_declared_dependency(folder: str) -> None:
    declared = {canonicalize_name(Requirement(text).name) for text in PROJECT["project"]["dependencies"]}
    owners = packages_distributions()
    libraries = imported(folder) - {*sys.stdlib_module_names, "engine", "desktop"}
    undeclared = {
        name for name in libraries if not {canonicalize_name(each) for each in owners.get(name, ())} & declared
    }
    assert undeclared == set()


def test_packaging_folder_never_becomes_a_package() -> None:
    found = [*(CHECKOUT.root / "packaging").rglob("__init__.py")]
    assert found == [], "it would hide the library `packaging` from pip, pytest and PyInstaller"


def test_ci_runs_the_two_commands_that_the_readme_names() -> None:
    script = (CHECKOUT.root / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    commands = [line for line in script if line.startswith("python3 ")]
    assert commands == ["python3 dev.py check", "python3 dev.py test"]
    assert "set -euo pipefail" in script
