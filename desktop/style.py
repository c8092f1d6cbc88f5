"""The style sheet of all windows, made from the colours of a scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desktop.theme import Colours


def style_sheet(c: Colours, icons: str, line: int) -> str:
    """Return the style sheet for one scheme. Widgets are addressed by object name or by the property `kind`.

    Args:
        c: The scheme.
        icons: The folder of the drawings, with forward slashes.
        line: Pixels of a field's text, which a narrow window must not cut.
    """
    scheme = "dark" if c.is_dark else "light"  # a style sheet cannot colour a drawing
    return f"""
QToolTip {{ background: {c.raised}; color: {c.text}; border: 1px solid {c.border}; padding: 4px 6px; }}
QMenu {{ background: {c.raised}; color: {c.text}; border: 1px solid {c.border}; padding: 5px; }}
QMenu::item {{ padding: 6px 28px 6px 12px; border-radius: 5px; }}
QMenu::item:selected {{ background: {c.selection}; }}
QMenu::item:disabled {{ color: {c.muted}; }}
QMenu::separator {{ height: 1px; background: {c.border}; margin: 5px 8px; }}

#frame {{ background: {c.window}; border: 1px solid {c.border}; border-radius: 12px; }}
#searchField {{ background: transparent; border: none; padding: 0; color: {c.text};
    selection-background-color: {c.accent}; selection-color: {c.on_accent}; }}
#bar {{ background: transparent; border-bottom: 1px solid {c.border}; }}
#footer {{ background: {c.sunken}; border-top: 1px solid {c.border};
    border-bottom-left-radius: 11px; border-bottom-right-radius: 11px; }}
#preview {{ border-left: 1px solid {c.border}; background: transparent; }}
#previewHead {{ border-bottom: 1px solid {c.border}; }}

QListView#hits, QListView#actionList {{ background: transparent; border: none; outline: none; }}
QListView#hits {{ padding: 5px 0; }}
QListView#completions {{ background: {c.raised}; border: 1px solid {c.border}; outline: none; padding: 4px; }}
QListView#completions::item {{ padding: 5px 8px; border-radius: 5px; color: {c.text}; }}
QListView#completions::item:selected {{ background: {c.selection}; color: {c.text}; }}
#overlay {{ background: {c.raised}; border: 1px solid {c.border}; border-radius: 10px; }}
#overlay QLineEdit {{ background: {c.sunken}; }}
#toast {{ background: {c.text}; color: {c.window}; border-radius: 8px; padding: 7px 14px; }}
#notice {{ background: {c.sunken}; border-bottom: 1px solid {c.border}; }}

QLabel[kind="muted"] {{ color: {c.muted}; }}
QLabel[kind="faint"] {{ color: {c.faint}; }}
QLabel[kind="good"] {{ color: {c.good}; }}
QLabel[kind="warning"] {{ color: {c.warning}; }}
QLabel[kind="bad"] {{ color: {c.bad}; }}
QLabel[kind="key"] {{ background: {c.sunken}; color: {c.muted}; border: 1px solid {c.border};
    border-radius: 4px; padding: 0 5px; }}

QFrame[kind="card"] {{ background: {c.raised}; border: 1px solid {c.border}; border-radius: 10px; }}
QFrame[kind="line"] {{ background: {c.border}; border: none; max-height: 1px; min-height: 1px; }}

QPushButton {{ background: {c.raised}; color: {c.text}; border: 1px solid {c.border}; border-radius: 7px;
    padding: 6px 14px; }}
QPushButton:hover {{ background: {c.hover}; }}
QPushButton:pressed {{ background: {c.selection}; }}
QPushButton:focus {{ border-color: {c.accent}; }}
QPushButton:disabled {{ color: {c.faint}; background: {c.window}; }}
QPushButton[kind="primary"] {{ background: {c.accent}; color: {c.on_accent}; border-color: {c.accent}; }}
QPushButton[kind="primary"]:focus {{ border-color: {c.text}; }}
QPushButton[kind="primary"]:disabled {{ background: {c.sunken}; color: {c.faint}; border-color: {c.border}; }}
QPushButton[kind="link"] {{ background: transparent; border: 1px solid transparent; color: {c.accent};
    padding: 2px 4px; }}
QPushButton[kind="link"]:focus {{ border-color: {c.accent}; }}
QPushButton[kind="danger"] {{ color: {c.bad}; }}
QPushButton[kind="chip"] {{ background: {c.chip}; color: {c.on_chip}; border: 1px solid transparent;
    border-radius: 8px; padding: 2px 8px; }}
QPushButton[kind="chip"]:focus {{ border-color: {c.accent}; }}
QPushButton[kind="chip"][wrong="true"] {{ color: {c.bad}; border-color: {c.bad}; }}
QPushButton[kind="mode"] {{ background: transparent; color: {c.muted}; border: 1px solid transparent;
    border-radius: 6px; padding: 2px 8px; }}
