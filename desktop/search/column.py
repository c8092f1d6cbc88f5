"""Lays messages out one below the other, those that are looked at and no others, and knows how high the rest may be.

The messages come from a `Source`, which may still be loading; a height is estimated until its message has been seen.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

from desktop import format as shown
from desktop.search.code_surface import surfaces_of
from desktop.search.document import Look, document_of, input_text, is_foldable
from desktop.search.speakers import speaker_of
from desktop.text_size import grown
from engine.search.query import read_query
from engine.search.snippets import matches_in

if TYPE_CHECKING:
    from PySide6.QtCore import QRectF
    from PySide6.QtGui import QTextDocument

    from desktop.theme import Theme
    from engine.core.models.sessions import MessageView
    from engine.search.query import Query

ESTIMATE = 84
"""Pixels of a message that was never seen: the median in the sample history."""
KEPT = 80
"""Documents kept laid out: about three screens."""
HEAD = 26
"""Pixels of a speaker's name with usual text."""
GAP = 14


class Source(Protocol):
    """Where messages come from."""

    @property
    def total(self) -> int:
        """How many there are, loaded or not."""
        ...

    def message(self, index: int) -> MessageView | None:
        """Return a message, None while it is not loaded."""
        ...

    def wanted(self, first: int, last: int) -> None:
        """Be told which messages are looked at, to load them."""
        ...


class ListSource:
    """Messages that are all there."""

    def __init__(self, messages: tuple[MessageView, ...] = ()) -> None:
        self._messages = messages

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self._messages)

    def message(self, index: int) -> MessageView | None:
        """Return a message."""
        return self._messages[index]

    def wanted(self, first: int, last: int) -> None:
        """Nothing is to be loaded."""


@dataclass(slots=True)
class Laid:
    """A message laid out for the present width."""

    document: QTextDocument
    top: int
    """Where the text begins: below the speaker's name, where that stands above it."""
    height: int
    marks: list[tuple[int, int]]
    """Matches: start and length."""
    surfaces: tuple[QRectF, ...] = ()
    """Behind code."""


class Column:
    """The messages of a view.

    Args:
        theme: Colours and fonts.
    """

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self.source: Source = ListSource()
        self.heights: list[int] = []
        self._width = 0
        self._tops: list[int] | None = None
        self._laid: OrderedDict[int, Laid] = OrderedDict()
        self._opened: dict[int, set[int]] = {}
        self._query: Query | None = None

    @property
    def kept(self) -> int:
        """How many messages are laid out at the moment."""
        return len(self._laid)

    def show(self, source: Source, query: str) -> None:
        """Take other messages."""
        self.source = source
        self.heights = [ESTIMATE] * source.total
        self._opened = {}
        self.look_for(query)

    def look_for(self, query: str) -> None:
        """Mark other words."""
        self._query = read_query(query[:1000]) if query.strip() else None
        self.forget()

    def fit(self, width: int) -> None:
        """Lay everything out in another width."""
        if width != self._width:
            self._width = width
            self.forget()

    def grow(self) -> None:
        """The source may have more messages now, or fewer."""
        if len(self.heights) != self.source.total:
            self.heights = (self.heights + [ESTIMATE] * self.source.total)[: self.source.total]
            self.forget()

    def forget(self) -> None:
        """Lay everything out anew."""
        self._laid.clear()
        self._tops = None

    @property
    def tops(self) -> list[int]:
        """Where each message begins, and where the last one ends."""
        if self._tops is None:
            self._tops = [0, *accumulate(self.heights)]
        return self._tops

    def lay(self, index: int) -> Laid | None:
        """Return a message laid out; None while it is not loaded."""
        laid = self._laid.get(index)
        if laid is not None:
            self._laid.move_to_end(index)
            return laid
        message = self.source.message(index)
        if message is None:
            return None
        laid = self._laid[index] = self._made(index, message)
        if len(self._laid) > KEPT:
            self._laid.popitem(last=False)
        if self.heights[index] != laid.height:
            self.heights[index] = laid.height
            self._tops = None
        return laid

    def opened(self, index: int) -> frozenset[int]:
        """Return which folded blocks of a message are open."""
        return frozenset(self._opened.get(index, ()))

    def toggle_fold(self, index: int, block: int) -> None:
        """Open a folded block, or close it."""
        self._opened.setdefault(index, set()).symmetric_difference_update({block})
        self._laid.pop(index, None)

    def is_unfolded(self, index: int) -> bool:
        """Return whether every block of a message that can be folded is open."""
        message = self.source.message(index)
        return message is None or _foldable(message) <= self._opened.get(index, set())

    def fold(self, index: int, *, is_open: bool) -> None:
        """Open every block of a message that can be folded, or close them."""
        message = self.source.message(index)
        if message is not None:
            self._opened[index] = _foldable(message) if is_open else set()
            self._laid.pop(index, None)

    def open_folds_with_match(self, index: int) -> None:
        """Open the folded blocks of a message that hold a match."""
        message = self.source.message(index)
        if message is None:
            return
        found = self._folds_with_match(message)
        if not found <= self._opened.setdefault(index, set()):
            self._opened[index] |= found
            self._laid.pop(index, None)

    def _made(self, index: int, message: MessageView) -> Laid:
        if index not in self._opened:
            # A hit inside a folded block opens it.
            self._opened[index] = self._folds_with_match(message) if message.in_hit else set()
        look = Look(self._theme.colours, self._theme.font(), self._width)
        document = document_of(message, self._opened[index], look)
        document.setTextWidth(self._width)
        if document.characterCount() <= 1:
            return Laid(document, top=0, height=0, marks=[])
        before = self.source.message(index - 1) if index else None
        top = grown(HEAD) if before is None or speaker_of(before) != speaker_of(message) else 0
        height = top + round(document.size().height()) + GAP
        return Laid(document, top=top, height=height, marks=self._marks(document), surfaces=surfaces_of(document))

    def _folds_with_match(self, message: MessageView) -> set[int]:
        if self._query is None:
            return set()
        found: set[int] = set()
        for number, block in enumerate(message.blocks):
            if is_foldable(block):
                text = (input_text(block.input) if block.kind == "tool_use" else block.text or "")[:20_000]
                if matches_in(text, self._query):
                    found.add(number)
        return found

    def _marks(self, document: QTextDocument) -> list[tuple[int, int]]:
        if self._query is None or not self._query.terms:
            return []
        text = document.toPlainText()
        return shown.utf16_marks(text, tuple((each.start, each.end) for each in matches_in(text, self._query)))


def _foldable(message: MessageView) -> set[int]:
    return {number for number, block in enumerate(message.blocks) if is_foldable(block)}
