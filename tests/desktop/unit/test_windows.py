# pyright: reportPrivateUsage=false, reportUnknownMemberType=false
# pytest-qt leaves the keyword arguments of its keys untyped; some tests look inside.
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QPlainTextEdit, QSpinBox

from desktop import words
from desktop.about import AboutWindow
from desktop.bridge import Bridge
from desktop.claude import Claude
from desktop.claude_panel import ConnectWindow
from desktop.engine_host import EngineHost
from desktop.errors import Trouble, details_of, install_hooks, trouble_of
from desktop.first_run.window import FirstRunWindow
from desktop.hotkey.keeper import HotkeyKeeper
from desktop.pulse import Pulse, PulseKeeper
from desktop.services import Services
from desktop.settings.rows import root_of
from desktop.settings.window import SettingsWindow, pages_cover_the_table
from desktop.status.window import StatusWindow
from desktop.trouble import TroubleBox
from desktop.windows import MAKERS, Windows
from engine.core.clock import FixedClock
from engine.core.errors import ConfigurationRefused
from engine.core.models.status import Notice
from engine.core.settings import RootSetting, Settings, load_settings
from engine.integrations.claude_code import ClaudeCode
from engine.integrations.launch import ServerCommand
from tests.desktop.fake_system import FakeAutostart, FakeHotkey, FakeOpener, Moment
from tests.desktop.fakes import FakeHistory, status

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from desktop.tasks import Tasks
    from desktop.theme import Theme
    from engine.core.paths import Paths


@dataclass
class World:
    """What the windows use, and what they asked for."""

    services: Services
    autostart: FakeAutostart
    opener: FakeOpener
    opened: list[str] = field(default_factory=list[str])


@pytest.fixture
def world(theme: Theme, tasks: Tasks, paths: Paths, tmp_path: Path) -> World:
    bridge = Bridge()
    hotkey = HotkeyKeeper(FakeHotkey(taken=("Ctrl+Alt+T",)))
    hotkey.try_keys("Ctrl+Shift+Space")
    opened: list[str] = []
    autostart, opener = FakeAutostart(), FakeOpener()

    def claude_code(places: Paths) -> ClaudeCode:
        env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude"), "PATH": str(tmp_path)}
        server = ServerCommand("/opt/backscroll-mcp")
        return ClaudeCode(server=server, paths=places, env=env, home=tmp_path, cwd=tmp_path, clock=FixedClock(0))

    (tmp_path / "claude").mkdir()
    services = Services(
        paths=paths,
        theme=theme,
        tasks=tasks,
        host=EngineHost(paths, bridge, tasks),
        pulse=PulseKeeper(tasks, bridge),
        hotkey=hotkey,
        autostart=autostart,
        claude=Claude(paths, claude_code),
        opener=opener,
        now=Moment(),
        history=FakeHistory.small,
        open=opened.append,
    )
    return World(services, autostart, opener, opened)


