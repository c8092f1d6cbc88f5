"""What the actions of the search window do, by name; what leaves the window is in `outgoing`.

One method each; returns False where a key means nothing now.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from desktop import format as shown
from desktop import words
from desktop.search.actions import ACTIONS
from desktop.search.outgoing import Outgoing
from desktop.search.query import Chip
from desktop.search.rows import Heading, HitRow, RecordItem, SessionItem
from desktop.search.selection import Selection
from engine.core.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from desktop.opener import Opener
    from desktop.search.actions import Action
    from desktop.search.report import Mode
    from desktop.search.window import SearchWindow
    from desktop.tasks import Tasks
    from engine.core.models.sessions import SessionRow

BEYOND: Final = ("status", "usage", "knowledge", "doctor", "prune", "connect", "settings", "about", "quit")
"""Actions that open something else than this window: all of the tray's menu, which not every desktop has."""
RECORD: Final = "record:"
"""Before the id of a record that is to be opened in its own window."""


class Deeds:
    """Performs actions on the window's selection.

    Args:
        window: Whose.
        tasks: Threads.
        opener: Other programs.
        find_file: Returns the transcript of a session, None when it is gone. Looks at the disk.
    """

    def __init__(
        self, window: SearchWindow, tasks: Tasks, opener: Opener, find_file: Callable[[str], Path | None]
    ) -> None:
        self._window = window
        self._lane = tasks.lane()
        self._selection = Selection(window, tasks)
        self.outgoing = Outgoing(window, self._selection, tasks, opener, find_file)
        self._query_at: int | None = None
        self._table: dict[str, Callable[[], bool]] = {
            "open": self._open,
            "pin": self._pin,
            "expand": lambda: self._fold(is_open=True),
            "fold": lambda: self._fold(is_open=False),
            "next_match": lambda: self._step(1),
            "previous_match": lambda: self._step(-1),
            "folds": self._folds,
            "find": self._find,
            "preview": self._preview,
            "only_project": self._only_project,
            "hybrid": lambda: self._mode("hybrid"),
            "keyword": lambda: self._mode("keyword"),
            "semantic": lambda: self._mode("semantic"),
            "everything": self._everything,
            "older_query": lambda: self._old_query(-1),
            "newer_query": lambda: self._old_query(1),
            "down": lambda: self._move(1),
            "up": lambda: self._move(-1),
            "page_down": lambda: self._move(self._window.rows_on_a_page),
            "page_up": lambda: self._move(-self._window.rows_on_a_page),
            "actions": self._actions,
            "keys": self._keys,
            "escape": self._escape,
            **self.outgoing.actions,
        }
        for beyond in BEYOND:
            self._table[beyond] = partial(self._beyond, beyond)

    def run(self, name: str) -> bool:
        """Perform an action; True when it meant something."""
        return self._table[name]()

    def open_nth(self, number: int) -> bool:
        """Open the n-th row that can be selected."""
        chosen = [at for at, row in enumerate(self._window.model.rows) if not isinstance(row, Heading)]
        if number >= len(chosen):
            return True
        self._window.select(chosen[number])
        return self._open()

    def jump(self, identity: str) -> None:
        """Open the session or message whose id was pasted."""
        history = self._selection.history
        if history is None:
            return

        def work(_cancelled: object) -> tuple[str, str | None]:
            try:
                return history.get_session(identity, limit=1).session.session_id, None
            except NotFound:
                return history.get_context([identity], before=0, after=0).session.session_id, identity

        self._lane.run(work, self._jumped, self._selection.failed)

    # Rows ----------------------------------------------------------------------------------------------------------

    def _open(self) -> bool:
        row = self._window.row
        if isinstance(row, HitRow):
            self._window.show_session(row.session_id, at=row.hit.chunk_id)
        elif isinstance(row, SessionItem):
            self._window.show_session(row.session_id)
        elif isinstance(row, RecordItem):
            self._window.remember_query()
            self._window.wanted.emit(f"{RECORD}{row.id}")
        return True

    def _jumped(self, found: tuple[str, str | None]) -> None:
        session_id, message = found
        self._window.show_session(session_id, at=message)

    def _move(self, step: int) -> bool:
        self._window.move_selection(step)
        return True

    def _fold(self, *, is_open: bool) -> bool:
        window, row = self._window, self._window.row
        if not isinstance(row, HitRow) or window.bar.field.hasSelectedText():
            return False
        if is_open:
            at_end = window.bar.field.cursorPosition() == len(window.bar.field.text())
            if not at_end or row.inner or row.expanded or not row.more:
                return False
        elif not (row.inner or row.expanded):
            return False
        window.controller.expand(row.session_id, is_open=is_open)
        if not is_open:
            rows = window.model.rows
            window.select(next((at for at, each in enumerate(rows) if each.session_id == row.session_id), None))
        return True

    def _pin(self) -> bool:
        session = self._selection.session()
        if isinstance(session, str):
            self._selection.with_session(session, self._toggle_pin)
        elif session is not None:
            self._toggle_pin(session)
        return True

    def _toggle_pin(self, session: SessionRow) -> None:
        window = self._window
        pinned = len(window.remembered.pins)
        window.remember(window.remembered.with_pin(session))
        window.controller.set_pins(window.remembered.pins)
        self._selection.say(
            words.search.PINNED_NOW if len(window.remembered.pins) > pinned else words.search.UNPINNED_NOW
        )

    # The window ----------------------------------------------------------------------------------------------------

    def _step(self, direction: int) -> bool:
        (self._window.session if self._window.in_session else self._window.preview).step(direction)
        return True

    def _folds(self) -> bool:
        (self._window.session.view if self._window.in_session else self._window.preview.view).toggle_folds()
        return True

    def _find(self) -> bool:
        self._window.session.focus_find()
        return True

    def _preview(self) -> bool:
        self._window.toggle_preview()
        return True

    def _only_project(self) -> bool:
        row = self._window.row
        project = row.hit.project if isinstance(row, HitRow) else None
        if isinstance(row, SessionItem):
            project = row.session.project
        name = shown.project_name(project)
        if name:
            self._window.bar.add(Chip("project", name))
        return True

    def _mode(self, mode: Mode) -> bool:
        controller = self._window.controller
        controller.set_mode(mode)
        self._window.footer.set_mode(mode, everything=controller.everything)
        return True

    def _everything(self) -> bool:
        controller = self._window.controller
        controller.set_everything(not controller.everything)
        self._window.footer.set_mode(controller.mode, everything=controller.everything)
        return True

    def _old_query(self, step: int) -> bool:
        window, queries = self._window, self._window.remembered.queries
        present = window.bar.query()
        if self._query_at is None or self._query_at >= len(queries) or queries[self._query_at] != present:
            window.remember_query()
            queries = window.remembered.queries
            self._query_at = queries.index(present) if present in queries else len(queries)
        at = self._query_at + step
        if at >= len(queries):
            self._query_at = len(queries)
            window.bar.clear()
        elif at >= 0:
            self._query_at = at
            window.bar.set_query(queries[at])
        return True

    def _actions(self) -> bool:
        window = self._window
        if window.action_list.isVisible():
            window.action_list.close_list()
        else:
            window.action_list.open([each for each in ACTIONS if self._makes_sense(each)])
        return True

    def _makes_sense(self, action: Action) -> bool:
        if action.name in {"actions", "up", "down", "page_up", "page_down", "nth", "escape"}:
            return False
        return action.where == "both" or (action.where == "session") == self._window.in_session

    def _keys(self) -> bool:
        self._window.key_help.open()
        return True

    def _escape(self) -> bool:
        window = self._window
        if window.in_session:
            if window.session.find_field.hasFocus():
                window.session.view.setFocus()
            else:
                window.show_list()
        elif window.bar.query():
            window.remember_query()
            window.bar.clear()
        else:
            window.dismiss()
        return True

    def _beyond(self, what: str) -> bool:
        self._window.wanted.emit(what)
        return True
