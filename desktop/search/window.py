"""The search window: puts field, list, preview, session and footer together, and gives every key its action."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QItemSelectionModel, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QListView, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from desktop import words
from desktop.search import query as typed
from desktop.search.actions import ACTIONS, combined
from desktop.search.deeds import Deeds
from desktop.search.delegate import RowDelegate
from desktop.search.empty import EmptyPage
from desktop.search.field import SearchBar
from desktop.search.floating import FloatingWindow
from desktop.search.footer import Footer
from desktop.search.model import ROW_ROLE, RowsModel
from desktop.search.overlay import ActionList, KeyHelp, Toast
from desktop.search.preview import Preview
from desktop.search.report import emptiness
from desktop.search.rows import HitRow, SessionItem
from desktop.search.session import SessionView
from desktop.widgets import label

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtCore import QItemSelection

    from desktop.errors import Trouble
    from desktop.history import History
    from desktop.opener import Opener
    from desktop.search.controller import SearchController
    from desktop.search.memory import MemoryFile, Remembered
    from desktop.search.report import Report
    from desktop.search.rows import Row
    from desktop.tasks import Tasks
    from desktop.theme import Theme

FORGET_S: Final = 90.0
"""How long the last query stays in a hidden window (desktop.md)."""
NARROW: Final = 700
"""Below this width there is no room for a preview."""

_BY_KEY: Final = {combined(key): action for action in ACTIONS for key in action.keys}


class SearchWindow(FloatingWindow):
    """What the hotkey shows."""

    wanted = Signal(str)
    """Something beyond this window: `status`, `settings`, `quit`, `sample`."""

    def __init__(
        self,
        *,
        theme: Theme,
        tasks: Tasks,
        controller: SearchController,
        memory: MemoryFile,
        opener: Opener,
        find_file: Callable[[str], Path | None],
        now: Callable[[], float],
        as_program: bool = False,
    ) -> None:
        super().__init__(as_program=as_program)
        self.setWindowTitle(words.shared.APP)
        self.controller = controller
        self._theme = theme
        self._now = now
        self._memory = memory
        self.remembered = memory.read()
        self._hidden_at = 0.0
        self._is_fresh = True
        self.bar = SearchBar(theme)
        self.model = RowsModel()
        self.delegate = RowDelegate(theme, now)
        self.list = _list_view(self.model, self.delegate)
        self.preview = Preview(theme, tasks)
        self.footer = Footer(theme)
        self.session = SessionView(theme, tasks)
        self.empty = EmptyPage(theme)
        self.notice = label(kind="muted", wrap=True)
        self.notice.setObjectName("notice")
        self.notice.setContentsMargins(20, 8, 20, 8)
        self.notice.hide()
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.addWidget(self.list)
        self._splitter.addWidget(self.preview)
        self._divided = [455, 445]
        self._splitter.setSizes(self._divided)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(1)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._splitter)
        self._stack.addWidget(self.empty)
        self.pages = QStackedWidget()
        self.pages.addWidget(_page(self.bar, self.notice, self._stack, self.footer))
        self.pages.addWidget(self.session)
        box = QVBoxLayout(self.frame)
        box.setContentsMargins(1, 1, 1, 1)
        box.addWidget(self.pages)
        self.action_list = ActionList(theme, self)
        self.key_help = KeyHelp(theme, self)
        self.toast = Toast(self)
        self.deeds = Deeds(self, tasks, opener, find_file)
        self._connect(controller)
        if self.remembered.size is not None:
            self.resize(QSize(*self.remembered.size))
        controller.set_pins(self.remembered.pins)
        self.footer.set_mode(controller.mode, everything=controller.everything)
        self._fit_preview()

    def _connect(self, controller: SearchController) -> None:
        self.bar.edited.connect(self._edited)
        self.bar.chips_changed.connect(controller.set_chips)
        self.bar.field.installEventFilter(self)
        for widget in (self.session.view, self.preview.view, self.list):
            widget.installEventFilter(self)
        controller.rows_changed.connect(self._show_rows)
        controller.reported.connect(self._say)
        self.model.more_wanted.connect(controller.more)
        self.list.selectionModel().selectionChanged.connect(self._selected)
        self.list.clicked.connect(self._clicked)
        self.delegate.project_clicked.connect(self._only_project)
        self.list.doubleClicked.connect(self._double_clicked)
        self.empty.wanted.connect(self._empty_wants)
        self.footer.mode_chosen.connect(self.deeds.run)
        self.footer.everything_chosen.connect(controller.set_everything)
        self.session.closed.connect(self.show_list)
        self.session.link_clicked.connect(self.deeds.outgoing.open_link)
        self.session.troubled.connect(self._session_failed)
        self.preview.link_clicked.connect(self.deeds.outgoing.open_link)
        self.action_list.chosen.connect(self.deeds.run)
        self.action_list.closed.connect(self._focus_back)

    def attach(self, history: History | None) -> None:
        """Ask this engine from now on; none while it starts or when it is gone."""
        self.preview.attach(history)
        self.session.attach(history)
        self.controller.attach(history)

    # Coming and going ----------------------------------------------------------------------------------------------

    def present(self) -> None:
        """Bring the window up with the cursor in the field and the last query selected."""
        was_visible = self.isVisible()
        if not was_visible:
            if self._now() - self._hidden_at > FORGET_S:
                self.show_list()
                self.bar.clear()
            self.controller.refresh()
        super().present()
        if self.pages.currentWidget() is self.session:
            self.session.view.setFocus()
            return
        self.bar.field.setFocus()
        if not was_visible:
            self.bar.field.selectAll()

    def dismiss(self) -> None:
        """Hide the window and remember the query."""
        self._hidden_at = self._now()
        self.action_list.close_list()
        self.key_help.hide()
        self.remember_query()
        size = (self.width(), self.height())
        if size != self.remembered.size:
            self.remember(replace(self.remembered, size=size))
        super().dismiss()

    def remember(self, memory: Remembered) -> None:
        """Keep something for the next start."""
        if memory == self.remembered:
            return
        self.remembered = memory
        self._memory.write(memory)

    def remember_query(self) -> None:
        """Add the present query to the history of queries."""
        self.remember(self.remembered.with_query(self.bar.query()))

    def say_notice(self, text: str) -> None:
        """Show a sentence below the field until it is empty again."""
        self.notice.setText(text)
        self.notice.setVisible(bool(text))

    # Rows ----------------------------------------------------------------------------------------------------------

    @property
    def row(self) -> Row | None:
        """The selected row."""
        index = self.list.currentIndex()
        return index.data(ROW_ROLE) if index.isValid() else None

    def select(self, number: int | None) -> None:
        """Select a row and bring it into view."""
        if number is None:
            return
        index = self.model.index(number)
        self.list.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self.list.scrollTo(index)

    def move_selection(self, step: int) -> bool:
        """Select another row, and say whether there was one."""
        current = self.list.currentIndex().row()
        count = self.model.rowCount()
        target = max(0, min(count - 1, current + step))
        direction = 1 if step > 0 else -1
        found = self.model.next_selectable(target, direction)
        if found is None:
            found = self.model.next_selectable(target, -direction)
        if found is None or found == current:
            return False
        self.select(found)
        return True

    @property
    def rows_on_a_page(self) -> int:
        """How many rows fit."""
        height = max(1, self.list.sizeHintForRow(max(0, self.list.currentIndex().row())))
        return max(1, self.list.viewport().height() // height - 1)

    def _show_rows(self, rows: tuple[Row, ...], has_more: bool) -> None:  # noqa: FBT001 - a slot
        before = self.row
        is_new = self._is_fresh
        self._is_fresh = False
        bar = self.list.verticalScrollBar()
        scrolled = bar.value()
        self.model.set_rows(rows, has_more=has_more)
        kept = None if before is None or is_new else self.model.row_of(before.key)
        if kept is None:
            self.list.scrollToTop()
            self.select(self.model.next_selectable(0, 1))
        else:
            self.select(kept)
            bar.setValue(scrolled)
        if not rows:
            self.preview.show_row(None, "")

    def _selected(self, _now: QItemSelection, _before: QItemSelection) -> None:
        row = self.row
        self.controller.select(row.session_id if isinstance(row, (HitRow, SessionItem)) else None)
        self.preview.show_row(row, self.controller.words)

    def _clicked(self, _index: object) -> None:
        self.bar.field.setFocus()

    def _only_project(self, name: str) -> None:
        self.bar.add(typed.Chip("project", name))

    def _double_clicked(self, _index: object) -> None:
        self.deeds.run("open")

    def _edited(self, text: str) -> None:
        self._is_fresh = True
        self.controller.set_text(text)
        identity = typed.identity_in(text)
        if identity is not None:
            self.deeds.jump(identity)

    def _say(self, report: Report) -> None:
        self.footer.say(report)
        shown = None if self.model.rows else emptiness(report, is_running=self.controller.history is not None)
        if shown is not None:
            self.empty.say(shown)
        self._stack.setCurrentWidget(self._splitter if shown is None else self.empty)
        self.footer.set_mode(self.controller.mode, everything=self.controller.everything)

    def _empty_wants(self, what: str) -> None:
        if what == "everything":
            self.deeds.run(what)
        else:
            self.wanted.emit(what)

    # Session -------------------------------------------------------------------------------------------------------

    @property
    def in_session(self) -> bool:
        """True while a whole session is shown."""
        return self.pages.currentWidget() is self.session

    def show_session(self, session_id: str, *, at: str | None = None) -> None:
        """Open a whole session, at a hit."""
        self.remember_query()
        self.pages.setCurrentWidget(self.session)
        self.session.open(session_id, at=at, query=self.controller.words if at else "")
        self.session.view.setFocus()

    def show_list(self) -> None:
        """Go back to the list."""
        self.pages.setCurrentIndex(0)
        self.bar.field.setFocus()

    def _session_failed(self, trouble: Trouble) -> None:
        self.show_list()
        self.toast.say(f"{trouble.title}. {trouble.text}", 4000)

    # Keys ----------------------------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Give every key its action before a widget takes it."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and not self.bar.is_completing:
            return self.handle_key(event) or super().eventFilter(watched, event)
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys that no widget had."""
        if not self.handle_key(event):
            super().keyPressEvent(event)

    def handle_key(self, event: QKeyEvent) -> bool:
        """Do what a key means here, and say whether it means anything."""
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        key = Qt.Key.Key_Return if event.key() == Qt.Key.Key_Enter else Qt.Key(event.key())
        if key == Qt.Key.Key_Backspace and self.in_session and not self.session.find_field.hasFocus():
            self.show_list()
            return True
        action = _BY_KEY.get(modifiers.value | key.value)
        if action is None or (action.where != "both" and (action.where == "session") != self.in_session):
            return False
        if action.name == "nth":
            return self.deeds.open_nth(key.value - Qt.Key.Key_1.value)
        if action.name == "up" and key == Qt.Key.Key_P and not self.bar.field.text():
            # The one key to which desktop.md gives two meanings: up while something is typed, else the preview.
            return event.isAutoRepeat() or self.deeds.run("preview")
        return self.deeds.run(action.name)

    def _focus_back(self) -> None:
        (self.session.view if self.in_session else self.bar.field).setFocus()

    # Layout --------------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take the preview away where there is no room for it."""
        super().resizeEvent(event)
        self._fit_preview()

    def toggle_preview(self) -> None:
        """Show the preview, or hide it."""
        self.remember(replace(self.remembered, preview=not self.remembered.preview))
        self._fit_preview()

    def _fit_preview(self) -> None:
        self._show_preview(self.remembered.preview and self.width() >= NARROW)
        self.footer.hint.setVisible(self.width() >= NARROW)

    def _show_preview(self, is_wanted: bool) -> None:  # noqa: FBT001 - of this file only
        if is_wanted == (not self.preview.isHidden()):
            return
        if not is_wanted:
            self._divided = self._splitter.sizes()
        self.preview.setVisible(is_wanted)
        if is_wanted:
            # Qt would divide the room anew.
            self._splitter.setSizes(self._divided)


class HitList(QListView):
    """The rows, laid out anew in another width: how high a row is follows from it."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask every row again how high it is."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()


def _list_view(model: RowsModel, delegate: RowDelegate) -> QListView:
    made = HitList()
    made.setObjectName("hits")
    made.setModel(model)
    made.setItemDelegate(delegate)
    delegate.setParent(made)
    made.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    made.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
    made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    made.setMouseTracking(True)
    made.setContentsMargins(0, 4, 0, 4)
    made.setAccessibleName(words.search.HITS)
    return made


def _page(*widgets: QWidget) -> QFrame:
    made = QFrame()
    box = QVBoxLayout(made)
    box.setContentsMargins(0, 0, 0, 0)
    box.setSpacing(0)
    for each in widgets:
        box.addWidget(each, 1 if isinstance(each, QStackedWidget) else 0)
    return made
