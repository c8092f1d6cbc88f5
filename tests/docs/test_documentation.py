"""Holds the documentation to the program: what exists is described, links lead somewhere, nothing local leaks."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from engine.cli.app import app
from engine.core.clock import FixedClock
from engine.core.settings import SETTINGS, Setting, Settings, default_in_words, read_settings
from engine.mcp.catalogue import TOOLS, Catalogue
from engine.service import Engine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.core.paths import Paths

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
MANUAL = [page for page in PAGES if page.name not in {"CONTRIBUTING.md", "CHANGELOG.md"}]

REGISTRIES = [
    f"{name}.{domain}"
    for name, domain in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("deb.debian", "org"),
        ("archive.ubuntu", "com"),
        ("crates", "io"),
        ("proxy.golang", "org"),
        ("rubygems", "org"),
        ("anaconda", "org"),
        ("download.pytorch", "org"),
    )
]
"""Hosts that packages come from. In two halves here, so that this file passes its own test."""

PYTORCH_INDEX = REGISTRIES[-1]
"""The one host a commit may name, and where: dev.py adds it for one installation, and the manual says so."""

PYTORCH_FILES = {"dev.py", "docs/install.md"}

DEVELOPERS_MACHINE = re.compile(r"(?<![\w.~*}])/(?:root|work|home/(?!you\b|me\b)[a-z][\w-]*)/")
"""Absolute paths that exist for one person only. `/home/you/` is an example."""


def manual() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in MANUAL)


def committed_texts() -> Iterator[tuple[str, str]]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, encoding="utf-8")
    for name in filter(None, listing.stdout.split("\0")):
        file = ROOT / name
        if not file.is_file():
            continue  # removed, but not yet committed
        try:
            yield name, file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture or another binary file


def commands(group: Any, prefix: str = "backscroll") -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}"


def test_every_command_is_documented_and_no_other() -> None:
    text = manual()
    known = [*commands(get_command(app))]
    assert [verb for verb in known if not re.search(rf"`{re.escape(verb)}[ `]", text)] == []
    named = {f"backscroll {verb}" for verb in re.findall(r"`backscroll ([a-z]+)", text)}
    assert named - {" ".join(verb.split()[:2]) for verb in known} == set()


def test_every_tool_is_documented_and_no_other(paths: Paths) -> None:
    text = manual()
    engine = Engine(paths, Settings(), FixedClock(0))
    shown = {*Catalogue(engine.api.methods).tools("all")}
    described = {tool.name for tool in TOOLS}
    assert {name for name in shown if f"`{name}`" not in text} == set()
    assert {name for name in described - shown if f"`{name}`" in text} == set()


def setting_row(setting: Setting) -> str:
    return f"| `{setting.key}` | {default_in_words(setting)} | {setting.help} |"


def test_settings_page_is_the_table_of_the_program() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert rows == [setting_row(setting) for setting in SETTINGS]


@pytest.mark.parametrize("example", re.findall(r"```toml\n(.*?)```", manual(), flags=re.DOTALL))
def test_examples_of_settings_are_taken_as_written(example: str) -> None:
    assert read_settings(tomllib.loads(example)).problems == ()


LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|<img [^>]*src=\"([^\"]+)\"")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    broken: list[str] = []
    for match in LINK.finditer(page.read_text(encoding="utf-8")):
        target: str = match[1] or match[2]
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def anchors(page: Path) -> set[str]:
    """Return what GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_no_committed_file_names_a_package_registry() -> None:
    named = {(name, host) for name, text in committed_texts() for host in REGISTRIES if host in text}
    assert named == {(name, PYTORCH_INDEX) for name in PYTORCH_FILES}


def test_no_committed_file_holds_a_path_of_somebodys_machine() -> None:
    found = [
        f"{name}: {match[0]}"
        for name, text in committed_texts()
        if not name.startswith("tests/")  # fixtures show other people's folders
        for match in DEVELOPERS_MACHINE.finditer(text)
    ]
    assert found == []
