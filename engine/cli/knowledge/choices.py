"""The options that verbs of Knowledge share, and the values they take."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Kind(StrEnum):
    """What a record is."""

    PAGE = "page"
    CLAIM = "claim"
    RELATIONSHIP = "relationship"


class Lifecycle(StrEnum):
    """Which records a search looks at."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ALL = "all"


class DateField(StrEnum):
    """Which of a record's dates counts."""

    OCCURRED = "occurred"
    RECORDED = "recorded"
    UPDATED = "updated"
    DUE = "due"

    @property
    def key(self) -> str:
        """As the tools call it."""
        return f"{self}_at"


KindOption = Annotated[Kind | None, typer.Option("--kind", metavar="K", help="Only page, claim or relationship.")]
TypeOption = Annotated[
    str | None, typer.Option("--type", "-t", metavar="T", help="Only of this type: decision, meeting, person…")
]
TagOption = Annotated[str | None, typer.Option("--tag", metavar="TAG", help="Only with this tag, exactly.")]
LifecycleOption = Annotated[
    Lifecycle | None, typer.Option("--lifecycle", metavar="L", help="active (the default), superseded or all.")
]
FieldOption = Annotated[
    DateField | None,
    typer.Option("--field", metavar="F", help="The date that counts: occurred (default), recorded, updated, due."),
]
FullOption = Annotated[bool, typer.Option("--full", help="With file, attribution and evidence.")]
LimitOption = Annotated[int | None, typer.Option("--limit", "-n", metavar="N", help="At most so many (20, up to 50).")]
SnapshotOption = Annotated[
    str | None,
    typer.Option("--snapshot", metavar="S", help="With --offset: refuse if the store changed since that reply."),
]
