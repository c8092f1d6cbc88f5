from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QColor, QPalette

from desktop.theme import COLOUR_NAMES, DARK, LIGHT, Colours, Theme, scaled
from desktop.usage.bars import SERIES
from desktop.usage.chart import series_colour

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

DESKTOP = Path(__file__).parents[3] / "desktop"
SURFACES = ("window", "raised", "sunken", "hover", "selection")
READABLE = (
    *((front, back) for front in ("text", "muted", "faint") for back in SURFACES),
    *((front, back) for front in ("accent", "good", "warning", "bad", "tool") for back in SURFACES),
    ("on_accent", "accent"), ("on_mark", "mark"), ("on_mark", "mark_current"), ("on_chip", "chip"), ("bad", "chip"),
    ("person", "window"), ("claude", "window"), ("window", "text"),
)  # fmt: skip
SEEN = (
    ("accent", "window"), ("accent", "raised"), ("faint", "raised"), ("person", "selection"), ("claude", "selection"),
    ("tool", "selection"),
)  # fmt: skip
"""Drawings: icons, the edge of a control that has the focus, the box to tick."""


def luminance(name: str) -> float:
    """Return a colour's relative luminance (WCAG 2.2)."""
    colour = QColor(name)
    parts = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (colour.redF(), colour.greenF(), colour.blueF())
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(colours: Colours, front: str, back: str) -> float:
    """Return the contrast of text as it is painted there (WCAG 2.2)."""
    shades = colours.on_selection() if back == "selection" else colours
    one, other = luminance(getattr(shades, front)), luminance(getattr(colours, back))
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("front", "back"), READABLE)
def test_text_is_readable_on_what_is_behind_it(colours: Colours, front: str, back: str) -> None:
    assert contrast(colours, front, back) >= 4.5


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("front", "back"), SEEN)
def test_drawings_can_be_told_from_what_is_behind_them(colours: Colours, front: str, back: str) -> None:
    assert contrast(colours, front, back) >= 3.0


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_every_series_of_a_chart_can_be_seen_on_its_ground(colours: Colours) -> None:
    for number in range(SERIES):
        shade = luminance(series_colour(colours, number, is_others=False).name())
        ground = luminance(colours.window)
        assert (max(shade, ground) + 0.05) / (min(shade, ground) + 0.05) >= 3.0, number


def test_both_schemes_have_every_colour() -> None:
    for name in COLOUR_NAMES:
        assert QColor(getattr(LIGHT, name)).isValid()
        assert QColor(getattr(DARK, name)).isValid()


def test_a_chosen_scheme_is_taken_at_once(qapp: QApplication) -> None:
    theme = Theme(qapp, "light")
    seen: list[Colours] = []
    theme.changed.connect(seen.append)
    theme.choose("dark")
    assert seen == [DARK]
    assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(DARK.window)
    assert DARK.raised in qapp.styleSheet()
    theme.choose("dark")
    assert len(seen) == 1
    theme.choose("light")


def test_no_other_file_names_a_colour() -> None:
    named = {
        file.name: found
        for file in DESKTOP.rglob("*.py")
        if file.name != "theme.py" and (found := re.findall(r"#[0-9a-fA-F]{6}\b", file.read_text(encoding="utf-8")))
    }
    assert named == {}


def test_fonts_grow_in_whatever_unit_they_are_measured(qapp: QApplication) -> None:
    font = qapp.font()
    assert scaled(font, 2.0).pointSizeF() == font.pointSizeF() * 2
    font.setPixelSize(10)
    assert scaled(font, 1.5, bold=True).pixelSize() == 15


SHOWING = frozenset({
    "setText", "setWindowTitle", "setToolTip", "setPlaceholderText", "setAccessibleName", "setAccessibleDescription",
    "addAction", "addItem", "setInformativeText", "addButton", "QLabel", "QPushButton", "QCheckBox", "label", "button",
    "heading", "set_text", "say", "addMenu",
})  # fmt: skip


def test_every_visible_string_stands_in_the_words() -> None:
    found: list[str] = []
    for file in DESKTOP.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in SHOWING and node.args and isinstance(node.args[0], ast.Constant):
                text = node.args[0].value
                if isinstance(text, str) and re.search(r"[A-Za-z]{3}", text):
                    found.append(f"{file.name}: {text!r}")
    assert found == []
