# pyright: reportPrivateUsage=false, reportUnknownMemberType=false
# pytest-qt leaves the keyword arguments of its keys untyped; some tests look inside.
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QPlainTextEdit, QSpinBox

from desktop import words
from desktop.settings.rows import help_of, root_of
from desktop.settings.window import SettingsWindow, pages_cover_the_table
from engine.core.settings import load_settings, setting_of
from tests.desktop.fakes import FakeHistory

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tests.desktop.rooms import World


@pytest.fixture
def window(world: World, qtbot: QtBot) -> SettingsWindow:
    made = SettingsWindow(world.services)
    qtbot.addWidget(made)
    made.attach(FakeHistory.small())
    made.show()
    return made


def test_every_setting_of_the_engine_has_its_row() -> None:
    assert pages_cover_the_table() == frozenset()


def test_a_switch_is_saved_at_once_and_asks_for_a_restart(window: SettingsWindow, world: World, qtbot: QtBot) -> None:
    editor = window.rows["archive.enabled"].editor
    assert isinstance(editor, QCheckBox)
    editor.click()
    file = world.services.paths.settings_file
    qtbot.waitUntil(lambda: not load_settings(file).settings.archive_enabled)
    qtbot.waitUntil(lambda: not window.banner.isHidden())


def test_a_number_and_a_list_are_saved_after_a_rest(window: SettingsWindow, world: World, qtbot: QtBot) -> None:
    number = window.rows["embedding.threads"].editor
    assert isinstance(number, QSpinBox)
    number.setValue(3)
    lines = window.rows["transcripts.exclude_projects"].editor
    assert isinstance(lines, QPlainTextEdit)
    lines.setPlainText("~/scratch/*\n\n  ~/x ")
    file = world.services.paths.settings_file
    qtbot.waitUntil(lambda: load_settings(file).settings.embedding_threads == 3)
    qtbot.waitUntil(lambda: load_settings(file).settings.transcripts_exclude_projects == ("~/scratch/*", "~/x"))


def test_a_wrong_value_is_said_beside_its_row(window: SettingsWindow, qtbot: QtBot) -> None:
    row = window.rows["time_zone"]
    assert isinstance(row.editor, QLineEdit)
    row.editor.setText("Mars/Olympus")
    row.editor.editingFinished.emit()
    qtbot.waitUntil(lambda: not row.problem.isHidden())
    assert "Europe/Berlin" in row.problem.text()
    row.editor.setText("system")
    row.editor.editingFinished.emit()
    qtbot.waitUntil(row.problem.isHidden)


def test_the_theme_changes_at_once(window: SettingsWindow, world: World) -> None:
    editor = window.rows["theme"].editor
    assert isinstance(editor, QComboBox)
    editor.setCurrentIndex(editor.findData("dark"))
    assert world.services.theme.colours.is_dark
    world.services.theme.choose("light")


def test_autostart_is_the_systems_and_a_failure_is_said(window: SettingsWindow, world: World) -> None:
    editor = window.rows["autostart"].editor
    assert isinstance(editor, QCheckBox)
    editor.click()
    assert world.autostart.enabled
    editor.click()
    assert not world.autostart.enabled
    world.autostart.failure = OSError(13, "Permission denied")
    editor.click()
    assert "Permission denied" in window.rows["autostart"].problem.text()


def test_the_hotkey_is_changed_by_pressing_the_keys(window: SettingsWindow, world: World, qtbot: QtBot) -> None:
    from desktop.settings.hotkey_row import HotkeyRow

    row = window.findChild(HotkeyRow)
    assert isinstance(row, HotkeyRow)
    row.catcher.click()
    qtbot.keyClick(row.catcher, Qt.Key.Key_Control, Qt.KeyboardModifier.ControlModifier)
    assert row.catcher.isChecked(), "a modifier alone is not yet a combination"
    qtbot.keyClick(row.catcher, Qt.Key.Key_F9, Qt.KeyboardModifier.ControlModifier)
    assert world.services.hotkey.shown == "Ctrl+F9"
    file = world.services.paths.settings_file
    qtbot.waitUntil(lambda: load_settings(file).settings.hotkey == "Ctrl+F9")


def test_keys_that_are_taken_are_said_and_the_old_ones_stay(window: SettingsWindow, world: World, qtbot: QtBot) -> None:
    from desktop.settings.hotkey_row import HotkeyRow

    row = window.findChild(HotkeyRow)
    assert isinstance(row, HotkeyRow)
    row.catcher.click()
    qtbot.keyClick(row.catcher, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier)
    assert "Ctrl+Alt+T could not be claimed" in row.problem.text()
    assert "Ctrl+Shift+Space stays" in row.problem.text()
    row.catcher.click()
    qtbot.keyClick(row.catcher, Qt.Key.Key_Escape)
    assert row.catcher.text() == "Ctrl+Shift+Space"
    assert world.services.hotkey.shown == "Ctrl+Shift+Space"


def test_everything_is_deleted_only_after_a_second_step(window: SettingsWindow, world: World, qtbot: QtBot) -> None:
    data = world.services.paths.data
    (data / "index.db").touch()
    window.data_page.delete.click()
    assert data.exists()
    world.services.claude.connect()
    world.autostart.enabled = True
    window.data_page.delete_everything()
    qtbot.waitUntil(lambda: window.data_page.farewell is not None)
    farewell = window.data_page.farewell
    assert farewell is not None
    assert words.settings.DISCONNECTED in farewell.informativeText()
    assert world.services.claude.connection().state == "not_connected"
    assert not world.autostart.enabled
    assert not data.exists()
    farewell.accept()
    assert world.opened == ["quit"]


def test_nothing_is_deleted_where_claude_code_cannot_be_disconnected(
    window: SettingsWindow, world: World, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "claude" / ".claude.json").write_text("{", encoding="utf-8")
    window.data_page.delete_everything()
    qtbot.waitUntil(lambda: words.settings.NOT_DELETED in window.data_page.said.text())
    assert "cannot be parsed" in window.data_page.said.text()
    assert window.data_page.delete.isEnabled()
    assert world.services.paths.data.exists()
    assert world.opened == []


def test_the_settings_file_is_opened_for_what_has_no_editor(window: SettingsWindow, world: World) -> None:
    window._open_file()
    assert world.opener.files == [world.services.paths.settings_file]


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("laptop = ~/b/projects", {"path": "~/b/projects", "label": "laptop"}),
        ("/x/projects", {"path": "/x/projects", "label": ""}),
    ],
)
def test_a_folder_of_transcripts_is_written_with_its_name(text: str, root: dict[str, str]) -> None:
    assert root_of(text) == root


def test_the_help_of_a_setting_does_not_say_its_name_again() -> None:
    assert help_of(setting_of("archive.enabled")) == "Claude Code deletes its own."
    assert help_of(setting_of("theme")) == setting_of("theme").help