QPushButton[kind="mode"]:hover {{ background: {c.hover}; }}
QPushButton[kind="mode"]:checked {{ background: {c.chip}; color: {c.on_chip}; }}
QPushButton[kind="mode"]:focus {{ border-color: {c.accent}; }}

QLineEdit, QPlainTextEdit {{ background: {c.raised}; color: {c.text};
    border: 1px solid {c.border}; border-radius: 6px; padding: 5px 8px;
    selection-background-color: {c.accent}; selection-color: {c.on_accent}; }}
QLineEdit:focus, QPlainTextEdit:focus {{ border-color: {c.accent}; }}
QComboBox, QAbstractSpinBox {{ background: {c.raised}; color: {c.text}; border: 1px solid {c.border};
    border-radius: 6px; padding: 3px 4px 3px 8px; min-height: {line}px;
    selection-background-color: {c.accent}; selection-color: {c.on_accent}; }}
QAbstractSpinBox QLineEdit {{ background: transparent; border: none; padding: 0; }}
QComboBox:hover, QAbstractSpinBox:hover {{ background: {c.hover}; }}
QComboBox:focus, QAbstractSpinBox:focus {{ border-color: {c.accent}; }}
QComboBox:disabled, QAbstractSpinBox:disabled {{ color: {c.faint}; background: {c.window}; }}
QComboBox::drop-down, QDateEdit::drop-down {{ border: none; width: 22px; }}
QComboBox::down-arrow, QDateEdit::down-arrow, QAbstractSpinBox::down-arrow {{
    image: url("{icons}/down-{scheme}.svg"); width: 12px; height: 12px; }}
QAbstractSpinBox::up-arrow {{ image: url("{icons}/up-{scheme}.svg"); width: 12px; height: 12px; }}
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {{
    border: none; background: transparent; width: 20px; }}
QSpinBox::up-button:hover, QSpinBox::down-button:hover, QDoubleSpinBox::up-button:hover,
QDoubleSpinBox::down-button:hover {{ background: {c.selection}; border-radius: 4px; }}
QComboBox QAbstractItemView {{ background: {c.raised}; color: {c.text}; border: 1px solid {c.border}; padding: 4px;
    outline: none; selection-background-color: {c.selection}; selection-color: {c.text}; }}
QComboBox QAbstractItemView::item {{ min-height: {line + 2}px; padding: 0 6px; border-radius: 4px; }}
QCheckBox {{ spacing: 8px; }}
QCheckBox::indicator {{ width: 15px; height: 15px; border: 1px solid {c.faint}; border-radius: 4px;
    background: {c.raised}; }}
QCheckBox::indicator:focus {{ border-color: {c.accent}; }}
QCheckBox::indicator:checked {{ background: {c.accent}; border-color: {c.accent}; image: url("{icons}/checked.svg"); }}

QListWidget#pages {{ background: {c.sunken}; border: none; border-right: 1px solid {c.border}; outline: none;
    padding: 10px 8px; }}
QListWidget#pages::item {{ padding-left: 10px; border-radius: 6px; color: {c.text}; }}
QListWidget#pages::item:selected {{ background: {c.selection}; color: {c.text}; }}
QListWidget#pages:focus {{ border-right-color: {c.accent}; }}
QTableView {{ background: transparent; alternate-background-color: {c.hover}; border: 1px solid transparent;
    border-radius: 6px; outline: none;
    selection-background-color: {c.selection}; selection-color: {c.text}; }}
QTableView::item {{ padding: 0 6px; border: none; }}
QTableView::item:selected {{ background: {c.selection}; color: {c.text}; }}
QHeaderView {{ background: transparent; border: none; }}
QHeaderView::section {{ background: {c.window}; color: {c.muted}; border: none; border-bottom: 1px solid {c.border};
    padding: 5px 6px; }}
QAbstractScrollArea::corner {{ background: transparent; border: none; }}
QTextBrowser {{ background: transparent; border: 1px solid transparent; border-radius: 6px; }}
QTextBrowser:focus, QTableView:focus, QScrollArea:focus {{ border-color: {c.accent}; }}
QProgressBar {{ background: {c.sunken}; border: none; border-radius: 3px; }}
QProgressBar::chunk {{ background: {c.accent}; border-radius: 3px; }}
QScrollArea {{ background: transparent; border: 1px solid transparent; border-radius: 6px; }}
QScrollArea[kind="window"] {{ border: none; }}
#page {{ background: transparent; }}

QScrollBar:vertical {{ background: transparent; width: 10px; margin: 2px; }}
QScrollBar::handle:vertical {{ background: {c.border}; border-radius: 3px; min-height: 28px; }}
QScrollBar::handle:vertical:hover {{ background: {c.faint}; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 2px; }}
QScrollBar::handle:horizontal {{ background: {c.border}; border-radius: 3px; min-width: 28px; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QSplitter::handle {{ background: transparent; }}
"""
