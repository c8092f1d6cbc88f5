# pyright: reportPrivateUsage=false
# A picture is taken of states that last for a moment only.
"""Pictures of status, settings, first run, connection and About, and of the tray's icon and menu."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from desktop.about import AboutWindow
from desktop.claude_panel import ConnectWindow
from desktop.errors import Trouble
from desktop.first_run.window import FirstRunWindow
from desktop.hotkey.base import HotkeyRefused
from desktop.pulse import Pulse
from desktop.resources import TrayState, drawn, tray_icon
from desktop.settings.window import SettingsWindow
from desktop.status.window import StatusWindow
from desktop.tray import Tray
from engine.core.models.status import Notice
from engine.service.notices import given_up
from tests.desktop.fakes import status
from tests.desktop.invented import NoHistory
from tests.desktop.studio import pause

if TYPE_CHECKING:
    from desktop.history import History
    from tests.desktop.studio import Studio


def window_pictures(studio: Studio, history: History) -> None:
    """The other windows."""
    services = studio.services
    keeper = services.pulse
    quiet, busy = (
        history.status(),
        status(ingest="indexing", pending=120, eta_s=95, embedding="embedding", backlog=6900),
    )
    gave_up = Notice(id="degraded", text=given_up("engine-embed"), hint="Start Backscroll again.")
    degraded = replace(quiet, warnings=(gave_up,))
    for name, value in (("idle", quiet), ("indexing", busy), ("degraded", degraded)):
        keeper.pulse = Pulse(is_starting=False, status=value, connection="connected")
        window = StatusWindow(services)
        for step in range(40 if name == "indexing" else 0):
            services.now.seconds += 2  # pyright: ignore[reportFunctionMemberAccess] - a Moment
            pending = 120 + 15 * (40 - step) if step else 480
            window._show_status(
                status(ingest="indexing", pending=pending, embedding="embedding", backlog=6900 + 180 * (40 - step))
            )
        window.attach(history)
        window.show()
        keeper.changed.emit(keeper.pulse)
        pause(300)
        studio.shoot(window, f"status-{name}")
        window.hide()
    keeper.pulse = Pulse(is_starting=False, status=busy)
    settings = SettingsWindow(services)
    settings.attach(history)
    settings.show()
    for row in range(settings.list.count()):
        settings.list.setCurrentRow(row)
        pause(150)
        studio.shoot(settings, f"settings-{row + 1}")
    settings.rows["transcripts.roots"].say("Not saved: it must be a list.")
    settings.banner.show()
    settings.list.setCurrentRow(1)
    studio.shoot(settings, "settings-problem")
    settings.hide()
    for name, maker in (("first-run", FirstRunWindow), ("connect", ConnectWindow), ("about", AboutWindow)):
        made = maker(services)
        if isinstance(made, FirstRunWindow):
            made.attach(history)
        made.show()
        pause(400)
        studio.shoot(made, name)
        made.hide()
    services.hotkey.problem = HotkeyRefused(
        "Ctrl+Shift+Space could not be claimed",
        "Another program uses these keys.",
        "Choose other keys in the settings.",
    )
    keeper.pulse = Pulse(is_starting=False, status=replace(status(), sessions=0, messages=0))
    card = FirstRunWindow(services)
    card.attach(NoHistory())
    card.show()
    pause(300)
    studio.shoot(card, "first-run-nothing")
    card.hide()
    services.hotkey.problem = None


def tray_pictures(studio: Studio) -> None:
    """The icon in every state, at its smallest, on light and dark; and the menu."""
    from PySide6.QtCore import QPoint, QRect
    from PySide6.QtGui import QColor, QPainter, QPixmap

    sheet = QPixmap(560, 260)
    sheet.fill(QColor("white"))
    painter = QPainter(sheet)
    painter.fillRect(QRect(0, 130, 560, 130), QColor("#202028"))
    for column, state in enumerate(TrayState):
        share = 0.62 if state is TrayState.INDEXING else None
        for row in range(2):
            top = 10 + row * 130
            for size, left in ((16, 0), (24, 24), (48, 52)):
                icon = tray_icon(state, share=share)
                painter.drawPixmap(QPoint(column * 112 + left, top), icon.pixmap(size, size))
            template = drawn(f"template-{state.value}", 44, "#ffffff" if row else "#000000")
            painter.drawPixmap(QPoint(column * 112 + 10, top + 60), template)
    painter.end()
    sheet.save(str(studio.folder / f"tray-icons-{studio.name}.png"))
    for name, pulse in (
        ("idle", Pulse(is_starting=False, status=status(), connection="connected")),
        ("embedding", Pulse(is_starting=False, status=status(embedding="embedding", backlog=6900, eta_s=240))),
        ("paused", Pulse(is_starting=False, status=status(ingest="paused"))),
        ("problem", Pulse(is_starting=False, problem=Trouble("The disk is full", ""))),
    ):
        tray = Tray(pulse, "Ctrl+Shift+Space")
        tray.menu.adjustSize()
        studio.shoot(tray.menu, f"menu-{name}")
