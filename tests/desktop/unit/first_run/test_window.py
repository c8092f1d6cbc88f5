from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from desktop.first_run.window import FirstRunWindow
from engine.core.settings import RootSetting, Settings
from tests.desktop.fakes import FakeHistory

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tests.desktop.rooms import World


@pytest.fixture
def card(world: World, qtbot: QtBot) -> FirstRunWindow:
    made = FirstRunWindow(world.services)
    qtbot.addWidget(made)
    made.attach(FakeHistory.small())
    made.show()
    return made


def test_it_says_what_was_found_and_the_keys(card: FirstRunWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: card.found.text() == "8 sessions over 10 days")
    assert card.keys.text() == "Ctrl+Shift+Space"
    assert card.sample.isHidden()


def test_every_place_that_holds_transcripts_is_counted(
    world: World, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    for folder in ("claude/projects/-a", "laptop/-b", "empty/-c"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("claude/projects/-a", "laptop/-b"):
        (tmp_path / folder / "0cb9f897-f72e-5bf5-a1c8-eaa152229fda.jsonl").touch()
    world.services.host.settings = Settings(
        transcripts_roots=(RootSetting(str(tmp_path / "laptop"), "l"), RootSetting(str(tmp_path / "empty"), "e"))
    )
    card = FirstRunWindow(world.services)
    qtbot.addWidget(card)
    card.attach(FakeHistory.small())
    qtbot.waitUntil(lambda: "places" in card.found.text())
    assert card.found.text() == "8 sessions over 10 days in 2 places"


def test_it_is_shown_once_and_leads_to_the_search(card: FirstRunWindow, world: World) -> None:
    card.go.click()
    assert world.opened == ["greeted", "show_search"]


def test_autostart_is_the_persons_choice(card: FirstRunWindow, world: World) -> None:
    assert not world.autostart.enabled
    card.autostart.click()
    assert world.autostart.enabled


def test_keys_that_are_taken_are_said(card: FirstRunWindow, world: World) -> None:
    world.services.hotkey.try_keys("Ctrl+Alt+T")
    assert "Ctrl+Alt+T could not be claimed" in card.hotkey_problem.text()


def test_enter_goes_on_at_once(card: FirstRunWindow) -> None:
    assert card.focusWidget() is card.go
