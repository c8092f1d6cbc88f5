"""Where everything lies, and what can be done with it: open, rebuild, delete."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QMessageBox, QVBoxLayout, QWidget

from desktop import format as shown
from desktop import words
from desktop.errors import log_bug, trouble_of
from desktop.widgets import button, label, line, set_kind

if TYPE_CHECKING:
    from pathlib import Path

    from desktop.history import History
    from desktop.services import Services
    from engine.core.models.status import ReindexReply
    from engine.integrations.claude_code import Outcome


class DataPage(QWidget):
    """Folders and their fate."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._history: History | None = None
        self.farewell: QMessageBox | None = None
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
        self.backup = button(words.settings.BACKUP, self._back_up)
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
        self.backup.setEnabled(history is not None)

    def _rebuild(self) -> None:
        history = self._history
        if history is not None:
            self._services.tasks.run(lambda _: history.reindex(full=True), self._queued, self._failed)

    def _queued(self, reply: ReindexReply) -> None:
        self._say(words.settings.queued(reply.queued_files))

    def _back_up(self) -> None:
        history = self._history
        if history is not None:
            self.backup.setEnabled(False)
            self._services.tasks.run(lambda _: history.call("backup", {}), self._backed_up, self._failed)

    def _backed_up(self, reply: dict[str, Any]) -> None:
        self.backup.setEnabled(True)
        self._say(words.settings.backed_up(reply["file"], shown.size(reply["bytes"])), "good")

    def _failed(self, error: Exception) -> None:
        log_bug(error)
        self.backup.setEnabled(self._history is not None)
        trouble = trouble_of(error)
        self._say(f"{trouble.title}. {trouble.text}".strip(), "bad")

    def _say(self, text: str, kind: str = "muted") -> None:
        self.said.setText(text)
        set_kind(self.said, kind)

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
        """Disconnect Claude Code, stop the engine, remove its folders, and end: a start would index anew.

        What Claude Code would start for every session must not outlive what it asks, so nothing is deleted where that
        entry cannot be taken out.
        """
        claude = self._services.claude
        self.delete.setEnabled(False)
        self._say(words.settings.DISCONNECTING)
        self._services.tasks.run(lambda _: claude.disconnect(), self._disconnected, self._not_disconnected)

    def _not_disconnected(self, error: Exception) -> None:
        self.delete.setEnabled(True)
        self._failed(error)
        self._say(f"{words.settings.NOT_DELETED} {self.said.text()}", "bad")

    def _disconnected(self, outcome: Outcome) -> None:
        services = self._services
        lines = [words.settings.DISCONNECTED if outcome.changes else words.settings.WAS_NOT_CONNECTED, *outcome.notes]
        try:
            services.autostart.disable()
        except OSError as error:
            lines.append(words.settings.left_over(str(error.filename or error)))
        paths = services.paths
        folders = (paths.data, paths.state, paths.logs, paths.config)
        services.host.stop(lambda: self._delete(folders, lines))

    def _end(self, _result: int) -> None:
        self._services.open("quit")

    def _delete(self, folders: tuple[Path, ...], lines: list[str]) -> None:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        left = [str(folder) for folder in folders if folder.exists()]
        if left:
            lines.append(words.settings.left_over(", ".join(left)))
        self.farewell = QMessageBox(self)
        self.farewell.setIcon(QMessageBox.Icon.Warning if left else QMessageBox.Icon.Information)
        self.farewell.setText(words.settings.DELETED)
        self.farewell.setInformativeText("\n".join(shown.plain(each) for each in (*lines, words.settings.DELETED_REST)))
        self.farewell.finished.connect(self._end)
        self.farewell.open()
