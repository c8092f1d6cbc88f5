"""The settings window: pages made of the engine's table, saved as they are changed."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListWidget, QListWidgetItem, QStackedWidget, QVBoxLayout, QWidget

from desktop import words
from desktop.claude_panel import ClaudePanel
from desktop.errors import log_bug, trouble_of
from desktop.settings.data_page import DataPage
from desktop.settings.history_page import Keeping, RootsList
from desktop.settings.hotkey_row import HotkeyRow
from desktop.settings.rows import SettingRow, help_of
from desktop.text_size import grown
from desktop.widgets import PlainWindow, button, heading, label, line, scrolled
from engine.core.settings import SETTINGS, load_settings, save_setting, setting_of

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.history import History
    from desktop.services import Services
    from engine.core.setting_kinds import Setting

OWN: Final = frozenset({"hotkey", "autostart", "theme"})
"""Settings of the app itself: they act at once. The others act when the engine starts anew."""


ROW: Final = 34
"""Pixels of a page's name."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page and the settings on it."""

    title: str
    keys: tuple[str, ...] = ()


PAGES: Final = (
    Page(words.settings.PAGE_GENERAL, ("hotkey", "autostart", "theme", "time_zone", "usage.prices")),
    Page(words.settings.PAGE_HISTORY, ("transcripts.roots", "archive.enabled")),
    Page(words.settings.PAGE_SEARCH, ("search.semantic_wait_s",)),
    Page(
        words.settings.PAGE_EMBEDDING,
        ("embedding.enabled", "embedding.threads", "embedding.on_battery", "embedding.idle_unload_minutes",
         "embedding.model"),
    ),
    Page(words.settings.PAGE_CLAUDE),
    Page(words.settings.PAGE_PRIVACY, ("privacy.redact", "transcripts.exclude_projects", "privacy.projects_apart")),
    Page(words.settings.PAGE_DATA),
)  # fmt: skip