class TestSettings:
    @pytest.fixture
    def window(self, world: World, qtbot: QtBot) -> SettingsWindow:
        made = SettingsWindow(world.services)
        qtbot.addWidget(made)
        made.attach(FakeHistory.small())
        made.show()
        return made

    def test_every_setting_of_the_engine_has_its_row(self) -> None:
        assert pages_cover_the_table() == frozenset()

    def test_a_switch_is_saved_at_once_and_asks_for_a_restart(
        self, window: SettingsWindow, world: World, qtbot: QtBot
    ) -> None:
        editor = window.rows["archive.enabled"].editor
        assert isinstance(editor, QCheckBox)
        editor.click()
        file = world.services.paths.settings_file
        qtbot.waitUntil(lambda: not load_settings(file).settings.archive_enabled)
        qtbot.waitUntil(lambda: not window.banner.isHidden())

    def test_a_number_and_a_list_are_saved_after_a_rest(
        self, window: SettingsWindow, world: World, qtbot: QtBot
    ) -> None:
        number = window.rows["embedding.threads"].editor
        assert isinstance(number, QSpinBox)
        number.setValue(3)
        lines = window.rows["transcripts.exclude_projects"].editor
        assert isinstance(lines, QPlainTextEdit)
        lines.setPlainText("~/scratch/*\n\n  ~/x ")
        file = world.services.paths.settings_file
        qtbot.waitUntil(lambda: load_settings(file).settings.embedding_threads == 3, timeout=20_000)
        qtbot.waitUntil(
            lambda: load_settings(file).settings.transcripts_exclude_projects == ("~/scratch/*", "~/x"), timeout=20_000
        )

    def test_a_wrong_value_is_said_beside_its_row(self, window: SettingsWindow, qtbot: QtBot) -> None:
        row = window.rows["time_zone"]
        assert isinstance(row.editor, QLineEdit)
        row.editor.setText("Mars/Olympus")
        row.editor.editingFinished.emit()
        qtbot.waitUntil(lambda: not row.problem.isHidden())
        assert "Europe/Berlin" in row.problem.text()
        row.editor.setText("system")
        row.editor.editingFinished.emit()
        qtbot.waitUntil(row.problem.isHidden)

    def test_the_theme_changes_at_once(self, window: SettingsWindow, world: World) -> None:
        editor = window.rows["theme"].editor
        assert isinstance(editor, QComboBox)
        editor.setCurrentIndex(editor.findData("dark"))
        assert world.services.theme.colours.is_dark
        world.services.theme.choose("light")

    def test_autostart_is_the_systems_and_a_failure_is_said(self, window: SettingsWindow, world: World) -> None:
        editor = window.rows["autostart"].editor
        assert isinstance(editor, QCheckBox)
        editor.click()
        assert world.autostart.enabled
        editor.click()
        assert not world.autostart.enabled
        world.autostart.failure = OSError(13, "Permission denied")
        editor.click()
        assert "Permission denied" in window.rows["autostart"].problem.text()

    def test_the_hotkey_is_changed_by_pressing_the_keys(
        self, window: SettingsWindow, world: World, qtbot: QtBot
    ) -> None:
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

    def test_keys_that_are_taken_are_said_and_the_old_ones_stay(
        self, window: SettingsWindow, world: World, qtbot: QtBot
    ) -> None:
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

    def test_everything_is_deleted_only_after_a_second_step(
        self, window: SettingsWindow, world: World, qtbot: QtBot
    ) -> None:
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
        self, window: SettingsWindow, world: World, qtbot: QtBot, tmp_path: Path
    ) -> None:
        (tmp_path / "claude" / ".claude.json").write_text("{", encoding="utf-8")
        window.data_page.delete_everything()
        qtbot.waitUntil(lambda: words.settings.NOT_DELETED in window.data_page.said.text())
        assert "cannot be parsed" in window.data_page.said.text()
        assert window.data_page.delete.isEnabled()
        assert world.services.paths.data.exists()
        assert world.opened == []

    def test_the_settings_file_is_opened_for_what_has_no_editor(self, window: SettingsWindow, world: World) -> None:
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


class TestStatus:
    @pytest.fixture
    def window(self, world: World, qtbot: QtBot) -> StatusWindow:
        made = StatusWindow(world.services)
        qtbot.addWidget(made)
        made.show()
        made.attach(FakeHistory.small())
        return made

    def test_it_says_what_the_engine_does_and_how_long_it_takes(self, window: StatusWindow, world: World) -> None:
        busy = status(ingest="indexing", pending=120, eta_s=95, embedding="embedding", backlog=6900)
        world.services.pulse.changed.emit(Pulse(is_starting=False, status=busy))
        assert "reading 120 files" in window.state.text()
        assert "120 files" in window.detail.text()
        assert "about 2 min left" in window.detail.text()

    def test_coverage_and_days_are_shown(self, window: StatusWindow, qtbot: QtBot) -> None:
        qtbot.waitUntil(lambda: "api: 50 %" in window.projects.accessibleDescription())
        assert window.calendar.accessibleDescription() == "Messages on 4 days"
        window.grab()

    def test_warnings_are_said_with_what_to_do(self, window: StatusWindow, world: World) -> None:
        warned = status(warnings=(Notice(id="full", text="The disk is full.", hint="Make room."),))
        world.services.pulse.changed.emit(Pulse(is_starting=False, status=warned))
        assert window.troubles.text() == "The disk is full. Make room."

    def test_pausing_and_looking_again_can_be_clicked(self, window: StatusWindow, world: World, qtbot: QtBot) -> None:
        history = FakeHistory.small()
        window.attach(history)
        world.services.pulse.changed.emit(Pulse(is_starting=False, status=status()))
        window.pause.click()
        assert world.opened == ["pause"]
        window.reindex.click()
        qtbot.waitUntil(lambda: "reindex" in history.names())

    def test_escape_closes_it(self, window: StatusWindow, qtbot: QtBot) -> None:
        qtbot.keyClick(window, Qt.Key.Key_Escape)
        assert not window.isVisible()


