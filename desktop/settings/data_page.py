"""Where everything lies, and what can be done with it: open, rebuild, delete."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QMessageBox, QVBoxLayout, QWidget

from desktop import words
from desktop.widgets import button, label, line

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.history import History
    from desktop.services import Services
    from engine.core.models import ReindexReply


class DataPage(QWidget):
    """Folders and their fate."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._history: History | None = None
        paths = services.paths
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setColumnStretch(1, 1)
        for row, (name, path) in enumerate(
            (
                (words.settings.FOLDER_DATA, paths.data),
                (words.settings.FOLDER_SETTINGS, paths.config),
                (words.settings.FOLDER_LOG, paths.logs),
            )
        ):
            grid.addWidget(label(name, "muted"), row, 0)
            place = label(str(path), wrap=True)
            place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(place, row, 1)
            grid.addWidget(button(words.settings.OPEN, lambda path=path: services.opener.file(path), "link"), row, 2)
        self.rebuild = button(words.settings.REBUILD, self._rebuild)
        self.backup = button(words.settings.BACKUP, lambda: services.open("backup"))
        self.delete = button(words.settings.DELETE_ALL, self._ask, "danger")
        self.said = label(kind="muted", wrap=True)
        actions = QHBoxLayout()
        for each in (self.rebuild, self.backup):
            actions.addWidget(each)
        actions.addStretch(1)
        end = QHBoxLayout()
        end.addWidget(self.delete)
        end.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(12)
        box.addLayout(grid)
        box.addWidget(label(words.settings.REBUILD_HELP, "faint", wrap=True))
        box.addLayout(actions)
        box.addWidget(self.said)
        box.addWidget(line())
        box.addWidget(label(words.settings.DELETE_HELP, "faint", wrap=True))
        box.addLayout(end)

    def attach(self, history: History | None) -> None:
        """Ask this engine from now on."""
        self._history = history
        self.rebuild.setEnabled(history is not None)
        can_back_up = history is not None and "backup" in history.methods
        self.backup.setEnabled(can_back_up)
        self.backup.setToolTip("" if can_back_up else words.shared.NOT_THERE_YET)

    def _rebuild(self) -> None:
        history = self._history
        if history is not None:
            self._services.tasks.run(lambda _: history.reindex(full=True), self._queued)

    def _queued(self, reply: ReindexReply) -> None:
        self.said.setText(words.settings.queued(reply.queued_files))

    def _ask(self) -> None:
        box = QMessageBox(self)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setText(words.settings.DELETE_TITLE)
        box.setInformativeText(words.settings.DELETE_SURE)
        delete = box.addButton(words.settings.DELETE_ALL, QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(words.shared.CANCEL, QMessageBox.ButtonRole.RejectRole)
        box.setModal(True)
        delete.clicked.connect(lambda _checked=False: self.delete_everything())
        box.open()

    def delete_everything(self) -> None:
        """Stop the engine, remove its folders, and end: a start would index anew."""
        paths = self._services.paths
        self._services.host.stop(lambda: self._delete((paths.data, paths.state, paths.logs, paths.config)))

    def _delete(self, folders: tuple[Path, ...]) -> None:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        self._services.open("quit")
