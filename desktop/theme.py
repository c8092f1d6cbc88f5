"""Colours and fonts: the one table of both schemes, followed live. No other file of the desktop names a colour."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final, Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette

from desktop.resources import icons_folder
from desktop.style import style_sheet
from desktop.text_size import grown

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

Choice = Literal["system", "light", "dark"]
FIELD: Final = 22
"""Pixels of the text in a field, with usual text."""


@dataclass(frozen=True, slots=True)
class Colours:
    """One scheme, as CSS names colours."""

    is_dark: bool
    window: str
    """Behind everything."""
    raised: str
    """Cards, menus, the action list."""
    sunken: str
    """Fields, code, folded tool calls."""
    border: str
    text: str
    muted: str
    """Second line, labels."""
    faint: str
    """Hints, placeholders, times."""
    accent: str
    on_accent: str
    selection: str
    """Behind the selected row."""
    hover: str
    mark: str
    """Behind a match."""
    on_mark: str
    mark_current: str
    """Behind the match that F3 has reached."""
    chip: str
    on_chip: str
    person: str
    """The one who asks."""
    claude: str
    tool: str
    good: str
    warning: str
    bad: str
    heat: tuple[str, str, str, str, str]
    """Days of a calendar, from nothing to much."""
    series: tuple[str, str, str, str, str]
    """What a chart tells apart, the largest first."""

    def on_selection(self) -> Colours:
        """Return the colours of text on the selected row, where the faint ones could not be read."""
        return replace(self, faint=self.muted, accent=self.on_chip)


LIGHT: Final = Colours(
    is_dark=False,
    window="#fbfbfd",
    raised="#ffffff",
    sunken="#f1f1f5",
    border="#dedee6",
    text="#1c1c22",
    muted="#5a5a68",
    faint="#6c6c7a",
    accent="#4f46d8",
    on_accent="#ffffff",
    selection="#e6e5fb",
    hover="#f1f1f7",
    mark="#ffe28a",
    on_mark="#3a2c00",
    mark_current="#ffb43a",
    chip="#e9e8fa",
    on_chip="#3b33b3",
    person="#0a7256",
    claude="#a5491b",
    tool="#55606e",
    good="#157447",
    warning="#925600",
    bad="#c02b3c",
    heat=("#ececf2", "#cfcbf6", "#a29bee", "#756be3", "#4f46d8"),
    series=("#4f46d8", "#c05a1f", "#0a8a68", "#c0458f", "#a17a00"),
)

DARK: Final = Colours(
    is_dark=True,
    window="#1c1c21",
    raised="#26262d",
    sunken="#141418",
    border="#37373f",
    text="#ececf1",
    muted="#a9a9b6",
    faint="#9292a0",
    accent="#8f88ff",
    on_accent="#16151f",
    selection="#34325a",
    hover="#26262e",
    mark="#5f4b0c",
    on_mark="#ffe9ab",
    mark_current="#8a5e00",
    chip="#323054",
    on_chip="#c5c1ff",
    person="#4cc9a0",
    claude="#ee9a6c",
    tool="#9aa7b6",
    good="#4cc38a",
    warning="#e5b04d",
    bad="#ff7b86",
    heat=("#2a2a32", "#373460", "#4f4a94", "#6d66c9", "#8f88ff"),
    series=("#8f88ff", "#ee9a6c", "#4cc9a0", "#dd77b8", "#d6b44c"),
)


class Theme(QObject):
    """Keeps the application in the chosen scheme, and says when it changes.

    Args:
        app: Gets palette and style sheet.
        choice: Of the settings.
    """

    changed = Signal(object)
    """The new `Colours`."""

    def __init__(self, app: QApplication, choice: Choice = "system") -> None:
        super().__init__()
        self._app = app
        self._choice: Choice = choice
        self.colours = self._wanted()
        app.styleHints().colorSchemeChanged.connect(self._follow)
        self._apply()

    def choose(self, choice: Choice) -> None:
        """Take another scheme, or the system's."""
        self._choice = choice
        self._follow()

    def font(self, scale: float = 1.0, *, bold: bool = False) -> QFont:
        """Return the system's font, larger or smaller."""
        return scaled(self._app.font(), scale, bold=bold)

    def _wanted(self) -> Colours:
        if self._choice != "system":
            return DARK if self._choice == "dark" else LIGHT
        return DARK if self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark else LIGHT

    def _follow(self, _scheme: object = None) -> None:
        wanted = self._wanted()
        if wanted is not self.colours:
            self.colours = wanted
            self._apply()
            self.changed.emit(wanted)

    def _apply(self) -> None:
        self._app.setPalette(palette_of(self.colours))
        self._app.setStyleSheet(style_sheet(self.colours, icons_folder().as_posix(), grown(FIELD)))


def colour(name: str, alpha: float = 1.0) -> QColor:
    """Return a colour of the table for a painter, opaque or less."""
    made = QColor(name)
    made.setAlphaF(alpha)
    return made


def scaled(font: QFont, scale: float, *, bold: bool = False) -> QFont:
    """Return a font in another size, whatever unit it is measured in."""
    made = QFont(font)
    if font.pointSizeF() > 0:
        made.setPointSizeF(font.pointSizeF() * scale)
    else:
        made.setPixelSize(max(1, round(font.pixelSize() * scale)))
    if bold:
        made.setWeight(QFont.Weight.DemiBold)
    return made


def code_font(like: QFont, scale: float = 0.95) -> QFont:
    """Return the system's fixed-width font in about the size of another."""
    made = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    if like.pointSizeF() > 0:
        made.setPointSizeF(like.pointSizeF() * scale)
    made.setStyleHint(QFont.StyleHint.Monospace)
    return made


def palette_of(colours: Colours) -> QPalette:
    """Return Qt's palette for a scheme: what no style sheet reaches follows it."""
    palette = QPalette()
    role = QPalette.ColorRole
    table = {
        role.Window: colours.window,
        role.Base: colours.raised,
        role.AlternateBase: colours.sunken,
        role.Button: colours.raised,
        role.ToolTipBase: colours.raised,
        role.Text: colours.text,
        role.WindowText: colours.text,
        role.ButtonText: colours.text,
        role.ToolTipText: colours.text,
        role.PlaceholderText: colours.faint,
        role.Highlight: colours.accent,
        role.HighlightedText: colours.on_accent,
        role.Link: colours.accent,
        role.LinkVisited: colours.accent,
        role.Accent: colours.accent,
        role.Mid: colours.border,
        role.Dark: colours.border,
        role.Light: colours.raised,
    }
    for each, name in table.items():
        palette.setColor(each, QColor(name))
    for each in (role.Text, role.WindowText, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, each, QColor(colours.faint))
    return palette


COLOUR_NAMES: Final = tuple(each.name for each in fields(Colours) if each.name not in {"is_dark", "heat", "series"})
"""For the test that holds both tables to the same contrast."""