class TestClaude:
    @pytest.fixture
    def window(self, world: World, qtbot: QtBot) -> ConnectWindow:
        made = ConnectWindow(world.services)
        qtbot.addWidget(made)
        made.show()
        qtbot.waitUntil(lambda: not made.panel.connect_button.isHidden())
        return made

    def test_one_click_connects_and_one_takes_it_out_again(
        self, window: ConnectWindow, world: World, qtbot: QtBot, tmp_path: Path
    ) -> None:
        panel, file = window.panel, tmp_path / "claude" / ".claude.json"
        panel.connect_button.click()
        qtbot.waitUntil(lambda: not panel.disconnect_button.isHidden())
        assert "backscroll" in file.read_text(encoding="utf-8")
        assert world.services.pulse.pulse.connection == "connected"
        assert "restart" in panel.said.text()
        panel.allow.click()
        qtbot.waitUntil(panel.allow.isHidden)
        assert "mcp__backscroll__" in (tmp_path / "claude" / "settings.json").read_text(encoding="utf-8")
        panel.keep.click()
        qtbot.waitUntil(panel.keep.isHidden)
        panel.disconnect_button.click()
        qtbot.waitUntil(lambda: not panel.connect_button.isHidden())
        assert not file.exists()

    def test_a_refusal_is_said_and_nothing_is_blocked(
        self, world: World, window: ConnectWindow, qtbot: QtBot, tmp_path: Path
    ) -> None:
        (tmp_path / "claude" / ".claude.json").write_text("{", encoding="utf-8")
        window.panel.connect_button.click()
        qtbot.waitUntil(lambda: not window.panel.said.isHidden())
        assert "cannot be parsed" in window.panel.said.text()
        assert window.panel.connect_button.isEnabled()
        assert world.opened == []


class TestFirstRun:
    @pytest.fixture
    def card(self, world: World, qtbot: QtBot) -> FirstRunWindow:
        made = FirstRunWindow(world.services)
        qtbot.addWidget(made)
        made.attach(FakeHistory.small())
        made.show()
        return made

    def test_it_says_what_was_found_and_the_keys(self, card: FirstRunWindow, qtbot: QtBot) -> None:
        qtbot.waitUntil(lambda: card.found.text() == "8 sessions over 10 days")
        assert card.keys.text() == "Ctrl+Shift+Space"
        assert card.sample.isHidden()

    def test_every_place_that_holds_transcripts_is_counted(
        self, world: World, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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

    def test_it_is_shown_once_and_leads_to_the_search(self, card: FirstRunWindow, world: World) -> None:
        card.go.click()
        assert world.opened == ["greeted", "show_search"]

    def test_autostart_is_the_persons_choice(self, card: FirstRunWindow, world: World) -> None:
        assert not world.autostart.enabled
        card.autostart.click()
        assert world.autostart.enabled

    def test_keys_that_are_taken_are_said(self, card: FirstRunWindow, world: World) -> None:
        world.services.hotkey.try_keys("Ctrl+Alt+T")
        assert "Ctrl+Alt+T could not be claimed" in card.hotkey_problem.text()


def test_about_offers_the_version_to_copy(world: World, qtbot: QtBot) -> None:
    window = AboutWindow(world.services)
    qtbot.addWidget(window)
    window.copy_version()
    assert QGuiApplication.clipboard().text().startswith("Backscroll ")


def test_a_window_is_made_once_and_told_of_the_engine(world: World, qtbot: QtBot) -> None:
    windows = Windows(world.services)
    first = windows.open("status")
    assert windows.open("status") is first
    assert isinstance(first, StatusWindow)
    assert first._history is not None
    windows.attach(None)
    assert first._history is None
    windows.close()
    assert qtbot is not None


def test_a_window_that_does_not_exist_yet_says_so(world: World, qtbot: QtBot) -> None:
    windows = Windows(world.services, makers={})
    box = windows.open("anything")
    assert box.isVisible()
    windows.close()
    assert {"status", "settings", "connect", "first_run", "about"} <= {*MAKERS}
    assert qtbot is not None


def test_an_error_for_people_has_no_details_and_a_bug_has() -> None:
    known = trouble_of(ConfigurationRefused("No", "It cannot.", "Repair it."))
    assert (known.title, known.text, known.details) == ("No", "It cannot. Repair it.", "")
    bug = trouble_of(ZeroDivisionError("x"))
    assert "ZeroDivisionError" in bug.details
    assert "Qt" in details_of(ZeroDivisionError())


def test_a_bug_is_shown_with_its_details_to_copy(qtbot: QtBot) -> None:
    boxes = TroubleBox()
    box = boxes.show(Trouble("Something", "It broke.", "", "the details"))
    copy = next(button for button in box.buttons() if button.text() == "Copy details")
    copy.click()
    assert QGuiApplication.clipboard().text() == "the details"
    boxes.close()
    assert qtbot is not None


@pytest.mark.expect_log("Uncaught")
def test_what_nobody_caught_is_shown_and_logged() -> None:
    import sys

    seen: list[Trouble] = []
    undo = install_hooks(seen.append)
    try:
        error = ZeroDivisionError("x")
        sys.excepthook(ZeroDivisionError, error, None)
    finally:
        undo()
    assert ["ZeroDivisionError" in each.details for each in seen] == [True]


def test_a_key_of_a_window_that_means_nothing_goes_on(world: World, qtbot: QtBot) -> None:
    window = AboutWindow(world.services)
    qtbot.addWidget(window)
    event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, "a")
    window.keyPressEvent(event)
    assert not event.isAccepted()
