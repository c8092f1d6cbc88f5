"""The tray icon and its menu, drawn from the pulse: no question, no file, whenever the menu opens."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from desktop import words
from desktop.resources import TrayState, tray_icon

if TYPE_CHECKING:
    from PySide6.QtGui import QAction, QIcon

    from desktop.pulse import Pulse


class Tray(QObject):
    """The icon.

    Args:
        pulse: What it shows first.
        hotkey: As the system writes it; empty when there is none.
    """

    wanted = Signal(str)
    """`search`, `status`, `usage`, `knowledge`, `pause_hour`, `pause`, `resume`, `doctor`, `prune`, `connect`,
    `settings`, `about`, `quit`."""

    def __init__(self, pulse: Pulse, hotkey: str = "") -> None:
        super().__init__()
        self._pulse = pulse
        self.hotkey = hotkey
        self._shown: tuple[TrayState, int | None] | None = None
        self._icons: dict[tuple[TrayState, int | None], QIcon] = {}
        self.menu = QMenu()
        self.menu.aboutToShow.connect(self.rebuild)
        self.icon = QSystemTrayIcon()
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._activated)
        self.icon.messageClicked.connect(lambda: self.wanted.emit("status"))
        self._told: set[str] = set()
        self._is_shown = False
        self.show_pulse(pulse)
        self.rebuild()

    def show(self) -> None:
        """Put the icon into the panel."""
        self.icon.show()
        self._is_shown = True
        self.show_pulse(self._pulse)

    def hide(self) -> None:
        """Take it out."""
        self._is_shown = False
        self.icon.hide()

    def show_pulse(self, pulse: Pulse) -> None:
        """Draw another state."""
        self._pulse = pulse
        share = pulse.share
        looks = (pulse.tray_state, None if share is None else round(share * 24))
        if looks != self._shown:
            self._shown = looks
            self.icon.setIcon(self._icon(looks))
        self.icon.setToolTip(words.tray.tooltip(pulse.sentence))
        if pulse.tray_state is TrayState.ATTENTION:
            self._notify(pulse)

    def _notify(self, pulse: Pulse) -> None:
        """Say once what needs the person. Nothing else is worth a notification."""
        if pulse.sentence in self._told or not self._is_shown:
            return
        self._told.add(pulse.sentence)
        text = " ".join(part for part in (_ended(pulse.sentence), pulse.advice) if part)
        self.icon.showMessage(words.shared.APP, text, QSystemTrayIcon.MessageIcon.Warning)

    def rebuild(self) -> None:
        """Fill the menu from what is known."""
        pulse, menu = self._pulse, self.menu
        menu.clear()
        line = menu.addAction(pulse.sentence[:1].upper() + pulse.sentence[1:])
        line.setEnabled(False)
        menu.addSeparator()
        search = self._add(words.menu.search_with_key(self.hotkey) if self.hotkey else words.menu.SEARCH, "search")
        menu.setDefaultAction(search)
        self._add(words.menu.STATUS, "status")
        self._add(words.menu.USAGE, "usage")
        self._add(words.menu.KNOWLEDGE, "knowledge")
        menu.addSeparator()
        if pulse.is_paused:
            self._add(words.menu.RESUME, "resume")
        else:
            pause = menu.addMenu(words.menu.PAUSE)
            pause.setEnabled(pulse.status is not None)
            self._add(words.menu.PAUSE_HOUR, "pause_hour", pause)
            self._add(words.menu.PAUSE_RESTART, "pause", pause)
        self._add(words.menu.DOCTOR, "doctor")
        self._add(words.menu.PRUNE, "prune")
        menu.addSeparator()
        connected = pulse.connection == "connected"
        self._add(words.menu.CONNECTED if connected else words.menu.CONNECT, "connect")
        self._add(words.menu.SETTINGS, "settings")
        self._add(words.menu.ABOUT, "about")
        menu.addSeparator()
        self._add(words.menu.QUIT, "quit")

    def _add(self, label: str, name: str, menu: QMenu | None = None) -> QAction:
        action = (menu or self.menu).addAction(label)
        action.triggered.connect(lambda: self.wanted.emit(name))
        return action

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger and sys.platform != "darwin":
            self.wanted.emit("search")

    def _icon(self, looks: tuple[TrayState, int | None]) -> QIcon:
        if looks not in self._icons:
            state, steps = looks
            share = None if steps is None else steps / 24
            self._icons[looks] = tray_icon(state, share=share, template=sys.platform == "darwin")
        return self._icons[looks]


def _ended(sentence: str) -> str:
    """Return a sentence that begins and ends as one."""
    text = sentence[:1].upper() + sentence[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
