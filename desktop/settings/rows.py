"""One row for each setting of the engine's table: an editor for its kind, its help, and what was wrong with a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from desktop import words
from desktop.text_size import grown
from desktop.widgets import label, padded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.core.setting_kinds import RootSetting, Setting

REST_MS = 600
"""After a key in a text, before it is saved."""


class SettingRow(QWidget):
    """Shows and changes one setting. `changed` carries the value in the form the file has."""

    changed = Signal(object)

    def __init__(self, setting: Setting, value: Any) -> None:
        super().__init__()
        self.setting = setting
        self.title = label(words.settings.SETTING_NAMES[setting.key])
        self.help = label(help_of(setting), "faint", wrap=True)
        self.problem = label(kind="bad", wrap=True)
        self.problem.hide()
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._emit)
        self._read: Callable[[], Any] = lambda: None
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        self.editor = _EDITORS[setting.kind](self, value)
        self.editor.setAccessibleName(words.settings.SETTING_NAMES[setting.key])
        self.editor.setAccessibleDescription(setting.help)
        if isinstance(self.editor, QCheckBox):
            self.editor.setText(words.settings.SETTING_NAMES[setting.key])
            box.addWidget(self.editor)
        elif isinstance(self.editor, QPlainTextEdit):
            box.addWidget(self.title)
            box.addWidget(self.editor)
        else:
            line = QHBoxLayout()
            line.addWidget(self.title)
            line.addStretch(1)
            line.addWidget(self.editor)
            box.addLayout(line)
        box.addWidget(self.help)
        box.addWidget(self.problem)

    def say(self, problem: str) -> None:
        """Show what was wrong with the value; nothing when it was taken."""
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))

    def reads(self, read: Callable[[], Any]) -> None:
        """Be told how the editor's value is read."""
        self._read = read

    def now(self, _value: object = None) -> None:
        """Save what was chosen."""
        self._emit()

    def soon(self, _value: object = None) -> None:
        """Save what was typed, after a rest."""
        self._rest.start()

    def _emit(self) -> None:
        self._rest.stop()
        self.changed.emit(self._read())


def help_of(setting: Setting) -> str:
    """Return what a setting means, without the name that stands above it."""
    name, text = words.settings.SETTING_NAMES[setting.key], setting.help.replace("`", "")
    if not text.casefold().startswith(name.casefold()):
        return text
    rest = text[len(name) :].lstrip(" ,.:;")
    return rest[:1].upper() + rest[1:]


def _flag(row: SettingRow, value: bool) -> QWidget:  # noqa: FBT001 - a setting's value
    editor = QCheckBox()
    editor.setChecked(value)
    editor.toggled.connect(row.now)
    row.reads(editor.isChecked)
    return editor


def _count(row: SettingRow, value: int) -> QWidget:
    editor = QSpinBox()
    editor.setRange(int(row.setting.minimum or 0), int(row.setting.maximum or 1_000_000))
    editor.setValue(value)
    editor.setMinimumWidth(grown(96))
    padded(editor)
    editor.valueChanged.connect(row.soon)
    row.reads(editor.value)
    return editor


def _seconds(row: SettingRow, value: float) -> QWidget:
    editor = QDoubleSpinBox()
    editor.setRange(row.setting.minimum or 0, row.setting.maximum or 1_000_000)
    editor.setDecimals(1)
    editor.setSuffix(words.settings.SECONDS_SUFFIX)
    padded(editor)
    editor.setValue(value)
    editor.setMinimumWidth(grown(96))
    editor.valueChanged.connect(row.soon)
    row.reads(editor.value)
    return editor


def _text(row: SettingRow, value: str | None) -> QWidget:
    editor = QLineEdit(value or words.settings.SYSTEM_ZONE)
    editor.setMinimumWidth(grown(210))
    editor.editingFinished.connect(row.now)
    row.reads(lambda: editor.text().strip() or None)
    return editor


def _choice(row: SettingRow, value: str) -> QWidget:
    editor = QComboBox()
    for each in row.setting.choices:
        editor.addItem(words.settings.CHOICES.get(each, each), each)
    editor.setCurrentIndex(max(0, editor.findData(value)))
    editor.currentIndexChanged.connect(row.now)
    row.reads(editor.currentData)
    return editor


def _lines(row: SettingRow, value: Sequence[str]) -> QWidget:
    editor = QPlainTextEdit("\n".join(value))
    editor.setPlaceholderText(words.settings.ONE_A_LINE)
    editor.setFixedHeight(grown(72))
    editor.setTabChangesFocus(True)
    editor.textChanged.connect(row.soon)
    row.reads(lambda: [line.strip() for line in editor.toPlainText().splitlines() if line.strip()])
    return editor


def _roots(row: SettingRow, value: Sequence[RootSetting]) -> QWidget:
    editor = QPlainTextEdit("\n".join(f"{each.label} = {each.path}" for each in value))
    editor.setPlaceholderText(words.settings.ROOTS_HINT)
    editor.setFixedHeight(grown(72))
    editor.setTabChangesFocus(True)
    editor.textChanged.connect(row.soon)
    row.reads(lambda: [root_of(line) for line in editor.toPlainText().splitlines() if line.strip()])
    return editor


def root_of(line: str) -> dict[str, str]:
    """Return a folder of transcripts as the file has it: "label = path", or a path alone."""
    name, equals, path = line.partition("=")
    return {"path": path.strip(), "label": name.strip()} if equals else {"path": line.strip(), "label": ""}


_EDITORS: dict[str, Callable[[SettingRow, Any], QWidget]] = {
    "flag": _flag,
    "count": _count,
    "seconds": _seconds,
    "text": _text,
    "zone": _text,
    "choice": _choice,
    "patterns": _lines,
    "roots": _roots,
}
