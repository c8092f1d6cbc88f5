"""Which project a working directory belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.core.repository import (
    CERTAIN,
    Grouping,
    encode_cwd,
    grouping_of,
    relative_cwd,
    repository_by_name,
    repository_of,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_the_repository_around_a_directory_is_found_on_disk(tmp_path: Path) -> None:
    inside = tmp_path / "repo" / "src" / "deep"
    inside.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    assert repository_of(str(inside)) == str(tmp_path / "repo")
    assert grouping_of(str(inside), "-elsewhere") == Grouping(str(tmp_path / "repo"), CERTAIN)


@pytest.mark.parametrize("relative", [True, False])
def test_a_linked_worktree_belongs_to_its_main_repository(tmp_path: Path, *, relative: bool) -> None:
    git_dir = tmp_path / "repo" / ".git" / "worktrees" / "feature"
    git_dir.mkdir(parents=True)
    worktree = tmp_path / "feature"
    worktree.mkdir()
    target = "../repo/.git/worktrees/feature" if relative else git_dir
    (worktree / ".git").write_text(f"gitdir: {target}\n", encoding="utf-8")
    found = repository_of(str(worktree))
    assert found is not None
    assert (tmp_path / "repo").samefile(found)


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    module = tmp_path / "repo" / "module"
    module.mkdir(parents=True)
    (module / ".git").write_text("gitdir: ../.git/modules/module\n", encoding="utf-8")
    assert repository_of(str(module)) == str(module)


@pytest.mark.parametrize(
    ("cwd", "repository"),
    [
        ("/home/dev/shop/.claude/worktrees/fast", "/home/dev/shop"),
        ("/home/dev/shop/.claude/worktrees/fast/src/deep", "/home/dev/shop"),
        ("/home/dev/shop/.worktrees/1", "/home/dev/shop"),
        (r"C:\shop\.claude\worktrees\fast", r"C:\shop"),
        ("/home/dev/shop", None),
        ("/home/dev/worktrees/shop", None),
    ],
)
def test_a_worktree_that_is_gone_is_told_by_its_path(cwd: str, repository: str | None) -> None:
    assert repository_by_name(cwd) == repository


@pytest.mark.parametrize(
    ("cwd", "folder", "grouping"),
    [
        ("/nowhere/shop/src", "-nowhere-shop", Grouping("/nowhere/shop", 13)),
        ("/nowhere/shop", "-nowhere-shop", Grouping("/nowhere/shop", 13)),
        ("/nowhere/shopping", "-nowhere-shop", Grouping("/nowhere/shopping", 0)),
        ("/other", "-nowhere-shop", Grouping("/other", 0)),
        ("C:\\nowhere\\shop\\src", "C--nowhere-shop", Grouping("C:\\nowhere\\shop", 15)),
        ("/nowhere/日本/src", "-nowhere---", Grouping("/nowhere/日本", 11)),
        ("not a path\0", "-p", Grouping("not a path\0", 0)),
        ("/a\0b", "-p", Grouping("/a\0b", 0)),
    ],
)
def test_without_a_repository_a_folder_belongs_to_where_its_session_began(
    cwd: str, folder: str, grouping: Grouping
) -> None:
    assert grouping_of(cwd, folder) == grouping


def test_folders_are_encoded_as_claude_code_does() -> None:
    assert encode_cwd("/home/dev/my_shop.é") == "-home-dev-my-shop--"


@pytest.mark.parametrize(
    ("cwd", "project", "relative"),
    [
        ("/shop/src", "/shop", "src"),
        ("/shop", "/shop", None),
        ("/shopping", "/shop", "/shopping"),
        (r"C:\shop\src", r"C:\shop", "src"),
        (None, "/shop", None),
        ("/shop", None, "/shop"),
    ],
)
def test_a_directory_is_told_relative_to_its_project(
    cwd: str | None, project: str | None, relative: str | None
) -> None:
    assert relative_cwd(cwd, project) == relative
