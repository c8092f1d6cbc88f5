"""The reader: a list of records (found, dated, or of a day) on the left, the chosen one on the right. Read-only."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from PySide6.QtCore import QDate, QItemSelectionModel, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QDateEdit,
    QFrame,
    QHBoxLayout,
    QListView,
    QSplitter,
    QStackedWidget,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from desktop import words
from desktop.errors import log_bug, trouble_of
from desktop.knowledge.asking import Listing, Page, Question, View, is_entity, listing, page
from desktop.knowledge.document import RECORD_SCHEME, record_document
from desktop.knowledge.field import Field
from desktop.knowledge.model import ROW_ROLE, RecordDelegate, RecordsModel
from desktop.knowledge.rows import RecordRow
from desktop.search.document import Look
from desktop.widgets import Choice, PlainWindow, button, label, set_kind
from engine.core.zone import zone_of
from engine.knowledge.manifest import StoreLayout, store_exists

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QShowEvent, QTextDocument

    from desktop.history import History
    from desktop.services import Services

TYPING_MS: Final = 150
"""After a key, before it is searched."""


class KnowledgeWindow(PlainWindow):
    """Reads Knowledge."""

    def __init__(self, services: Services) -> None:
        super().__init__(words.knowledge.TITLE, QSize(960, 640))
        self._services = services
        self._history: History | None = None
        self._zone = zone_of(services.host.settings.time_zone)
        self._lists, self._pages = services.tasks.lane(), services.tasks.lane()
        self._listing = Listing(())
        self.page: Page | None = None
        self._trail: list[str] = []
        self._document: QTextDocument | None = None
        self.views = Choice(words.knowledge.VIEWS, words.knowledge.VIEW)
        self.views.chosen.connect(self._view_chosen)
        self.field = Field()
        self.field.stepped.connect(self.move_selection)
        self.field.textChanged.connect(self._typed)
        self.days = self._day_row()
        self.model = RecordsModel()
        self.model.more_wanted.connect(self._load_more)
        self.list = self._list()
        self.state = label("", "muted", wrap=True)
        self.state.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.state.setMargin(24)
        self.count = label(kind="faint")
        self.body = QTextBrowser()
        self.body.setOpenLinks(False)
        self.body.setAccessibleName(words.knowledge.RECORD)
        self.body.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.body.viewport().setAutoFillBackground(False)
        self.body.anchorClicked.connect(self._link)
        self.hint = label(words.knowledge.CHOOSE, "faint", wrap=True)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.back = button(words.shared.BACK, self.go_back, "link")
        self.timeline = button(words.knowledge.TIMELINE, self._show_timeline, "link")
        self.cite = button(words.knowledge.COPY, self.copy_citation, "link")
        self.edit = button(words.knowledge.EDITOR, self.open_editor, "link")
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_MS)
        self._typing.timeout.connect(self.load)
        self._lay_out()
        services.theme.changed.connect(self._recoloured)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self._focus_field)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Back), self, self.go_back)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Refresh), self, self.load)
        self._view_chosen("search")

    def attach(self, history: History | None) -> None:
        """Ask this engine from now on."""
        self._history = history
        self._zone = zone_of(self._services.host.settings.time_zone)
        self.load()

    def showEvent(self, event: QShowEvent) -> None:
        """Read when somebody looks: records are written by others."""
        super().showEvent(event)
        self._focus_field()
        self.load()

    # Laying out ----------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.faces = QStackedWidget()
        self.faces.addWidget(self.list)
        self.faces.addWidget(self.state)
        left = QWidget()
        box = QVBoxLayout(left)
        box.setContentsMargins(16, 16, 8, 12)
        box.setSpacing(8)
        views = QHBoxLayout()
        views.addWidget(self.views)
        views.addStretch(1)
        box.addLayout(views)
        box.addWidget(self.field)
        box.addWidget(self.days)
        box.addWidget(self.faces, 1)
        box.addWidget(self.count)
        bar = QHBoxLayout()
        bar.addWidget(self.back)
        bar.addStretch(1)
        for each in (self.timeline, self.cite, self.edit):
            bar.addWidget(each)
        self.sides = QStackedWidget()
        self.sides.addWidget(self.hint)
        self.sides.addWidget(self.body)
        right = QFrame()
        right.setObjectName("preview")
        box = QVBoxLayout(right)
        box.setContentsMargins(16, 12, 16, 12)
        box.setSpacing(8)
        box.addLayout(bar)
        box.addWidget(self.sides, 1)
        split = QSplitter()
        split.setChildrenCollapsible(False)
        split.addWidget(left)
        split.addWidget(right)
        split.setSizes([400, 560])
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(split)
        self._show_actions()

    def _day_row(self) -> QWidget:
        today = datetime.fromtimestamp(self._services.now()).astimezone(self._zone).date()
        self.day = QDateEdit(QDate(today.year, today.month, today.day))
        self.day.setCalendarPopup(True)
        self.day.setDisplayFormat("ddd d MMM yyyy")
        self.day.setAccessibleName(words.knowledge.DATE)
        self.week = QCheckBox(words.knowledge.WEEK)
        self.earlier = button(words.knowledge.STEP_BACK, lambda: self._step(-1))
        self.later = button(words.knowledge.STEP_ON, lambda: self._step(1))
        for each, name in ((self.earlier, words.knowledge.EARLIER), (self.later, words.knowledge.LATER_DAY)):
            each.setAccessibleName(name)
            each.setToolTip(name)
            each.setFixedWidth(34)
        self.day.dateChanged.connect(self._reload)
        self.week.toggled.connect(self._reload)
        made = QWidget()
        row = QHBoxLayout(made)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.earlier)
        row.addWidget(self.day, 1)
        row.addWidget(self.later)
        row.addWidget(self.week)
        return made

    def _list(self) -> QListView:
        made = QListView()
        made.setObjectName("hits")
        made.setAccessibleName(words.knowledge.LIST)
        made.setModel(self.model)
        made.setItemDelegate(RecordDelegate(self._services.theme))
        made.setMouseTracking(True)
        made.setUniformItemSizes(False)
        made.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        made.selectionModel().currentChanged.connect(self._chosen)
        return made

    # The list ------------------------------------------------------------------------------------------------------

    @property
    def question(self) -> Question:
        """What the list is to show."""
        view = cast("View", self.views.key)
        return Question(view, self.field.text().strip(), self._day().isoformat(), self.week.isChecked())

    def load(self) -> None:
        """Ask for the list anew."""
        self._typing.stop()
        history, question, zone = self._history, self.question, self._zone
        if history is None:
            self._say(words.knowledge.NO_ENGINE)
            return
        if not self.isVisible():
            return
        layout = StoreLayout(self._services.paths.knowledge)

        def ask(_cancelled: object) -> Listing:
            if not store_exists(layout):
                return Listing((), empty=words.shared.NO_RECORDS)
            return listing(history, question, zone)

        if not self.model.rows:
            self._say(words.shared.LOADING)
        self._lists.run(ask, self._listed, self._list_failed)

    def _load_more(self) -> None:
        history, question, before, zone = self._history, self.question, self._listing, self._zone
        if history is None or before.next_offset is None:
            return
        offset, snapshot = before.next_offset, before.snapshot
        self._lists.run(
            lambda _: listing(history, question, zone, offset=offset, snapshot=snapshot),
            self._more_listed,
            self._list_failed,
        )

    def _listed(self, found: Listing) -> None:
        self._listing = found
        chosen = None if self.page is None else self.page.record.get("id")
        self.model.set_rows(found.rows, has_more=found.next_offset is not None)
        if not found.rows:
            self._say(found.empty)
        self.faces.setCurrentIndex(0 if found.rows else 1)
        self._show_count()
        at = self.model.row_of(str(chosen)) if chosen else None
        if at is not None:
            self.list.selectionModel().setCurrentIndex(
                self.model.index(at), QItemSelectionModel.SelectionFlag.ClearAndSelect
            )

    def _more_listed(self, found: Listing) -> None:
        self._listing = found
        self.model.add_rows(found.rows, has_more=found.next_offset is not None)
        self._show_count()

    def _show_count(self) -> None:
        records = sum(isinstance(row, RecordRow) for row in self.model.rows)
        parts = [words.knowledge.records_of(records, max(self._listing.total, records))] if records else []
        if self._listing.issues:
            parts.append(words.knowledge.incomplete_store(self._listing.issues))
        self.count.setText(" · ".join(parts))
        self.count.setWordWrap(True)
        set_kind(self.count, "warning" if self._listing.issues else "faint")

    def _list_failed(self, error: Exception) -> None:
        log_bug(error)
        trouble = trouble_of(error)
        self._say(f"{trouble.title}.\n\n{trouble.text}".strip(), "warning")

    def _say(self, text: str, kind: str = "muted") -> None:
        """Show a sentence in place of the list."""
        self.model.set_rows(())
        self.count.setText("")
        self.state.setText(text)
        set_kind(self.state, kind)
        self.faces.setCurrentIndex(1)

    def move_selection(self, step: int) -> None:
        """Move the selection, over headings."""
        at = self.list.currentIndex().row() + step
        while 0 <= at < len(self.model.rows):
            if isinstance(self.model.rows[at], RecordRow):
                self.list.setCurrentIndex(self.model.index(at))
                return
            at += step

    def _view_chosen(self, view: str) -> None:
        is_typing = self.field.hasFocus()
        self.days.setVisible(view == "day")
        if is_typing and view == "day":
            # Qt would give the keyboard to whatever comes next, which is at the other side.
            self.day.setFocus()
        self.field.setVisible(view != "day")
        name = words.knowledge.ENTITY if view == "timeline" else words.knowledge.HINT
        self.field.setPlaceholderText(name)
        self.field.setAccessibleName(name)
        self.load()

    def _typed(self, _text: str) -> None:
        self._typing.start()

    def _reload(self, _value: object = None) -> None:
        self.load()

    def _focus_field(self) -> None:
        if self.field.isVisible():
            self.field.setFocus()
            self.field.selectAll()

    def _day(self) -> date:
        chosen = self.day.date()
        return date(chosen.year(), chosen.month(), chosen.day())

    def _step(self, days: int) -> None:
        day = self._day() + timedelta(days=days * (7 if self.week.isChecked() else 1))
        self.day.setDate(QDate(day.year, day.month, day.day))

    # The record ----------------------------------------------------------------------------------------------------

    def _chosen(self, current: QModelIndex, _previous: object) -> None:
        row: Any = current.data(ROW_ROLE)
        if isinstance(row, RecordRow) and (self.page is None or self.page.record.get("id") != row.id):
            self._trail.clear()
            self.read(row.id)

    def read(self, name: str) -> None:
        """Show a record."""
        history, zone = self._history, self._zone
        if history is not None:
            self._pages.run(lambda _: page(history, name, zone), self._show_page, self._page_failed)

    def go_back(self) -> None:
        """Show the record from which a link led here."""
        if self._trail:
            self.read(self._trail.pop())

    def _show_page(self, found: Page) -> None:
        self.page = found
        self._draw()
        self.sides.setCurrentIndex(1)
        self._show_actions()

    def _page_failed(self, error: Exception) -> None:
        log_bug(error)
        trouble = trouble_of(error)
        self.page = None
        self.hint.setText(f"{trouble.title}.\n\n{trouble.text}".strip())
        self.sides.setCurrentIndex(0)
        self._show_actions()

    def _draw(self) -> None:
        if self.page is None:
            return
        theme = self._services.theme
        look = Look(theme.colours, theme.font(), max(200, self.body.viewport().width()))
        document = record_document(self.page, look, self._zone)
        document.setParent(self.body)
        self.body.setDocument(document)
        # The view deletes the empty one it was born with, and none of ours.
        if self._document is not None:
            self._document.deleteLater()
        self._document = document

    def _show_actions(self) -> None:
        record: Mapping[str, Any] = {} if self.page is None else self.page.record
        self.back.setVisible(bool(self._trail))
        self.timeline.setVisible(is_entity(record))
        self.cite.setVisible(bool(record))
        self.edit.setVisible(bool(record.get("path")))

    def _link(self, url: QUrl) -> None:
        if url.scheme() == RECORD_SCHEME:
            if self.page is not None and self.page.record.get("id"):
                self._trail.append(str(self.page.record["id"]))
            self.read(url.path())
        else:
            self._services.opener.link(url.toString())

    def _show_timeline(self) -> None:
        if self.page is not None:
            name = str(self.page.record["id"])
            self.field.setText(name)
            self.views.choose("timeline")

    def copy_citation(self) -> None:
        """Copy title, id and file."""
        if self.page is None:
            return
        record = self.page.record
        text = words.knowledge.record_citation(*(str(record.get(key) or "") for key in ("title", "id", "path")))
        QGuiApplication.clipboard().setText(text)
        self.cite.setText(words.shared.COPIED)
        QTimer.singleShot(1000, self, partial(self.cite.setText, words.knowledge.COPY))

    def open_editor(self) -> None:
        """Open the record's file in the person's own editor."""
        path = None if self.page is None else self.page.record.get("path")
        if path:
            self._services.opener.file(self._services.paths.knowledge / "vault" / str(path))

    def _recoloured(self, _colours: object) -> None:
        self._draw()
        self.list.viewport().update()
