"""The same bytes give the same database: in whatever pieces they are written, and in whatever order files are read."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.helpers.histories import DiskFile, damaged_families, differences, families
from tests.helpers.indexing import index
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.slow

few = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def in_one_go(folder: Path, files: Sequence[DiskFile]) -> dict[str, Any]:
    for file in files:
        file.write(folder / "projects")
    with index(folder / "once.db", folder / "projects") as once:
        once.read()
        return once.dump()


@st.composite
def appends(draw: st.DrawFn) -> tuple[list[DiskFile], list[tuple[int, int]]]:
    """Draw files and the steps in which they grow: the number of a file, and how long it is then."""
    files = draw(damaged_families())
    ends = [[*sorted(draw(st.lists(st.integers(0, len(file.data)), max_size=4))), len(file.data)] for file in files]
    turns = draw(st.permutations([number for number, each in enumerate(ends) for _ in each]))
    return files, [(number, ends[number].pop(0)) for number in turns]


@few
@given(appends(), st.sets(st.integers(0, 20)))
def test_any_sequence_of_appends_gives_the_database_of_one_reading(
    drawn: tuple[list[DiskFile], list[tuple[int, int]]], restarts: set[int]
) -> None:
    files, steps = drawn
    with tempfile.TemporaryDirectory() as name:
        root = Path(name, "projects")
        root.mkdir()
        database = Path(name, "steps.db")
        left = list(enumerate(steps))
        while left:
            with index(database, root) as several:
                while left:
                    position, (number, size) = left.pop(0)
                    files[number].write(root, size)
                    several.read()
                    if position in restarts:
                        break
        with index(database, root) as several:
            stepwise = several.dump()
        whole = in_one_go(Path(name), files)
    assert differences(whole, stepwise) == ""


def test_a_title_that_is_read_before_the_first_line_is_whole_changes_nothing(tmp_path: Path) -> None:
    builder = TranscriptBuilder("11111111-1111-4111-8111-111111111111")
    builder.record("ai-title", aiTitle="About the damson")
    title = len(builder.data())
    builder.prompt("Please explain the damson.")
    file = DiskFile(f"-home-dev-api/{builder.session_id}.jsonl", builder.data().removesuffix(b"\n"))
    root = tmp_path / "projects"
    root.mkdir()
    with index(tmp_path / "steps.db", root) as several:
        for size in (title, len(file.data)):
            file.write(root, size)
            several.read()
        stepwise = several.dump()

    assert differences(in_one_go(tmp_path, [file]), stepwise) == ""


@few
@given(families().flatmap(lambda files: st.tuples(st.just(files), st.permutations(files))))
def test_any_order_of_files_gives_the_same_owners_lineage_and_ids(
    drawn: tuple[list[DiskFile], list[DiskFile]],
) -> None:
    files, order = drawn
    with tempfile.TemporaryDirectory() as name:
        root = Path(name, "projects")
        root.mkdir()
        with index(Path(name, "one.db"), root) as one_by_one:
            for file in order:
                file.write(root)
                one_by_one.read()
            found = one_by_one.dump()
        whole = in_one_go(Path(name), files)
    assert differences(whole, found) == ""
