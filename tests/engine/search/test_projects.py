"""A project is found by its path however that is spelled: composed or not, a drive's letter large or small."""

from __future__ import annotations

import os
import unicodedata
from typing import TYPE_CHECKING, Literal

import pytest

from engine.core.errors import InvalidArgument
from engine.core.models.asking import Caller, SearchFilters, SearchRequest
from engine.core.paths import Paths
from tests.helpers.engines import running_engine
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.service import Engine

Form = Literal["NFC", "NFD"]

OFFICE, OFFICE_BELOW, SHOP, SHOP_BELOW, OTHER = (f"{number:08d}-0000-4000-8000-000000000000" for number in range(5))
FOLDERS = {
    OFFICE: unicodedata.normalize("NFC", "/home/dev/Büro été"),
    OFFICE_BELOW: unicodedata.normalize("NFD", "/home/dev/Büro été/プログラム"),
    SHOP: "C:\\Users\\Ömer\\src\\Shop",
    SHOP_BELOW: "c:\\users\\ömer\\src\\shop\\api",
    OTHER: "/home/dev/other",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("projects-by-name")
    for session, cwd in FOLDERS.items():
        builder = TranscriptBuilder(session, cwd=cwd)
        builder.prompt("Rotate the keys")
        builder.write(folder / "projects")
    with running_engine(Paths.below(folder / "home"), folder / "projects") as engine:
        yield engine


def found(engine: Engine, project: str, *, cwd: str | None = None) -> set[str]:
    request = SearchRequest(query="rotate", mode="keyword", filters=SearchFilters(project=project))
    return {hit.session_id for hit in engine.api.search(request, Caller(cwd=cwd)).hits}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("part", ["Büro", "BÜRO ÉTÉ", "büro été"])
def test_a_part_of_a_path_is_found_composed_or_not(engine: Engine, part: str, form: Form) -> None:
    assert found(engine, unicodedata.normalize(form, part)) == {OFFICE, OFFICE_BELOW}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_here_is_the_same_folder_composed_or_not(engine: Engine, form: Form) -> None:
    here = unicodedata.normalize(form, "/home/dev/Büro été")

    assert found(engine, ".", cwd=here) == {OFFICE, OFFICE_BELOW}


@pytest.mark.parametrize("here", ["C:\\Users\\Ömer\\src\\Shop", "c:\\Users\\ömer\\src\\shop"])
def test_here_on_a_drive_takes_no_notice_of_case(engine: Engine, here: str) -> None:
    assert found(engine, ".", cwd=here) == {SHOP, SHOP_BELOW}


def test_here_on_other_systems_does(engine: Engine) -> None:
    assert found(engine, ".", cwd="/home/dev/Other") == set()


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
@pytest.mark.parametrize("named", ["linked/shop", "linked/shop/", "real/shop", "real/shop/"])
def test_here_is_found_behind_links(tmp_path: Path, named: str) -> None:
    home = tmp_path.resolve()
    (home / "real" / "shop" / ".git").mkdir(parents=True)
    (home / "linked").symlink_to(home / "real", target_is_directory=True)
    builder = TranscriptBuilder(SHOP, cwd=str(home / "real" / "shop"))
    builder.prompt("Rotate the keys")
    builder.write(home / "projects")

    with running_engine(Paths.below(home / "home"), home / "projects") as engine:
        assert found(engine, ".", cwd=str(home / named)) == {SHOP}


@pytest.mark.parametrize("cwd", [None, ""])
def test_here_is_nowhere_for_a_caller_without_a_folder(engine: Engine, cwd: str | None) -> None:
    with pytest.raises(InvalidArgument, match="this caller has none"):
        found(engine, ".", cwd=cwd)
