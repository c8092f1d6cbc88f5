"""The usage window: tokens and cost of a period, as bars by model and as numbers to copy or export."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import QDate, QSize, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QComboBox,
    QDateEdit,
    QFileDialog,
    QHBoxLayout,
    QVBoxLayout,
)

from desktop import format as shown
from desktop import words
from desktop.errors import log_bug, trouble_of
from desktop.figures import NOTHING, Figures
from desktop.usage import numbers
from desktop.usage.bars import Chart, chart_of
from desktop.usage.chart import Legend, StackedBars
from desktop.usage.model import lines_of, own_total_in_words
from desktop.usage.periods import Period, period_of
from desktop.usage.table import UsageTable
from desktop.widgets import Choice, PlainWindow, button, label, set_kind
from engine.usage.amounts import total_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QShowEvent

    from desktop.history import History
    from desktop.services import Services
    from desktop.usage.bars import Unit
    from desktop.usage.model import Line
    from desktop.usage.table import Group
    from engine.usage.amounts import Amounts
    from engine.usage.report import UsageReport

DEFAULT_PERIOD: Final = "30d"
ROWS: Final = 2000
"""Lines of the table; a CSV has all of them."""


class UsageWindow(PlainWindow):
    """Shows what was used."""

    def __init__(self, services: Services) -> None:
        super().__init__(words.usage.TITLE, QSize(1060, 780))
        self._services = services
        self._history: History | None = None
        self._lane = services.tasks.lane()
        self._daily: UsageReport | None = None
        self.report: UsageReport | None = None
        theme = services.theme
        self.period = QComboBox()
        self.period.setAccessibleName(words.usage.PERIOD)
        for key, name in words.usage.PERIODS.items():
            self.period.addItem(name, key)
        self.period.setCurrentIndex(list(words.usage.PERIODS).index(DEFAULT_PERIOD))
        self.first, self.last = self._date_edit(words.usage.FROM), self._date_edit(words.usage.TO)
        self.units = Choice(words.usage.UNITS, words.usage.UNIT)
        self.groups = Choice(words.usage.GROUPS, words.usage.GROUP)
        self.figures = Figures(words.usage.FIGURES, theme)
        self.notes = label(kind="warning", wrap=True)
        self.chart = StackedBars(theme)
        self.chart.setToolTip(words.usage.CHART_HELP)
        self.legend = Legend(theme)
        self.detail = label(kind="muted", wrap=True)
        self.state = label(words.shared.LOADING, "muted", wrap=True)
        self.state.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.table = UsageTable()
        self.copy_button = button(words.usage.COPY, self.copy)
        self.export_button = button(words.usage.EXPORT, self._ask_file)
        self.said = label(kind="muted", wrap=True)
        self._lay_out()
        self.period.currentIndexChanged.connect(self._period_chosen)
        self.units.chosen.connect(self._unit_chosen)
        self.groups.chosen.connect(self._group_chosen)
        self.chart.chosen.connect(self._bar_chosen)
        self.table.line_chosen.connect(self._line_chosen)
        theme.changed.connect(self._recoloured)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self, self.copy)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Refresh), self, self.load)
        self._period_chosen()

    def attach(self, history: History | None) -> None:
        """Ask this engine from now on."""
        self._history = history
        self.load()

    def showEvent(self, event: QShowEvent) -> None:
        """Count when somebody looks."""
        super().showEvent(event)
        self.load()

    # Laying out ----------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(8)
        for each in (self.period, self.first, self.last):
            top.addWidget(each)
        top.addStretch(1)
        top.addWidget(self.units)
        middle = QHBoxLayout()
        middle.addWidget(self.groups)
        middle.addStretch(1)
        bottom = QHBoxLayout()
        bottom.addWidget(self.said, 1)
        bottom.addWidget(self.copy_button)
        bottom.addWidget(self.export_button)
        box = QVBoxLayout(self)
        box.setContentsMargins(24, 20, 24, 20)
        box.setSpacing(12)
        box.addLayout(top)
        box.addWidget(self.figures)
        box.addWidget(self.notes)
        box.addWidget(self.state, 1)
        box.addWidget(self.chart)
        box.addWidget(self.legend)
        box.addWidget(self.detail)
        box.addLayout(middle)
        box.addWidget(self.table, 1)
        box.addLayout(bottom)

    def _date_edit(self, name: str) -> QDateEdit:
        today = self._today()
        made = QDateEdit(QDate(today.year, today.month, today.day))
        made.setAccessibleName(name)
        made.setToolTip(name)
        made.setCalendarPopup(True)
        made.setDisplayFormat("d MMM yyyy")
        made.setMinimumWidth(120)
        made.dateChanged.connect(self._reload)
        return made

    # Asking --------------------------------------------------------------------------------------------------------

    @property
    def unit(self) -> Unit:
        """What the bars show."""
        return cast("Unit", self.units.key)

    @property
    def group(self) -> Group:
        """What a row is."""
        return cast("Group", self.groups.key)

    def wanted(self) -> Period:
        """Return the period that is chosen."""
        key = str(self.period.currentData())
        if key != "own":
            return period_of(key, self._today())
        first, last = sorted((_day(self.first), _day(self.last)))
        return Period(first, last)

    def load(self) -> None:
        """Ask anew."""
        history = self._history
        if history is None:
            self._say(words.shared.STARTING)
            return
        if not self.isVisible():
            return
        group, period = self.group, self.wanted()
        first = None if period.first is None else period.first.isoformat()
        last = None if period.last is None else period.last.isoformat()

        def ask(_cancelled: object) -> tuple[UsageReport, UsageReport]:
            daily = history.get_usage(by="day", date_from=first, date_to=last, split_models=True)
            return daily, daily if group == "day" else history.get_usage(by=group, date_from=first, date_to=last)

        if self.report is None:
            self._say(words.shared.LOADING)
        self._lane.run(ask, self._loaded, self._failed)

    def _reload(self, _chosen: object = None) -> None:
        self.load()

    def _group_chosen(self, group: str) -> None:
        self.table.set_group(cast("Group", group))
        self.load()

    def _unit_chosen(self, _key: str) -> None:
        self._draw()

    def _today(self) -> date:
        return datetime.fromtimestamp(self._services.now()).astimezone().date()

    def _period_chosen(self, _index: int = 0) -> None:
        is_own = self.period.currentData() == "own"
        self.first.setVisible(is_own)
        self.last.setVisible(is_own)
        self.load()

    # Showing -------------------------------------------------------------------------------------------------------

    def _loaded(self, found: tuple[UsageReport, UsageReport]) -> None:
        self._daily, self.report = found
        if not self.report.rows:
            self._say(words.usage.NONE)
            return
        self._show_parts(True)
        self._show_totals(self.report.totals)
        self.notes.setText("\n".join(self.report.notes))
        self.notes.setVisible(bool(self.report.notes))
        name = words.usage.GROUPS[self.report.by]
        self.table.set_lines(name, lines_of(self.report, ROWS))
        many = len(self.report.rows)
        self.said.setText(words.usage.first_rows(ROWS, many) if many > ROWS else "")
        self._draw()

    def _failed(self, error: Exception) -> None:
        log_bug(error)
        trouble = trouble_of(error)
        self._say(f"{trouble.title}. {trouble.text}", "bad")

    def _say(self, text: str, kind: str = "muted") -> None:
        """Show a sentence in place of numbers."""
        self._daily = self.report = None
        self.state.setText(text)
        set_kind(self.state, kind)
        self.figures.clear()
        set_kind(self.figures.numbers[0], "")
        self.notes.hide()
        self.table.set_lines("", ())
        self.chart.set_chart(Chart())
        self._show_parts(False)

    def _show_parts(self, has_numbers: bool) -> None:  # noqa: FBT001 - one of two faces
        self.state.setVisible(not has_numbers)
        for each in (self.chart, self.legend, self.table, self.groups):
            each.setVisible(has_numbers)
        for each in (self.copy_button, self.export_button):
            each.setEnabled(has_numbers)

    def _show_totals(self, totals: Amounts) -> None:
        share = totals.cache_hit_share
        self.figures.tell(
            (
                numbers.cost(totals),
                numbers.tokens(totals, totals.tokens),
                numbers.tokens(totals, totals.output_tokens),
                shown.count(totals.calls),
                NOTHING if share is None else shown.percent(share * 100),
            )
        )
        set_kind(self.figures.numbers[0], "warning" if totals.unpriced_calls else "")

    def _bar_chosen(self, hint: str) -> None:
        self.detail.setText(words.usage.BETWEEN.join(hint.split("\n")))
        self.detail.setVisible(bool(hint))

    def _line_chosen(self, line: Line | None) -> None:
        self.said.setText("" if line is None else own_total_in_words(line))

    def _draw(self) -> None:
        if self._daily is None:
            return
        chart = chart_of(self._daily, self.unit, self.wanted())
        self.chart.set_chart(chart)
        self.legend.set_chart(chart)

    def _recoloured(self, _colours: object) -> None:
        self.update()

    # Taking along --------------------------------------------------------------------------------------------------

    def copy(self) -> None:
        """Copy the chosen lines, or all, with tabs between the numbers."""
        report = self.report
        if report is None:
            return
        lines = self.table.chosen()
        self._services.tasks.run(lambda _: _text(report, lines, separator="\t"), self._copied)

    def export(self, file: Path) -> None:
        """Write every line into a file, in the background."""
        report = self.report
        if report is not None:
            # Excel takes a file without the mark for the system's old encoding.
            self._services.tasks.run(
                lambda _: file.write_text(_text(report), encoding="utf-8-sig", newline=""),
                lambda _written: self.said.setText(words.shared.EXPORTED),
                self._not_written,
            )

    def _copied(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.said.setText(words.shared.COPIED)

    def _ask_file(self) -> None:
        dialog = QFileDialog(self, words.usage.EXPORT, f"usage-{self._today().isoformat()}.csv", words.usage.CSV_FILES)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("csv")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._file_chosen)
        dialog.open()

    def _file_chosen(self, name: str) -> None:
        self.export(Path(name))

    def _not_written(self, error: Exception) -> None:
        if not isinstance(error, OSError):
            log_bug(error)
        self.said.setText(words.shared.named(words.usage.NOT_WRITTEN, str(error)))


def _day(edit: QDateEdit) -> date:
    chosen = edit.date()
    return date(chosen.year(), chosen.month(), chosen.day())


def _text(report: UsageReport, lines: Sequence[Line] = (), *, separator: str = ",") -> str:
    """Return lines and their total as text, all of the report where none was chosen."""
    totals = total_of(line.amounts for line in lines) if lines else report.totals
    return numbers.table_text(
        words.usage.GROUPS[report.by],
        lines or lines_of(report),
        totals,
        with_own_totals=report.by == "session",
        separator=separator,
    )
