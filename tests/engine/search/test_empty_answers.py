"""An empty answer says why it is empty, and what to leave out or set to find something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.core.paths import Paths
from tests.helpers.engines import running_engine
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.service import Engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("empty")
    root = folder / "projects"
    builder = TranscriptBuilder("dddddddd-0000-4000-8000-000000000001", cwd="/home/dev/orchard")
    builder.prompt("When are the damsons ripe?")
    builder.answer("In September.")
    builder.tool("Bash", {"command": "grep -r medlar ."}, "quince " * 50)
    builder.answer("A sub-agent speaks of a mulberry.", isSidechain=True, agentId="a1")
    builder.write(root)
    other = TranscriptBuilder("dddddddd-0000-4000-8000-000000000002", cwd="/home/dev/cellar")
    other.prompt("Is the cider ready?")
    other.write(root)
    with running_engine(Paths.below(folder / "home"), root) as engine:
        yield engine


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
@pytest.mark.parametrize(
    ("query", "filters", "said"),
    [
        ("xylophones", {}, "No chunk holds this word; try other words."),
        ("damsons", {"date_from": "2020-01-01", "date_to": "2020-12-31"}, "call again without them"),
        ("damsons", {"role": "assistant"}, "call again without them"),
        ("damsons", {"session": "dddddddd-0000-4000-8000-000000000002"}, "call again without them"),
        ("damsons", {"tool": "Bsh"}, "No tool of this name was ever used"),
        ("damsons", {"project": "cellar"}, "`projects` names"),
        ("damsons", {"project": "vineyard"}, "No project matches the project filter; `projects` names"),
        ("absent", {"project": "vineyard"}, "list_sessions shows the projects"),
        ("quince", {}, "set include_low_signal"),
        ("mulberry", {}, "set include_sidechains"),
        ("quinze", {}, "neither as typed nor for corrected_query. Only low-signal text"),
        ("?!", {}, "no word that can be searched"),
    ],
)
def test_an_empty_answer_says_why(engine: Engine, mode: str, query: str, filters: dict[str, Any], said: str) -> None:
    reply = engine.api.ask(f"{mode}_search", {"query": query, **filters})

    assert reply["hits"] == []
    assert said in reply["note"]


def test_of_several_words_all_must_stand_together(engine: Engine) -> None:
    reply = engine.api.ask("keyword_search", {"query": "damsons cider"})

    assert reply["note"] == "No chunk holds all of these words; try fewer or other words."


def test_an_answer_that_is_not_empty_says_nothing(engine: Engine) -> None:
    assert "note" not in engine.api.ask("keyword_search", {"query": "damsons", "project": "orchard"})


def test_an_empty_history_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "projects").mkdir()
    with running_engine(Paths.below(tmp_path / "home"), tmp_path / "projects") as engine:
        for mode in ("keyword", "semantic", "hybrid"):
            asked = {"query": "damsons", "project": "orchard"}
            assert engine.api.ask(f"{mode}_search", asked)["note"].startswith("Nothing is indexed yet")
