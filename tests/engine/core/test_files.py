from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from engine.core.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

posix_only = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")


def test_a_new_file_is_private(tmp_path: Path) -> None:
    file = tmp_path / "new"
    write_atomically(file, b"x")
    assert file.read_bytes() == b"x"
    assert os.name != "posix" or stat.S_IMODE(file.stat().st_mode) == 0o600


@posix_only
def test_the_mode_of_an_existing_file_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "old"
    file.write_bytes(b"old")
    file.chmod(0o644)
    write_atomically(file, b"new", mode=0o600)
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


@posix_only
def test_a_link_stays_a_link_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "file"
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_failed_replacement_leaves_the_old_bytes_and_nothing_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(file, b"new")
    assert file.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
