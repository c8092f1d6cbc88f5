"""The field one types into, with the filters as chips beside it and completion of project names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCompleter, QFrame, QHBoxLayout, QLabel, QLineEdit, QWidget

from desktop import words
from desktop.resources import drawn
from desktop.search import query as typed
from desktop.search.chips import ChipBar
from desktop.text_size import grown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QKeyEvent

    from desktop.search.query import Chip
    from desktop.theme import Theme


class SearchField(QLineEdit):
    """One line. Backspace at its beginning takes the last filter away."""

    backspaced = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Notice Backspace where there is nothing to delete."""
        if event.key() == Qt.Key.Key_Backspace and self.cursorPosition() == 0 and not self.hasSelectedText():
            self.backspaced.emit()
            return
        super().keyPressEvent(event)


class SearchBar(QFrame):
    """The field with its chips."""

    edited = Signal(str)
    """What the field holds after finished filters have become chips."""
    chips_changed = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("bar")
        self.setFixedHeight(grown(58))
        self._theme = theme
        self._chips: tuple[Chip, ...] = ()
        self._glass = QLabel(self)
        self.chips = ChipBar(self)
        self.field = SearchField(self)
        self.field.setObjectName("searchField")
        self.field.setFont(theme.font(1.45))
        self.field.setPlaceholderText(words.search.HINT)
        self.field.setAccessibleName(words.search.NAME)
        self.field.setMaxLength(10_000)
        row = QHBoxLayout(self)
        row.setContentsMargins(20, 0, 16, 0)
        row.setSpacing(12)
        row.addWidget(self._glass)
        row.addWidget(self.chips)
        row.addWidget(self.field, 1)
        self._projects = QStringListModel(self)
        self._completer = QCompleter(self._projects, self)
        self._completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self._completer.setWidget(self.field)
        # Its own list, since it also destroys the one it is given, which Python does, too.
        popup = self._completer.popup()
        assert popup is not None  # noqa: S101 - made on demand, the stub only says that it may be missing
        self._popup = popup
        self._popup.setObjectName("completions")
        self._completer.activated.connect(self._completed)
        self.field.textEdited.connect(self._edited)
        self.field.backspaced.connect(self._drop_last)
        self.chips.removed.connect(self._drop)
        theme.changed.connect(self._recoloured)
        self._recoloured(None)

    @property
    def is_completing(self) -> bool:
        """True while names are offered: the arrows belong to them."""
        return self._popup.isVisible()

    @property
    def filters(self) -> tuple[Chip, ...]:
        """The chips."""
        return self._chips

    def set_projects(self, names: Sequence[str]) -> None:
        """Offer these project names."""
        self._projects.setStringList(list(names))

    def set_query(self, text: str) -> None:
        """Fill the field, filters included, as if it had been typed."""
        parts = typed.read(text)
        self.field.setText(parts.words)
        self._set_chips(parts.chips)
        self.edited.emit(self.field.text())

    def query(self) -> str:
        """Return everything as one would type it."""
        return " ".join([*(chip.text for chip in self._chips), self.field.text()]).strip()

    def clear(self) -> None:
        """Empty the field and take all filters away."""
        self.field.clear()
        self._set_chips(())
        self.edited.emit("")

    def add(self, chip: Chip) -> None:
        """Add a filter."""
        self._set_chips(typed.with_chip(self._chips, chip))

    def _edited(self, text: str) -> None:
        parts = typed.absorb(text)
        if parts.chips:
            self.field.setText(parts.words)
            chips = self._chips
            for chip in parts.chips:
                chips = typed.with_chip(chips, chip)
            self._set_chips(chips)
        self.edited.emit(self.field.text())
        self._complete()

    def _complete(self) -> None:
        prefix = typed.project_prefix(self.field.text())
        if prefix is None:
            self._popup.hide()
            return
        self._completer.setCompletionPrefix(prefix)
        if self._completer.completionCount():
            rect = self.field.rect()
            rect.setWidth(280)
            self._completer.complete(rect)
        else:
            self._popup.hide()

    def _completed(self, name: str) -> None:
        text = self.field.text()
        prefix = typed.project_prefix(text)
        if prefix is not None:
            self.field.setText(text[: len(text) - len(prefix) - len("project:")])
        self.add(typed.Chip("project", name))
        self.edited.emit(self.field.text())

    def _drop(self, chip: Chip) -> None:
        self._set_chips(tuple(each for each in self._chips if each != chip))
        self.field.setFocus()

    def _drop_last(self) -> None:
        if self._chips:
            self._set_chips(self._chips[:-1])

    def _set_chips(self, chips: tuple[Chip, ...]) -> None:
        if chips != self._chips:
            self._chips = chips
            self.chips.set_chips(chips)
            self.chips_changed.emit(chips)

    def _recoloured(self, _colours: object) -> None:
        self._glass.setPixmap(drawn("search", 20, self._theme.colours.faint, self.devicePixelRatioF()))
