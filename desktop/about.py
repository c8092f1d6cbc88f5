"""The About window: version, licences, and where new versions come from."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout

from desktop import words
from desktop.resources import drawn
from desktop.widgets import PlainWindow, button, heading, label

if TYPE_CHECKING:
    from desktop.services import Services

from engine import __version__


class AboutWindow(PlainWindow):
    """Says what this is."""

    def __init__(self, services: Services) -> None:
        super().__init__(words.about.TITLE, QSize(460, 430))
        picture = QLabel()
        picture.setPixmap(drawn("app", 72, None, self.devicePixelRatioF()))
        picture.setAccessibleName(words.shared.APP)
        names = QVBoxLayout()
        names.addStretch(1)
        names.addWidget(heading(words.shared.APP, services.theme.font(1.6, bold=True)))
        names.addWidget(label(words.about.version(__version__), "muted"))
        names.addStretch(1)
        head = QHBoxLayout()
        head.setSpacing(16)
        head.addWidget(picture)
        head.addLayout(names, 1)
        parts = label("\n".join(f"• {part}" for part in words.about.PARTS), "muted")
        new = label(words.about.NEW, "muted", wrap=True)
        for each in (parts, new):
            each.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        row = QHBoxLayout()
        row.addWidget(button(words.about.COPY_VERSION, self.copy_version))
        row.addStretch(1)
        self.close_button = button(words.shared.CLOSE, self.close)
        row.addWidget(self.close_button)
        box = QVBoxLayout(self)
        box.setContentsMargins(28, 24, 28, 20)
        box.setSpacing(12)
        box.addLayout(head)
        box.addWidget(label(words.about.WHAT))
        box.addWidget(label(words.about.LICENCE, "muted", wrap=True))
        box.addWidget(parts)
        box.addWidget(new)
        box.addStretch(1)
        box.addLayout(row)
        self.close_button.setFocus()

    def copy_version(self) -> None:
        """Put what a report needs on the clipboard."""
        text = f"Backscroll {__version__}, Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}"
        QGuiApplication.clipboard().setText(text)
