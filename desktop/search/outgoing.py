"""What leaves the search window: copies, citations, exported sessions, raw transcripts, links, resumed sessions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from desktop import format as shown
from desktop import words
from desktop.search.citing import hit_text, message_citation, row_citation
from desktop.search.rows import HitRow, RecordItem, SessionItem
from desktop.search.selection import TROUBLE_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from desktop.opener import Opener
    from desktop.search.selection import Selection
    from desktop.search.window import SearchWindow
    from desktop.tasks import Tasks
    from engine.core.models.sessions import SessionRow


class Outgoing:
    """Takes what is selected out of the window.

    Args:
        window: Whose.
        selection: What is meant.
        tasks: Threads.
        opener: Other programs.
        find_file: Returns the transcript of a session, None when it is gone. Looks at the disk.
    """

    def __init__(
        self,
        window: SearchWindow,
        selection: Selection,
        tasks: Tasks,
        opener: Opener,
        find_file: Callable[[str], Path | None],
    ) -> None:
        self._window = window
        self._selection = selection
        self._tasks = tasks
        self._opener = opener
        self._find_file = find_file
        self.actions: Mapping[str, Callable[[], bool]] = {
            "copy": self._copy,
            "cite": self._cite,
            "copy_id": self._copy_id,
            "resume": self._resume,
            "export": self._export,
            "raw": self._raw,
        }
        """By name, as in `Deeds`."""

    def open_link(self, url: str) -> None:
        """Open a link in the browser, because it was clicked."""
        if not self._opener.link(url):
            self._selection.say(words.search.LINK_REFUSED, TROUBLE_MS)

    def _copy(self) -> bool:
        window = self._window
        if window.in_session:
            if window.session.find_field.hasFocus() and window.session.find_field.hasSelectedText():
                return False
            return self._copied(window.session.copied_text(), words.shared.COPIED)
        chosen = window.preview.view.selected_text
        if chosen:
            return self._copied(chosen, words.shared.COPIED)
        field = window.bar.field
        # The whole query is selected when the window appears; then the hit is meant.
        if field.hasSelectedText() and field.selectedText() != field.text():
            return False
        match window.row:
            case SessionItem(session=session):
                self._copied(shown.plain(session.title or session.session_id), words.shared.COPIED)
            case RecordItem() as record:
                self._copied(record.text or record.title, words.shared.COPIED)
            case HitRow(hit=hit):
                self._selection.with_context(
                    hit, lambda reading: self._copied(hit_text(hit, reading), words.shared.COPIED)
                )
            case _:
                pass
        return True

    def _cite(self) -> bool:
        window = self._window
        if window.in_session:
            session, message = window.session.session, window.session.current_message()
            cited = None if session is None or message is None else message_citation(session, message)
        else:
            cited = row_citation(window.row)
        return True if cited is None else self._copied(cited, words.search.CITATION_COPIED)

    def _copy_id(self) -> bool:
        session = self._selection.session_id
        return self._copied(session, words.search.ID_COPIED) if session else True

    def _resume(self) -> bool:
        session = self._selection.session()
        if isinstance(session, str):
            self._selection.with_session(session, self._resume_session)
        elif session is not None:
            self._resume_session(session)
        return True

    def _resume_session(self, session: SessionRow) -> None:
        self._window.remember_query()
        if self._opener.terminal(session.resume_command):
            self._window.dismiss()
        else:
            self._copied(session.resume_command, words.search.NO_TERMINAL, TROUBLE_MS)

    def _export(self) -> bool:
        history, session = self._selection.history, self._selection.session_id
        if history is None or not session:
            return True
        name = str(Path.home() / f"session-{session[:8]}.md")
        target, _ = QFileDialog.getSaveFileName(self._window, words.actions.EXPORT, name, words.search.MARKDOWN_FILES)
        if target:
            self.export_to(Path(target), session)
        return True

    def export_to(self, target: Path, session: str) -> None:
        """Write a session as Markdown into a file."""
        history = self._selection.history
        if history is None:
            return

        def work(_cancelled: object) -> None:
            target.write_text(history.export_session(session), encoding="utf-8", errors="replace")

        self._tasks.run(work, lambda _none: self._selection.say(words.shared.EXPORTED), self._selection.failed)

    def _raw(self) -> bool:
        history, session = self._selection.history, self._selection.session_id
        if history is None or not session:
            return True
        self._tasks.run(lambda _: self._find_file(session), self._open_raw, self._selection.failed)
        return True

    def _open_raw(self, file: Path | None) -> None:
        if file is None:
            self._selection.say(words.search.RAW_GONE, TROUBLE_MS)
        elif not self._opener.file(file):
            self._copied(str(file), words.search.RAW_NOT_OPENED, TROUBLE_MS)

    def _copied(self, text: str, said: str, ms: int = 1000) -> bool:
        QGuiApplication.clipboard().setText(text)
        self._window.remember_query()
        self._selection.say(said, ms)
        return True
