from __future__ import annotations

import logging
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from engine.core import log
from engine.core.log import configure_logging

if TYPE_CHECKING:
    from engine.core.paths import Paths


def test_records_of_the_engine_are_written_with_local_time_and_offset(paths: Paths) -> None:
    undo = configure_logging(paths)
    logging.getLogger("engine.room").info("Indexed %s lines", 12)
    undo()
    line = paths.log_file.read_text(encoding="utf-8")
    assert "INFO    MainThread engine.room: Indexed 12 lines\n" in line
    assert line[10] == "T"
    assert line.split(" ", maxsplit=1)[0][-6] in "+-"


@pytest.mark.expect_log("trouble")
def test_other_packages_are_heard_from_warnings_up(paths: Paths) -> None:
    undo = configure_logging(paths)
    logging.getLogger("some.library").info("chatter")
    logging.getLogger("some.library").warning("trouble")
    undo()
    text = paths.log_file.read_text(encoding="utf-8")
    assert "trouble" in text
    assert "chatter" not in text


def test_a_lone_surrogate_is_escaped_instead_of_lost(paths: Paths) -> None:
    undo = configure_logging(paths)
    logging.getLogger("engine").info("file %s", "caf\udce9 日本 😀")
    undo()
    assert "caf\\udce9 日本 😀" in paths.log_file.read_text(encoding="utf-8")


@pytest.mark.expect_log("after")
def test_undoing_leaves_logging_as_it_was(paths: Paths) -> None:
    root, ours = logging.getLogger(), logging.getLogger("engine")
    before = (list(root.handlers), root.level, ours.level)
    configure_logging(paths, logging.DEBUG)()
    assert (list(root.handlers), root.level, ours.level) == before
    logging.getLogger("engine").critical("after")
    assert paths.log_file.read_text(encoding="utf-8") == ""


def test_the_file_is_rotated_and_old_ones_are_dropped(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "LOG_FILE_BYTES", 500)
    undo = configure_logging(paths)
    for number in range(200):
        logging.getLogger("engine").info("record %d", number)
    undo()
    names = sorted(each.name for each in paths.logs.iterdir())
    assert names == ["backscroll.log", "backscroll.log.1", "backscroll.log.2", "backscroll.log.3"]
    assert "record 199" in paths.log_file.read_text(encoding="utf-8")


@pytest.mark.expect_log("to the file", "to both")
def test_stderr_is_silent_unless_asked(paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    undo = configure_logging(paths)
    logging.getLogger("engine").error("to the file")
    undo()
    assert capsys.readouterr().err == ""
    undo = configure_logging(paths, to_stderr=True)
    logging.getLogger("engine").error("to both")
    undo()
    assert "to both" in capsys.readouterr().err


def test_importing_installs_no_handler() -> None:
    code = "import logging, engine.core.log; print(logging.getLogger().handlers)"
    run = subprocess.run([sys.executable, "-c", code], check=True, timeout=60, capture_output=True, encoding="utf-8")
    assert run.stdout.strip() == "[]"
