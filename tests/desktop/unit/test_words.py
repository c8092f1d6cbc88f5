"""The words of the desktop: each is shown somewhere, and what one window alone shows stands with its window."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import desktop

if TYPE_CHECKING:
    from collections.abc import Iterator

DESKTOP = Path(desktop.__file__).parent
WORDS = DESKTOP / "words"


def _defined() -> Iterator[tuple[str, str]]:
    """The module and the name of every string, template and function of the words."""
    for file in WORDS.glob("*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield file.stem, node.target.id
            elif isinstance(node, ast.FunctionDef):
                yield file.stem, node.name


def _users() -> dict[tuple[str, str], set[str]]:
    """Which rooms of the desktop use a word: `words.MODULE.NAME` in a window, the bare name between two modules."""
    users: dict[tuple[str, str], set[str]] = defaultdict(set)
    for file in DESKTOP.rglob("*.py"):
        room = file.relative_to(DESKTOP).parts[0]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
                if isinstance(node.value.value, ast.Name) and node.value.value.id == "words":
                    users[node.value.attr, node.attr].add(room)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("desktop.words."):
                module = (node.module or "").rpartition(".")[2]
                for name in node.names:
                    users[module, name.name].add(f"words/{file.stem}")
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and file.parent == WORDS:
                users[file.stem, node.id].add(f"words/{file.stem}")
    return users


def test_no_word_is_dead() -> None:
    users = _users()
    assert [f"{module}.{name}" for module, name in _defined() if not users[module, name]] == []


def test_a_word_is_shared_only_when_several_rooms_show_it() -> None:
    users = _users()
    alone = {name: users[module, name] for module, name in _defined() if module == "shared"}
    assert {name: rooms for name, rooms in alone.items() if len(rooms) < 2} == {}
