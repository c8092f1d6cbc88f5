"""What the engine and its worker process say to each other over their pipe.

The pipe is anonymous, inherited by the engine's own child and by nobody else, so `Connection.send` (pickle) is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.core.vectors import ModelIdentity


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How a worker is started."""

    threads: int
    """How many cores it may use."""
    precision: str = "auto"
    """`auto` takes bfloat16 where it is faster; `float32` and `bfloat16` force one (benchmarks)."""


@dataclass(frozen=True, slots=True)
class Load:
    """Load a model now, so that the first question need not wait."""

    job: int
    model: str
    """Folder of the model."""


@dataclass(frozen=True, slots=True)
class EmbedTexts:
    """Embed whole texts, passage by passage. Waits for every question."""

    job: int
    model: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EmbedQuery:
    """Embed one question as it is. Overtakes texts."""

    job: int
    model: str
    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    """End."""


Request = Load | EmbedTexts | EmbedQuery | Stop


@dataclass(frozen=True, slots=True)
class TextVectors:
    """The passages of one text, in order."""

    ranges: tuple[tuple[int, int], ...]
    """Start and end in the text (code points)."""
    vectors: bytes
    """One float32 vector of length 1 for each range, one after the other."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model is ready."""

    job: int
    identity: ModelIdentity
    precision: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """The answer to `EmbedTexts` (one entry a text) and `EmbedQuery` (one entry)."""

    job: int
    identity: ModelIdentity
    texts: tuple[TextVectors, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A request failed, and the worker lives on."""

    job: int
    reason: str
    """For the person: one sentence without a path or a text of theirs."""
    model_missing: bool = False


Reply = Loaded | Embedded | Refused
