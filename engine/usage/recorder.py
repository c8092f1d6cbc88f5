"""Usage as ingestion sees it: each record is looked at while its file is read, and written with its batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.store.usage import NO_FOLDER, UNKNOWN_START, CallHolder, CostState, UsageTables
from engine.usage.calls import ApiCall, call_of, cost_state_of
from engine.usage.ledger import SessionCall, record_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from engine.store.connection import Connection


class UsageRecorder:
    """Handed to ingestion, which knows it by its own Protocol. Has no state."""

    def read(self, record: Mapping[str, Any], *, undated_ms: int = 0) -> ApiCall | CostState | None:
        """Return what a record says about usage; most say nothing.

        Args:
            record: One parsed object of a transcript.
            undated_ms: Time of a line that has none: the last one seen in its file.
        """
        kind = record.get("type")
        if kind == "assistant":
            return call_of(record, undated_ms=undated_ms)
        return cost_state_of(record) if kind == "cost-state" else None

    def write(
        self,
        connection: Connection,
        found: Iterable[ApiCall | CostState],
        *,
        session: int,
        name: str,
        began_ms: int | None,
        folder_of: Callable[[str], int | None],
    ) -> None:
        """Write what a stretch of one file said. Call it in the transaction that commits the file's offset.

        Args:
            connection: The writer's.
            found: What `read` returned. Saying it again, in any order, changes nothing.
            session: Number of the session the file belongs to; for a sub-agent's file the parent's.
            name: Claude Code's id of that session.
            began_ms: Time of the file's first line that has one; None for a sub-agent's file, which may replay lines
                older than its session.
            folder_of: Number of a working directory.
        """
        tables = UsageTables(connection)
        holder = CallHolder(session, UNKNOWN_START if began_ms is None else began_ms, name)
        calls: list[SessionCall] = []
        for each in found:
            if isinstance(each, CostState):
                tables.put_cost_state(session, each)
            else:
                folder = None if each.cwd is None else folder_of(each.cwd)
                calls.append(SessionCall(each, holder, NO_FOLDER if folder is None else folder))
        if calls:
            record_calls(tables, calls)