class SettingsWindow(PlainWindow):
    """Shows and changes settings."""

    def __init__(self, services: Services) -> None:
        super().__init__(words.settings.TITLE, QSize(760, 560))
        self._writing = threading.Lock()
        self._services = services
        self._history: History | None = None
        self.rows: dict[str, SettingRow] = {}
        loaded = load_settings(services.paths.settings_file)
        self._settings = loaded.settings
        self.list = QListWidget()
        self.list.setObjectName("pages")
        self.list.setFixedWidth(grown(170))
        self.list.setAccessibleName(words.settings.TITLE)
        self.pages = QStackedWidget()
        self.data_page = DataPage(services)
        self.roots, self.keeping = RootsList(services), Keeping(services)
        for page in PAGES:
            item = QListWidgetItem(page.title)
            item.setSizeHint(QSize(0, ROW))
            self.list.addItem(item)
            self.pages.addWidget(scrolled(self._page(page)))
        self.list.currentRowChanged.connect(self.pages.setCurrentIndex)
        self.list.setCurrentRow(0)
        self.banner, self.restart = self._banner()
        body = QHBoxLayout()
        body.setSpacing(0)
        body.addWidget(self.list)
        body.addWidget(self.pages, 1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(body, 1)
        box.addWidget(self.banner)
        for problem in loaded.problems:
            if problem.key in self.rows:
                self.rows[problem.key].say(problem.what)

    def attach(self, history: History | None) -> None:
        """Ask this engine from now on."""
        self._history = history
        self.data_page.attach(history)
        self.keeping.attach(history)
        self.restart.setEnabled(history is not None)

    def _banner(self) -> tuple[QFrame, QWidget]:
        banner = QFrame()
        banner.setObjectName("footer")
        row = QHBoxLayout(banner)
        row.setContentsMargins(16, 8, 16, 8)
        row.addWidget(label(words.settings.NEEDS_RESTART, "muted"), 1)
        restart = button(words.settings.RESTART_ENGINE, self._restart, "primary")
        row.addWidget(restart)
        banner.hide()
        return banner, restart

    def _page(self, page: Page) -> QWidget:
        inside = QWidget()
        box = QVBoxLayout(inside)
        box.setContentsMargins(28, 22, 28, 22)
        box.setSpacing(16)
        box.addWidget(heading(page.title, self._services.theme.font(1.25, bold=True)))
        parts: list[QWidget] = [self._row(setting_of(key)) for key in page.keys]
        if page.title == words.settings.PAGE_CLAUDE:
            parts.append(ClaudePanel(self._services))
        if page.title == words.settings.PAGE_HISTORY:
            parts = [self.roots, *parts, self.keeping]
        if page.title == words.settings.PAGE_DATA:
            parts.append(self.data_page)
        for number, part in enumerate(parts):
            if number:
                box.addWidget(line())
            box.addWidget(part)
        box.addStretch(1)
        return inside

    def _row(self, setting: Setting) -> QWidget:
        if setting.key == "hotkey":
            row = HotkeyRow(self._services)
            row.changed.connect(partial(self._save, "hotkey"))
            return row
        if setting.kind == "prices":
            return self._in_editor(setting)
        value = getattr(self._settings, setting.name)
        if setting.key == "autostart":
            # The system's own state counts: another program may have changed it.
            value = self._services.autostart.is_enabled()
        made = SettingRow(setting, value)
        made.changed.connect(partial(self._changed, setting))
        self.rows[setting.key] = made
        return made

    def _in_editor(self, setting: Setting) -> QWidget:
        made = QWidget()
        box = QVBoxLayout(made)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(label(words.settings.SETTING_NAMES[setting.key]))
        box.addWidget(label(help_of(setting), "faint", wrap=True))
        row = QHBoxLayout()
        row.addWidget(button(words.settings.OPEN_SETTINGS_FILE, self._open_file))
        row.addStretch(1)
        box.addLayout(row)
        return made

    # Changing ------------------------------------------------------------------------------------------------------

    def _changed(self, setting: Setting, value: Any) -> None:
        if setting.key == "autostart" and not self._set_autostart(wanted=bool(value)):
            return
        if setting.key == "theme":
            self._services.theme.choose(value)
        self._save(setting.key, value)

    def _set_autostart(self, *, wanted: bool) -> bool:
        autostart = self._services.autostart
        try:
            (autostart.enable if wanted else autostart.disable)()
        except OSError as error:
            self.rows["autostart"].say(words.settings.not_written(error.strerror or str(error)))
            return False
        return True

    def _save(self, key: str, value: Any) -> None:
        path = self._services.paths.settings_file
        self._services.tasks.run(
            lambda _: self._write(path, key, value),
            lambda _none: self._saved(key),
            lambda error: self._not_saved(key, error),
        )

    def _write(self, path: Path, key: str, value: object) -> None:
        """Change one key of the file, one at a time: two rows that rest together must not undo each other."""
        with self._writing:
            save_setting(path, key, value)

    def _saved(self, key: str) -> None:
        if key in self.rows:
            self.rows[key].say("")
        if key not in OWN:
            self.banner.show()

    def _not_saved(self, key: str, error: Exception) -> None:
        log_bug(error)
        trouble = trouble_of(error)
        if key in self.rows:
            self.rows[key].say(
                words.settings.not_written(trouble.text if not isinstance(error, OSError) else str(error))
            )

    def _restart(self) -> None:
        self.banner.hide()
        self._services.host.restart()

    def _open_file(self) -> None:
        path = self._services.paths.settings_file
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch()
        self._services.opener.file(path)


def pages_cover_the_table() -> frozenset[str]:
    """Return keys of the engine's table that no page shows. A test holds this empty."""
    shown = {key for page in PAGES for key in page.keys}
    return frozenset(setting.key for setting in SETTINGS) - shown
