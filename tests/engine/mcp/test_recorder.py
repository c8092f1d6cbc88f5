"""The files the shim answers from: written where they are another engine's, by a process that is not this one."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from engine.core.clock import SystemClock
from engine.core.settings import Settings
from engine.ipc.protocol import TOOLSETS
from engine.mcp.recorder import KEY, CatalogueRecorder, command, whole_catalogue
from engine.mcp.shim_catalogue import main
from engine.service import Engine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.core.paths import Paths


def files(paths: Paths) -> list[Path]:
    return [paths.catalogue_file(toolset) for toolset in TOOLSETS]


def test_an_engine_shows_exactly_what_the_files_are_made_from(paths: Paths) -> None:
    api = Engine(paths, Settings(), SystemClock(), roots=()).api

    assert {each.name for each in whole_catalogue().tools("all").values()} <= api.methods
    api.close()


def test_files_of_this_engine_are_current_and_others_are_not(paths: Paths) -> None:
    recording = CatalogueRecorder(paths)
    assert not recording.are_current()

    main([str(file) for file in files(paths)])
    assert recording.are_current()

    older = json.loads(files(paths)[1].read_bytes()) | {KEY: "0" * 16}
    files(paths)[1].write_text(json.dumps(older), encoding="utf-8")
    assert not recording.are_current()


@pytest.mark.parametrize("content", ["", "[1]", '{"made_from": 3}'])
def test_a_file_that_is_none_is_not_current(paths: Paths, content: str) -> None:
    main([str(file) for file in files(paths)])
    files(paths)[0].write_text(content, encoding="utf-8")

    assert not CatalogueRecorder(paths).are_current()


def start(paths: Paths, *words: str) -> tuple[CatalogueRecorder, list[list[str]]]:
    """Start one with a command of the test's, or its own, and return it with what it ran."""
    ran: list[list[str]] = []

    def write(places: Sequence[Path]) -> list[str]:
        ran.append(list(words) or command(places))
        return ran[-1]

    made = CatalogueRecorder(paths, delay_s=0, write=write)
    made.start()
    return made, ran


def test_a_child_process_writes_them(paths: Paths) -> None:
    recording, ran = start(paths)
    recording._thread.join(60)  # pyright: ignore[reportPrivateUsage] - stopping it would end the child

    assert recording.are_current()
    assert ran == [[sys.executable, "-P", "-m", "engine.mcp.shim_catalogue", *map(str, files(paths))]]
    assert recording.stop()


def test_current_files_start_no_process(paths: Paths) -> None:
    main([str(file) for file in files(paths)])
    recording, ran = start(paths, "nothing")
    recording._thread.join(60)  # pyright: ignore[reportPrivateUsage] - stopping it could come before it looked

    assert ran == []


def test_stopping_ends_a_child_that_hangs(paths: Paths) -> None:
    recording, _ = start(paths, sys.executable, "-c", "import time; time.sleep(600)")

    assert recording.stop(30)
    assert not recording.are_current()


@pytest.mark.expect_log("could not be written")
def test_a_child_that_cannot_be_started_is_told(paths: Paths, tmp_path: Path) -> None:
    recording, ran = start(paths, str(tmp_path / "nothing"))
    recording._thread.join(60)  # pyright: ignore[reportPrivateUsage] - stopping it could come before it tried

    assert len(ran) == 1
    assert recording.stop()


@pytest.mark.expect_log("ended with code 3")
def test_a_child_that_fails_is_told(paths: Paths) -> None:
    recording, _ = start(paths, sys.executable, "-c", "raise SystemExit(3)")
    recording._thread.join(60)  # pyright: ignore[reportPrivateUsage] - stopping it would end the child

    assert not recording.are_current()


def test_the_frozen_program_writes_them_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)

    assert command([tmp_path / "a.json"]) == [sys.executable, "record-catalogue", str(tmp_path / "a.json")]
