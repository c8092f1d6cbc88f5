"""What the settings window shows beside the settings: roots and archive, copies of the index, Claude Code's way."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from desktop import words
from desktop.claude import Claude
from desktop.claude_panel import ClaudePanel
from desktop.settings.data_page import DataPage
from desktop.settings.history_page import Keeping, RootsList
from engine.core.clock import FixedClock
from engine.core.errors import StorageFailure
from engine.integrations.claude_code import ClaudeCode
from engine.integrations.launch import ServerCommand
from tests.desktop.fakes import FakeHistory
from tests.desktop.rooms import OFFSCREEN
from tests.desktop.unit.test_claude_trial import ANSWERS

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from desktop.services import Services
    from engine.core.paths import Paths

pytestmark = pytest.mark.qt_log_ignore(OFFSCREEN, extend=True)


@pytest.fixture
def connected(services: Services, tmp_path: Path) -> Services:
    """Give parts over a configuration of Claude Code that is the test's."""
    (tmp_path / "claude").mkdir()
    services.paths.ensure()

    def claude_code(paths: Paths) -> ClaudeCode:
        env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude"), "PATH": str(tmp_path)}
        server = ServerCommand(sys.executable, ("-c", ANSWERS))
        return ClaudeCode(server=server, paths=paths, env=env, home=tmp_path, cwd=tmp_path, clock=FixedClock(0))

    made = replace(services, claude=Claude(services.paths, claude_code))
    made.claude.connect()
    return made


def test_every_folder_of_transcripts_is_shown_with_its_count(
    services: Services, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "claude" / "projects" / "-home-you"
    folder.mkdir(parents=True)
    (folder / "0cb9f897-f72e-5bf5-a1c8-eaa152229fda.jsonl").touch()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    shown = RootsList(services)
    qtbot.addWidget(shown)
    shown.show()

    qtbot.waitUntil(lambda: (str(folder.parent), "1 transcript") in shown.lines)
    assert shown.state.isHidden()


def test_the_archives_size_and_claude_codes_days_are_shown_and_raised_with_one_click(
    connected: Services, qtbot: QtBot, tmp_path: Path
) -> None:
    keeping = Keeping(connected)
    qtbot.addWidget(keeping)
    keeping.attach(FakeHistory())
    keeping.show()
    qtbot.waitUntil(lambda: keeping.archive.text() == words.settings.archive_holds("2.0 MB"))
    qtbot.waitUntil(lambda: keeping.retention.text() == words.claude.kept_days(30))

    keeping.raise_it.click()

    qtbot.waitUntil(keeping.raise_it.isHidden)
    assert keeping.retention.text() == words.claude.kept_days(3650)
    assert '"cleanupPeriodDays": 3650' in (tmp_path / "claude" / "settings.json").read_text(encoding="utf-8")


def test_a_configuration_that_cannot_be_read_offers_nothing(connected: Services, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "claude" / "settings.json").write_text("{", encoding="utf-8")
    keeping = Keeping(connected)
    qtbot.addWidget(keeping)
    keeping.show()

    qtbot.waitUntil(lambda: bool(keeping.retention.text()))
    assert keeping.raise_it.isHidden()


def test_the_index_is_copied_with_one_click_and_its_place_is_said(services: Services, qtbot: QtBot) -> None:
    fake = FakeHistory(answers={"backup": {"file": "/b/index-1-asked.db", "bytes": 1_000_000, "kept": 1}})
    page = DataPage(services)
    qtbot.addWidget(page)
    page.attach(fake)
    page.backup.click()

    qtbot.waitUntil(lambda: page.said.text() == words.settings.backed_up("/b/index-1-asked.db", "1.0 MB"))
    assert page.backup.isEnabled()


def test_a_copy_that_fails_is_said_in_words(services: Services, qtbot: QtBot) -> None:
    page = DataPage(services)
    qtbot.addWidget(page)
    page.attach(FakeHistory(failure=StorageFailure("The disk is full", "Nothing can be written.", "Make room.")))
    page.backup.click()

    qtbot.waitUntil(lambda: page.said.text() == "The disk is full. Nothing can be written. Make room.")
    assert page.backup.isEnabled()


def test_what_claude_code_starts_is_named_and_can_be_tried(connected: Services, qtbot: QtBot) -> None:
    panel = ClaudePanel(connected)
    qtbot.addWidget(panel)
    panel.show()
    qtbot.waitUntil(lambda: not panel.test_button.isHidden())
    assert sys.executable in panel.detail.text()

    panel.test_button.click()

    assert panel.said.text() == words.claude.TESTING
    qtbot.waitUntil(lambda: panel.said.text().startswith("It works: 3 tools"))
    assert panel.test_button.isEnabled()


def test_the_short_panel_of_the_first_run_tests_nothing(connected: Services, qtbot: QtBot) -> None:
    panel = ClaudePanel(connected, short=True)
    qtbot.addWidget(panel)
    panel.show()
    qtbot.waitUntil(lambda: panel.state.text() == words.claude.STATES["connected"])
    assert panel.test_button.isHidden()
