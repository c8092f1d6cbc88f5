"""Turns one message into a text document: Markdown and code rendered, tool calls folded, other people's text harmless.

Nothing of a message is ever executed or fetched: HTML is shown as the characters it is, pictures are not loaded,
control and reordering characters are taken out, and very long texts are cut with a note.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from PySide6.QtCore import QByteArray, Qt, QUrl
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetrics,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
    QTextLength,
    QTextOption,
    QTextTable,
)

from desktop import format as shown
from desktop import words
from desktop.search.code_surface import code_format, is_fenced
from desktop.theme import code_font

if TYPE_CHECKING:
    from collections.abc import Collection

    from desktop.theme import Colours
    from engine.core.models.sessions import Block, MessageView

MAX_SHOWN: Final = 20_000
"""Characters of one block that are laid out: 20,000 take 15 ms here, and nobody reads more without opening the file."""

MAX_FOLDED: Final = 110
"""Characters of a folded tool call's one line."""

FOLD_SCHEME: Final = "fold"
"""Anchors `fold:3` open and close the third block."""

_FEATURES: Final = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_PICTURE: Final = re.compile(r"!\[([^\]\n]{0,300})\]\(([^)\n]{0,2000})\)")
_FENCE: Final = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Look:
    """How documents are drawn."""

    colours: Colours
    font: QFont
    width: int
    """Pixels of a line."""


class SafeDocument(QTextDocument):
    """A document that loads nothing, wherever a text points."""

    def loadResource(self, kind: int, name: QUrl | str) -> Any:  # noqa: ARG002 - Qt's signature
        """Return nothing for every picture and style sheet."""
        return QByteArray()


def empty_document(look: Look) -> SafeDocument:
    """Return a document without a margin, whose lines break wherever they must."""
    document = SafeDocument()
    document.setDefaultFont(look.font)
    document.setDocumentMargin(0)
    document.setUndoRedoEnabled(False)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    return document


def is_foldable(block: Block) -> bool:
    """Return whether a block is shown as one line until somebody opens it."""
    return block.kind in {"tool_use", "tool_result", "thinking"}


def document_of(message: MessageView, opened: Collection[int], look: Look) -> QTextDocument:
    """Return a message's document.

    Args:
        message: What was said.
        opened: Numbers of the foldable blocks that are open.
        look: Colours and font.
    """
    document = empty_document(look)
    writer = _Writer(document, look)
    for number, block in enumerate(message.blocks):
        writer.block(block, number, is_open=number in opened, is_typed=message.role == "user")
    return document


