"""Sources that change under the archive's hands, and single files that cannot be stored."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from engine.archive import archiver as archiver_module
from engine.archive.places import Stored, place_of
from engine.service.notices import of_archive
from tests.engine.archive.conftest import LABEL, Archive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

SESSION = "-home-dev-api/11111111-1111-4111-8111-111111111111.jsonl"
OTHER = "-home-dev-api/22222222-2222-4222-8222-222222222222.jsonl"
OLD = b"".join(b'{"line": "old %06d"}\n' % number for number in range(40_000))
NEW = b"".join(b'{"line": "new %06d"}\n' % number for number in range(50_000))


ANYWHERE = ["in place", "shortened"]
NOT_ON_WINDOWS = ["renamed", "deleted"]
"""Windows lets nobody replace or delete a file that is open."""


@pytest.mark.parametrize("how", ANYWHERE if sys.platform == "win32" else [*ANYWHERE, *NOT_ON_WINDOWS])
def test_a_source_that_is_replaced_while_it_is_archived_is_stored_as_it_is_in_the_end(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    source = archive.write(SESSION, OLD)
    pieces = archiver_module.pieces

    def changing(file: IO[bytes], start: int, end: int) -> Iterator[bytes]:
        for number, piece in enumerate(pieces(file, start, end)):
            yield piece
            if number == 0:
                replace_source(source, how)

    with monkeypatch.context() as patched:
        patched.setattr(archiver_module, "pieces", changing)
        archive.archiver.store()
    for _ in range(3):
        # Claude Code goes on, which alone would hide a change before the last stored frame.
        if source.exists():
            archive.grow(SESSION, b'{"line": "one more"}\n')
        archive.archiver.store()

    newest = archive.reader.generations(LABEL, SESSION)[0]
    if how == "deleted":
        assert archive.restored(SESSION, newest) == OLD
    else:
        assert archive.restored(SESSION, newest) == source.read_bytes()


def replace_source(source: Path, how: str) -> None:
    """Change a source as editors and programs do."""
    match how:
        case "in place":
            with source.open("r+b") as file:
                file.write(NEW)
        case "renamed":
            beside = source.with_suffix(".new")
            beside.write_bytes(NEW)
            beside.replace(source)
        case "shortened":
            with source.open("r+b") as file:
                file.truncate(100)
        case _:
            source.unlink()


@pytest.mark.expect_log("A file was not archived")
@pytest.mark.parametrize("taken", ["folder"] if sys.platform == "win32" else ["folder", "link"])
def test_a_place_that_is_taken_keeps_no_other_file_out_and_is_said(archive: Archive, taken: str) -> None:
    archive.write(SESSION, OLD)
    archive.write(OTHER, NEW)
    place = place_of(archive.folder, Stored(LABEL, SESSION, 0))
    place.parent.mkdir(parents=True)
    if taken == "folder":
        place.mkdir()
    else:
        place.symlink_to(archive.root / SESSION)

    archive.archiver.store()

    assert archive.restored(OTHER) == NEW
    assert archive.archiver.state.problem is None
    [notice] = of_archive(archive.archiver)
    assert notice.id == "archive_skipped"
    assert "1 file is not in the archive" in notice.text


@pytest.mark.expect_log("A file was not archived")
@pytest.mark.parametrize("number", [5, 13], ids=["unreadable", "read-only"])
def test_a_file_that_the_disk_refuses_alone_keeps_no_other_out_and_is_stored_later(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """EIO of a source, EACCES of an archive file that somebody made read-only."""
    archive.write(SESSION, OLD)
    archive.archiver.store()
    archive.grow(SESSION, b'{"line": "more"}\n')
    archive.write(OTHER, NEW)
    append = archiver_module.append

    def refusing(place: Path, *arguments: object) -> object:
        if "1111" in place.name:
            raise OSError(number, os.strerror(number))
        return append(place, *arguments)  # pyright: ignore[reportArgumentType] - passed on

    with monkeypatch.context() as patched:
        patched.setattr(archiver_module, "append", refusing)
        archive.archiver.store()

    assert archive.restored(OTHER) == NEW
    assert archive.restored(SESSION) == OLD
    assert archive.archiver.state.skipped == 1

    archive.archiver.store()

    assert archive.restored(SESSION) == OLD + b'{"line": "more"}\n'
    assert list(of_archive(archive.archiver)) == []
