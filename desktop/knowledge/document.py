"""The page of one record as a text document: what it says, its standing, what it names, and the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from PySide6.QtGui import (
    QColor,
    QFont,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextDocumentFragment,
)

from desktop import format as shown
from desktop import words
from desktop.knowledge.rows import day_text, moment_text, standing_of
from desktop.search.document import document_of, empty_document
from desktop.theme import scaled
from engine.core.models.sessions import Block, MessageView

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from zoneinfo import ZoneInfo

    from desktop.knowledge.asking import Page
    from desktop.search.document import Look

RECORD_SCHEME: Final = "record"
"""Anchors `record:k_…` open another record."""

EVIDENCE_LINES: Final = 6
_IDS: Final = ("supersededBy", "mergedInto", "supersedes")
_NAMED: Final = ("from", "to", "owner", "entities", "sources", "dependencies")
_DATES: Final = ("occurredAt", "dueAt", "validUntil")

Run = tuple[str, str, str]
"""Text, colour, and the id of a record it leads to (empty: none)."""


def record_document(page: Page, look: Look, zone: ZoneInfo) -> QTextDocument:
    """Return the page of a record.

    Args:
        page: The record and what it names.
        look: Colours and font.
        zone: Of moments.
    """
    document = empty_document(look)
    writer = _Writer(document, look)
    record = page.record
    writer.title(shown.one_line(str(record.get("title") or record.get("path") or record.get("id"))))
    writer.line(tuple(_standing(page, look)), above=2)
    body = str(record.get("body") or "").strip()
    if body:
        writer.markdown(body)
    rows = list(_details(page, look, zone))
    for number, (name, runs) in enumerate(rows):
        writer.detail(name, runs, above=12 if number == 0 else 2)
    _findings(writer, record, look)
    _evidence(writer, record, look)
    _known(writer, page, look)
    return document


class _Writer:
    """Writes paragraphs one below the other."""

    def __init__(self, document: QTextDocument, look: Look) -> None:
        self._cursor = QTextCursor(document)
        self._look = look
        self._started = False

    def title(self, text: str) -> None:
        self._next(0)
        form = self._form(self._look.colours.text)
        form.setFont(scaled(self._look.font, 1.35, bold=True))
        self._cursor.insertText(text, form)

    def heading(self, text: str) -> None:
        self._next(16)
        form = self._form(self._look.colours.text)
        form.setFontWeight(QFont.Weight.DemiBold)
        self._cursor.insertText(text, form)

    def line(self, runs: tuple[Run, ...], *, above: float = 4, left: float = 0, italic: bool = False) -> None:
        self._next(above, left)
        for text, name, leads_to in runs:
            form = self._form(name)
            form.setFontItalic(italic)
            if leads_to:
                form.setAnchor(True)
                form.setAnchorHref(f"{RECORD_SCHEME}:{leads_to}")
                form.setForeground(QColor(self._look.colours.accent))
            self._cursor.insertText(text, form)

    def detail(self, name: str, runs: tuple[Run, ...], *, above: float) -> None:
        self.line(((f"{name}  ", self._look.colours.faint, ""), *runs), above=above)

    def markdown(self, text: str) -> None:
        """Write other people's Markdown as the search window does: nothing in it is fetched or run."""
        message = MessageView(
            message_uuid="",
            session_id="",
            timestamp=None,
            role="assistant",
            is_sidechain=False,
            source="transcript",
            blocks=(Block(kind="text", text=text),),
        )
        self._next(10)
        self._cursor.insertFragment(QTextDocumentFragment(document_of(message, (), self._look)))
        self._cursor.movePosition(QTextCursor.MoveOperation.End)

    def _form(self, name: str) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setFont(self._look.font)
        form.setForeground(QColor(name))
        return form

    def _next(self, above: float, left: float = 0) -> None:
        form = QTextBlockFormat()
        form.setTopMargin(above if self._started else 0)
        form.setLeftMargin(left)
        form.setLineHeight(120, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        if self._started:
            self._cursor.movePosition(QTextCursor.MoveOperation.End)
            self._cursor.insertBlock(form, QTextCharFormat())
        else:
            self._cursor.setBlockFormat(form)
        self._started = True


def _named(name: str, page: Page, look: Look) -> Run:
    title = page.titles.get(name)
    if title is None:
        return (shown.one_line(name), look.colours.text, "")
    return (shown.one_line(title), look.colours.accent, name)


def _standing(page: Page, look: Look) -> Iterator[Run]:
    colours, record = look.colours, page.record
    kind = str(record.get("type") or record.get("kind") or "")
    yield (" · ".join(part for part in (shown.one_line(kind), str(record.get("id") or "")) if part), colours.tool, "")
    flags = ", ".join(str(each) for each in record.get("flags", ()))
    for text, name in ((flags, colours.bad), (standing_of(record), colours.warning)):
        if text:
            yield (f" · {shown.one_line(text)}", name, "")


def _details(page: Page, look: Look, zone: ZoneInfo) -> Iterator[tuple[str, tuple[Run, ...]]]:
    record, text = page.record, look.colours.text
    for key in _IDS:
        if record.get(key):
            yield words.knowledge.RECORD_FIELDS[key], _names(record[key], page, look)
    if record.get("lifecycleChange"):
        change = record["lifecycleChange"]
        said = words.knowledge.said_how(
            shown.one_line(str(change.get("reason", "")), 600), moment_text(str(change.get("at", "")), zone)
        )
        yield words.knowledge.RECORD_FIELDS["change"], ((said, text, ""),)
    for key in _DATES:
        if record.get(key):
            yield words.knowledge.RECORD_FIELDS[key], ((moment_text(str(record[key]), zone), text, ""),)
    if record.get("attribution"):
        yield words.knowledge.RECORD_FIELDS["said"], _said(page, look)
    for key in _NAMED:
        if record.get(key):
            yield words.knowledge.RECORD_FIELDS[key], _names(record[key], page, look)
    for name, said in _own_fields(record, zone):
        yield name, ((said, look.colours.muted if name == words.knowledge.RECORD_FIELDS["path"] else text, ""),)


def _own_fields(record: Mapping[str, Any], zone: ZoneInfo) -> Iterator[tuple[str, str]]:
    """Yield the fields of a page's type, its aliases, tags, date of recording and file."""
    fields = cast("dict[str, object]", record.get("fields") or {})
    for name, value in fields.items():
        if name != "occurred_at":  # stands above as the record's date
            yield shown.one_line(name).replace("_", " ").capitalize(), _listed(value)
    if record.get("aliases"):
        yield words.knowledge.RECORD_FIELDS["aliases"], _listed(record["aliases"])
    if record.get("tags"):
        tags = " ".join(words.knowledge.tag(str(each)) for each in record["tags"])
        yield words.knowledge.RECORD_FIELDS["tags"], shown.one_line(tags, 600)
    if record.get("recordedAt"):
        yield words.knowledge.RECORD_FIELDS["recordedAt"], day_text(str(record["recordedAt"]), zone)
    if record.get("path"):
        yield words.knowledge.RECORD_FIELDS["path"], shown.one_line(str(record["path"]), 400)


def _listed(value: object) -> str:
    several = cast("list[object]", value) if isinstance(value, list) else [value]
    return shown.one_line(", ".join(str(each) for each in several), 600)


def _names(value: Any, page: Page, look: Look) -> tuple[Run, ...]:
    listed = cast("list[object]", value) if isinstance(value, list) else [value]
    runs: list[Run] = []
    for number, each in enumerate(listed):
        if number:
            runs.append((", ", look.colours.muted, ""))
        runs.append(_named(str(each), page, look))
    return tuple(runs)


def _said(page: Page, look: Look) -> tuple[Run, ...]:
    said = page.record["attribution"]
    how = [str(each) for each in (said.get("via"), page.record.get("assertionOrigin")) if each]
    by = _named(str(said["by"]), page, look)
    return (by, (f" ({shown.one_line(', '.join(how))})", look.colours.muted, "")) if how else (by,)


def _findings(writer: _Writer, record: Mapping[str, Any], look: Look) -> None:
    issues = [str(each.get("message") or each.get("code")) for each in record.get("issues", ())]
    if record.get("problem"):
        issues.append(str(record["problem"]))
    if issues:
        writer.heading(words.knowledge.FINDINGS)
    for each in dict.fromkeys(issues):
        writer.line(((shown.one_line(each, 600), look.colours.bad, ""),))


def _evidence(writer: _Writer, record: Mapping[str, Any], look: Look) -> None:
    colours = look.colours
    if record.get("evidence"):
        writer.heading(words.knowledge.EVIDENCE)
    for cited in record.get("evidence", ()):
        is_verified = cited.get("state") == "verified"
        mark = (
            f"{words.shared.MARKS['ok' if is_verified else 'error']} ",
            colours.good if is_verified else colours.bad,
            "",
        )
        around = shown.plain(str(cited.get("text") or "")).strip()
        said = str(cited.get("quote") or "").strip() or around
        quoted = words.knowledge.quoted(shown.one_line(said, 1000)) if said else shown.one_line(str(cited.get("id")))
        writer.line((mark, (quoted, colours.text, "")), above=8)
        state = words.knowledge.EVIDENCE_STATES.get(str(cited.get("state")), str(cited.get("state")))
        origin = " · ".join(part for part in (state, *_origin(cited)) if part)
        writer.line(
            ((shown.one_line(origin, 400), colours.muted if is_verified else colours.bad, ""),), above=1, left=16
        )
        if around and around != said:
            for text in around.splitlines()[:EVIDENCE_LINES]:
                writer.line(((shown.one_line(text, 400), colours.muted, ""),), above=1, left=16, italic=True)


def _origin(cited: Mapping[str, Any]) -> Iterator[str]:
    yield str(cited.get("attribution") or "")
    yield str(cited.get("filename") or "")
    lines = cited.get("lines")
    if lines:
        yield words.knowledge.lines_of(int(lines[0]), int(lines[1]))
    if cited.get("transcript"):
        yield words.knowledge.TRANSCRIPT_STATES.get(str(cited["transcript"]), str(cited["transcript"]))


def _known(writer: _Writer, page: Page, look: Look) -> None:
    if page.known:
        writer.heading(words.knowledge.KNOWN_ABOUT_IT)
    for row in page.known:
        when = (f"{row.when}  ", look.colours.faint, "")
        writer.line((when, (row.title, look.colours.accent, row.id)), above=3)