class _Writer:
    """Writes blocks into a document, one below the other."""

    def __init__(self, document: QTextDocument, look: Look) -> None:
        self._cursor = QTextCursor(document)
        self._look = look
        self._colours = look.colours
        self._started = False

    def block(self, block: Block, number: int, *, is_open: bool, is_typed: bool) -> None:
        """Write one block of a message."""
        if is_foldable(block):
            self._fold(block, number, is_open=is_open)
            if is_open:
                self._opened(block)
            return
        if block.kind == "image":
            self._note(words.search.IMAGE)
            return
        text, cut = _cut(shown.plain((block.text or "")[: MAX_SHOWN * 2]), len(block.text or ""))
        if not text.strip():
            return
        if _is_prose(text, is_typed=is_typed):
            self._markdown(text)
        else:
            self._paragraphs(text)
        self._notes(cut, block.truncated)

    def _next(self, before: float = 6.0) -> None:
        """Begin a paragraph of plain format."""
        form = QTextBlockFormat()
        form.setTopMargin(before if self._started else 0)
        form.setLineHeight(120, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        if self._started:
            self._cursor.movePosition(QTextCursor.MoveOperation.End)
            self._cursor.insertBlock(form, self._plain())
        else:
            self._cursor.setBlockFormat(form)
            self._cursor.setCharFormat(self._plain())
        self._started = True

    def _plain(self) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setFont(self._look.font)
        form.setForeground(QColor(self._colours.text))
        return form

    def _coloured(self, name: str) -> QTextCharFormat:
        form = self._plain()
        form.setForeground(QColor(name))
        return form

    def _code(self) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setFont(code_font(self._look.font))
        form.setForeground(QColor(self._colours.text))
        return form

    def _note(self, text: str) -> None:
        self._next()
        self._cursor.insertText(text, self._coloured(self._colours.faint))

    def _notes(self, cut: int, truncated: str | None) -> None:
        if cut:
            self._note(words.search.characters_more(shown.count(cut)))
        if truncated:
            self._note(shown.one_line(truncated))

    def _paragraphs(self, text: str) -> None:
        for line in text.split("\n"):
            self._next(0 if self._started else 6)
            self._cursor.insertText(line, self._plain())

    def _fold(self, block: Block, number: int, *, is_open: bool) -> None:
        self._next(2)
        anchor = self._coloured(self._colours.bad if block.is_error else self._colours.tool)
        anchor.setAnchor(True)
        anchor.setAnchorHref(f"{FOLD_SCHEME}:{number}")
        name, rest = fold_line(block)
        anchor.setFontWeight(QFont.Weight.DemiBold)
        self._cursor.insertText(f"{'▾' if is_open else '▸'} {name}", anchor)
        if rest and not is_open:
            used = QFontMetrics(anchor.font()).horizontalAdvance(f"▸ {name}") + 12
            anchor.setFont(code_font(self._look.font, 0.9))
            anchor.setForeground(QColor(self._colours.faint))
            metrics = QFontMetrics(anchor.font())
            fitting = metrics.elidedText(f"  {rest}", Qt.TextElideMode.ElideRight, self._look.width - used)
            self._cursor.insertText(fitting, anchor)

    def _opened(self, block: Block) -> None:
        if block.kind == "thinking":
            text, cut = _cut(shown.plain(block.text or ""), len(block.text or ""))
            for line in text.split("\n"):
                self._next(0)
                self._cursor.insertText(line, self._coloured(self._colours.muted))
        else:
            whole = input_text(block.input) if block.kind == "tool_use" else block.text or ""
            text, cut = _cut(shown.plain(whole[: MAX_SHOWN * 2]), len(whole))
            self._code_lines(text)
        self._notes(cut, block.truncated)

    def _code_lines(self, text: str) -> None:
        lines = text.expandtabs(4).rstrip("\n").split("\n")
        for number, line in enumerate(lines):
            self._next(4 if number == 0 else 0)
            self._cursor.setBlockFormat(
                code_format(QTextBlockFormat(), 14, is_first=number == 0, is_last=number == len(lines) - 1)
            )
            self._cursor.insertText(line, self._code())

    def _markdown(self, text: str) -> None:
        self._next()
        start = self._cursor.position()
        self._cursor.insertMarkdown(_PICTURE.sub(_picture_words, text), _FEATURES)
        self._restyle(start)

    def _restyle(self, start: int) -> None:
        """Give what Qt made of Markdown our fonts and colours."""
        document = self._cursor.document()
        block = document.findBlock(start)
        tables: set[int] = set()
        while block.isValid():
            self._restyle_block(block)
            table = cast("QTextTable | None", QTextCursor(block).currentTable())  # the stub forgets None
            if table is not None and table.firstPosition() not in tables:
                tables.add(table.firstPosition())
                self._restyle_table(table)
            block = block.next()

    def _restyle_block(self, block: QTextBlock) -> None:
        form = block.blockFormat()
        is_code = is_fenced(block)
        cursor = QTextCursor(block)
        level = form.headingLevel()
        if is_code:
            form = code_format(
                form,
                form.leftMargin(),
                is_first=not is_fenced(block.previous()) or not block.position(),
                is_last=not is_fenced(block.next()),
            )
            form.setNonBreakableLines(False)
        else:
            form.setTopMargin(0 if block.position() == 0 else 10 if level else 2 if block.textList() else 6)
            form.setBottomMargin(0)
            form.setLineHeight(120, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        cursor.setBlockFormat(form)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        if is_code:
            cursor.setCharFormat(self._code())
            return
        for place, length, char in _fragments(block):
            self._restyle_run(QTextCursor(block), place, length, char, level)

    def _restyle_run(self, cursor: QTextCursor, place: int, length: int, old: QTextCharFormat, level: int) -> None:
        new = self._plain()
        if old.fontFixedPitch() or old.fontFamilies():
            new = self._code()
            new.setBackground(QColor(self._colours.sunken))
        if level or old.fontWeight() > QFont.Weight.Normal:
            new.setFontWeight(QFont.Weight.DemiBold)
        if level == 1:
            new.setFontPointSize(new.fontPointSize() * 1.15)
        new.setFontItalic(old.fontItalic())
        new.setFontStrikeOut(old.fontStrikeOut())
        if old.isAnchor():
            new.setAnchor(True)
            new.setAnchorHref(old.anchorHref())
            new.setToolTip(old.anchorHref())
            new.setForeground(QColor(self._colours.accent))
        cursor.setPosition(place)
        cursor.setPosition(place + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.setCharFormat(new)

    def _restyle_table(self, table: QTextTable) -> None:
        form = table.format()
        form.setBorderCollapse(True)
        form.setBorder(1)
        form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        form.setBorderBrush(QBrush(QColor(self._colours.border)))
        form.setCellPadding(4)
        form.setCellSpacing(0)
        form.setTopMargin(6)
        form.setBottomMargin(6)
        form.setWidth(QTextLength())
        table.setFormat(form)


def _fragments(block: QTextBlock) -> list[tuple[int, int, QTextCharFormat]]:
    """Return the runs of one format in a block: place, length, format. Read before anything is changed."""
    runs: list[tuple[int, int, QTextCharFormat]] = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        if fragment.isValid():
            runs.append((fragment.position(), fragment.length(), fragment.charFormat()))
        iterator += 1
    return runs


def fold_line(block: Block) -> tuple[str, str]:
    """Return what a folded block says: a name, and the beginning of what is inside."""
    if block.kind == "thinking":
        return words.search.THINKING, shown.one_line(block.text or "", MAX_FOLDED)
    if block.kind == "tool_use":
        return shown.one_line(block.tool or words.search.TOOL, 60), tool_summary(block.input)
    text = block.text or ""
    lines = text.count("\n") + 1 if text else 0
    return (words.search.FAILED_RESULT if block.is_error else words.search.result(lines)), shown.one_line(
        text, MAX_FOLDED
    )


def tool_summary(value: Any) -> str:
    """Return the one argument of a tool that says most."""
    if not isinstance(value, dict):
        return ""
    arguments = cast("dict[str, Any]", value)
    for name in ("command", "file_path", "path", "pattern", "query", "url", "description", "prompt"):
        if isinstance(arguments.get(name), str):
            return shown.one_line(arguments[name], MAX_FOLDED)
    return shown.one_line(json.dumps(arguments, ensure_ascii=False, default=str), MAX_FOLDED)


def input_text(value: Any) -> str:
    """Return a tool's input to read: a command as it is, anything else as its fields."""
    if not isinstance(value, dict):
        return "" if value is None else str(value)
    arguments = cast("dict[str, Any]", value)
    if isinstance(arguments.get("command"), str):
        rest = {name: each for name, each in arguments.items() if name not in {"command", "description"}}
        more = "\n" + json.dumps(rest, ensure_ascii=False, indent=2, default=str) if rest else ""
        return f"{arguments['command']}{more}"
    pieces: list[str] = []
    for name, each in arguments.items():
        if isinstance(each, str) and "\n" in each:
            pieces.append(f"{name}:\n{each}")
        else:
            pieces.append(
                f"{name}: {each if isinstance(each, str) else json.dumps(each, ensure_ascii=False, default=str)}"
            )
    return "\n".join(pieces)


def plain_text(message: MessageView) -> str:
    """Return what a message says, to copy: its text, or what its tools were told and answered."""
    pieces: list[str] = []
    for block in message.blocks:
        if block.kind == "tool_use":
            pieces.append(input_text(block.input))
        elif block.text:
            pieces.append(block.text)
    return shown.plain("\n\n".join(pieces))


def _is_prose(text: str, *, is_typed: bool) -> bool:
    """Return whether a text is read as Markdown: what a person typed keeps its lines unless it holds code."""
    if is_typed and not _FENCE.search(text):
        return False
    # One endless line is a paste; a parser gains nothing there.
    return max((len(line) for line in text.split("\n")), default=0) < 8000


def _picture_words(match: re.Match[str]) -> str:
    return f"[{words.search.picture(match[1] or match[2][:60])}]".replace("[[", "[")


def _cut(text: str, whole: int) -> tuple[str, int]:
    if len(text) <= MAX_SHOWN:
        return text, max(0, whole - len(text)) if whole > MAX_SHOWN * 2 else 0
    return text[:MAX_SHOWN], whole - MAX_SHOWN
