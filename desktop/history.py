"""What the desktop asks of the engine's front door, as a seam: `EngineApi` fits it, and so does the tests' fake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence

    from engine.core.models.asking import Caller, SearchRequest
    from engine.core.models.hits import SearchReply
    from engine.core.models.kinds import Role
    from engine.core.models.sessions import Reading, SessionList
    from engine.core.models.status import Coverage, ReindexReply, Status
    from engine.usage.report import UsageReport
    from engine.usage.rows import Grouping


class History(Protocol):
    """The front door. Every method may take a while and raises `EngineError`: call it from `Tasks` only."""

    @property
    def methods(self) -> frozenset[str]:
        """Names that `call` knows. What is not there yet is said in words."""
        ...

    def search(self, request: SearchRequest) -> SearchReply:
        """Return one page of hits."""
        ...

    def get_context(self, ids: Sequence[str], *, before: int = 3, after: int = 3) -> Reading:
        """Return messages in full with their neighbours."""
        ...

    def get_session(
        self,
        session_id: str,
        *,
        offset: int = 0,
        limit: int = 50,
        roles: frozenset[Role] | None = None,
        include_sidechains: bool = False,
    ) -> Reading:
        """Return one page of a session in full."""
        ...

    def list_sessions(
        self,
        *,
        project: str | None = None,
        date_from: str | None = None,
        date_to: str | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> SessionList:
        """Return sessions, newest first."""
        ...

    def export_session(self, session_id: str, *, form: Literal["markdown", "jsonl"] = "markdown") -> str:
        """Return a whole session as one text."""
        ...

    def status(self) -> Status:
        """Return what the engine is doing."""
        ...

    def coverage(self, *, by: Literal["project", "day"] | None = None, limit: int = 50, offset: int = 0) -> Coverage:
        """Return how much of the history is indexed."""
        ...

    def reindex(self, project: str | None = None, *, full: bool = False) -> ReindexReply:
        """Queue a look at every transcript."""
        ...

    def get_usage(
        self,
        *,
        by: Grouping = "day",
        date_from: str | None = None,
        date_to: str | None = None,
        split_models: bool = False,
    ) -> UsageReport:
        """Return tokens and cost."""
        ...

    def call(
        self,
        method: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller = ...,
        progress: Callable[[int, int | None, str], None] | None = None,
        cancelled: threading.Event | None = None,
    ) -> dict[str, Any]:
        """Answer a call by name. Long work tells how far it is, on the thread it runs on, and can be cancelled."""
        ...
