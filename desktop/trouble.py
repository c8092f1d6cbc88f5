"""A defect, shown in a small window with the details of a report to copy. Never more than one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox

from desktop import words

if TYPE_CHECKING:
    from desktop.errors import Trouble


class TroubleBox:
    """Shows defects."""

    def __init__(self) -> None:
        self._box: QMessageBox | None = None

    def show(self, trouble: Trouble) -> QMessageBox:
        """Show a defect, in place of the one before."""
        self.close()
        box = QMessageBox()
        box.setWindowTitle(words.shared.APP)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setText(trouble.title)
        box.setInformativeText(trouble.text)
        box.setModal(False)
        if trouble.details:
            copy = box.addButton(words.trouble.COPY_DETAILS, QMessageBox.ButtonRole.ActionRole)
            copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(trouble.details))
            box.setDetailedText(trouble.details)
        box.addButton(words.shared.CLOSE, QMessageBox.ButtonRole.AcceptRole)
        self._box = box
        box.show()
        return box

    def close(self) -> None:
        """Take it away."""
        if self._box is not None:
            self._box.close()
            self._box.deleteLater()
            self._box = None
