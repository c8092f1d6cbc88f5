"""The status window: what the engine does now, how far it is, how much of the history is covered, what went wrong."""

from __future__ import annotations

from collections import deque
from datetime import date, datetime
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, QTimer
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop import format as shown
from desktop import words
from desktop.errors import log_bug
from desktop.figures import Figures
from desktop.pulse import is_embedding
from desktop.status.charts import Bar, Bars, Calendar, Curve
from desktop.widgets import PlainWindow, button, heading, label, scrolled, set_kind

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QShowEvent

    from desktop.history import History
    from desktop.pulse import Pulse
    from desktop.services import Services
    from engine.core.models.status import Coverage, Status

COVERAGE_MS: Final = 5000
"""Between two counts while the engine works and the window is seen: a long history takes tenths of a second."""
POINTS: Final = 600
PROJECTS: Final = 8
PROBLEMS: Final = 5


class StatusWindow(PlainWindow):
    """Shows the engine."""

    def __init__(self, services: Services) -> None:
        super().__init__(words.status.TITLE, QSize(680, 740))
        self._services = services
        self._history: History | None = None
        self._lane = services.tasks.lane()
        self._points: deque[tuple[float, float]] = deque(maxlen=POINTS)
        theme = services.theme
        self.state = heading("", theme.font(1.25, bold=True))
        self.state.setWordWrap(True)
        self.detail = label(kind="muted", wrap=True)
        self.pause = button(words.menu.PAUSE, self._pause)
        self.reindex = button(words.status.REINDEX, self._reindex)
        self.curve = Curve(theme)
        self.curve_title = heading(words.status.BACKLOG, theme.font(1.0, bold=True))
        self.projects = Bars(theme)
        self.projects.setAccessibleName(words.status.COVERAGE)
        self.share = label(kind="muted")
        self.calendar = Calendar(theme)
        self.figures = Figures(words.status.FIGURES, services.theme)
        self.troubles = label(kind="muted", wrap=True)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._count)
        inside = QWidget()
        box = QVBoxLayout(inside)
        box.setContentsMargins(24, 20, 24, 24)
        box.setSpacing(14)
        box.addLayout(self._head())
        box.addWidget(self.figures)
        box.addWidget(self.curve_title)
        box.addWidget(self.curve)
        box.addWidget(heading(words.status.COVERAGE, theme.font(1.0, bold=True)))
        box.addWidget(self.share)
        box.addWidget(self.projects)
        box.addWidget(heading(words.status.DAYS_TITLE, theme.font(1.0, bold=True)))
        box.addWidget(self.calendar)
        box.addWidget(heading(words.status.TROUBLES, theme.font(1.0, bold=True)))
        box.addWidget(self.troubles)
        box.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        page = scrolled(inside)
        page.setProperty("kind", "window")
        outer.addWidget(page)
        services.pulse.changed.connect(self._show_pulse)
        theme.changed.connect(self._recoloured)
        self._show_pulse(services.pulse.pulse)

    def attach(self, history: History | None) -> None:
        """Ask this engine from now on."""
        self._history = history
        self.reindex.setEnabled(history is not None)
        self._count()

    def showEvent(self, event: QShowEvent) -> None:
        """Count when somebody looks."""
        super().showEvent(event)
        self._services.pulse.refresh()
        self._count()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop counting."""
        super().hideEvent(event)
        self._timer.stop()

    def _head(self) -> QHBoxLayout:
        lines = QVBoxLayout()
        lines.setSpacing(3)
        lines.addWidget(self.state)
        lines.addWidget(self.detail)
        row = QHBoxLayout()
        row.addLayout(lines, 1)
        row.addWidget(self.reindex)
        row.addWidget(self.pause)
        return row

    # Showing -------------------------------------------------------------------------------------------------------

    def _show_pulse(self, pulse: Pulse) -> None:
        self.state.setText(pulse.sentence[:1].upper() + pulse.sentence[1:])
        self.pause.setText(words.menu.RESUME if pulse.is_paused else words.menu.PAUSE)
        self.pause.setEnabled(pulse.status is not None)
        self.detail.setText(pulse.problem.text if pulse.problem is not None else "")
        status = pulse.status
        if status is None:
            return
        self._show_status(status)
        if self.isVisible() and pulse.is_busy and not self._timer.isActive():
            self._timer.start(COVERAGE_MS)

    def _show_status(self, status: Status) -> None:
        self.detail.setText(details(status, self._services.now()))
        figures = (status.sessions, status.messages, status.database_bytes, status.archive_bytes, status.clients)
        named = zip(words.status.FIGURES, figures, strict=True)
        self.figures.tell(
            [shown.size(value) if name in words.status.SIZES else shown.count(value) for name, value in named]
        )
        pending = status.ingest.files_pending + (status.embedding.backlog if is_embedding(status) else 0)
        if pending or self._points:
            self._points.append((self._services.now(), float(pending)))
            self.curve.set_points(self._points)
        has_curve = len(self._points) > 1
        self.curve.setVisible(has_curve)
        self.curve_title.setVisible(has_curve)
        notices = [f"{each.text} {each.hint}".strip() for each in status.warnings]
        self._show_troubles(notices)

    def _show_troubles(self, lines: list[str]) -> None:
        self.troubles.setText("\n\n".join(shown.plain(line)[:600] for line in lines) or words.status.NO_TROUBLES)
        set_kind(self.troubles, "warning" if lines else "muted")

    def _count(self) -> None:
        history = self._history
        if history is None or not self.isVisible():
            return
        self._lane.run(
            lambda _: (history.coverage(by="project", limit=PROJECTS), history.coverage(by="day", limit=400)),
            self._counted,
            log_bug,
        )

    def _counted(self, found: tuple[Coverage, Coverage]) -> None:
        by_project, by_day = found
        most = max((row.messages for row in by_project.by or ()), default=1) or 1
        embeds = by_project.embedded > 0
        self.share.setText(words.status.coverage_line(
            shown.count(by_project.chunks), shown.percent(by_project.percent) if embeds else "",
        ))  # fmt: skip
        self.projects.set_bars([
            Bar(
                shown.project_name(row.project) or words.shared.NO_PROJECT,
                row.percent / 100 if embeds else row.messages / most,
                shown.percent(row.percent) if embeds else words.amounts.messages(row.messages),
                shown.one_line(row.project or "", 200),
            )
            for row in by_project.by or ()
        ])  # fmt: skip
        rows = {date.fromisoformat(row.day): row for row in by_day.by or () if row.day}
        days = {day: row.messages for day, row in rows.items()}
        shares = {day: shown.percent(row.percent) for day, row in rows.items()} if embeds else {}
        today = datetime.fromtimestamp(self._services.now()).astimezone().date()
        # A history that ended long ago is shown where it is.
        self.calendar.set_days(
            days, max(days, default=today) if (today - max(days, default=today)).days > 180 else today, shares
        )
        if by_project.problems:
            unreadable = [words.shared.named(each.file, each.what) for each in by_project.problems[:PROBLEMS]]
            self._show_troubles(unreadable)

    def _recoloured(self, _colours: object) -> None:
        self.update()

    # Doing ---------------------------------------------------------------------------------------------------------

    def _pause(self) -> None:
        self._services.open("resume" if self._services.pulse.pulse.is_paused else "pause")

    def _reindex(self) -> None:
        history = self._history
        if history is not None:
            self._services.tasks.run(lambda _: history.reindex(), lambda _reply: self._services.pulse.refresh())


def details(status: Status, now: float) -> str:
    """Return what the two halves of the engine do, in words."""
    ingest, embedding = status.ingest, status.embedding
    parts: list[str] = []
    if ingest.files_pending:
        parts.append(words.status.reading(words.amounts.files(ingest.files_pending), shown.size(ingest.bytes_pending)))
        if ingest.rate:
            parts.append(words.status.per_second(shown.size(ingest.rate)))
        if ingest.eta_s is not None:
            parts.append(words.shared.time_left(shown.duration(ingest.eta_s)))
    elif ingest.last_at:
        zone = datetime.fromtimestamp(now).astimezone()
        parts.append(words.status.last_change(shown.relative(ingest.last_at, zone)))
    if embedding.backlog and embedding.state != "off":
        parts.append(words.status.embedding_left(shown.count(embedding.backlog)))
        if embedding.rate:
            parts.append(words.status.per_second(shown.count(round(embedding.rate))))
        if embedding.eta_s is not None:
            parts.append(words.shared.time_left(shown.duration(embedding.eta_s)))
    if embedding.reason:
        parts.append(embedding.reason)
    return " · ".join(parts)
