"""Which API calls count, once each, and whose they are, in whatever order transcripts are read.

Every rule is a greatest, a least or an "any" over the lines of a call: lines, files and sessions may come in any order
and any number of times. A call that one session holds is one row; one that several hold has a row for each, which is
kept so that the result stays exact when a session turns out to be older, or is forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.store.usage import ALL_FOLDERS, CallHolder, CallRow

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from engine.store.usage import UsageTables
    from engine.usage.calls import ApiCall


_SHARED = CallRow._fields.index("is_global")
_COUNTED = CallRow._fields.index("counted_session_id")
"""Where the columns begin that `prefer` and `settle` decide, each in the order of the fields: `_replace` takes three
times as long, of two for every call."""


class SessionCall(NamedTuple):
    """A call with the place its line was found in."""

    call: ApiCall
    holder: CallHolder
    """The session the line belongs to; for a sub-agent's file the parent's."""
    folder_id: int
    """The line's working directory."""


def record_calls(tables: UsageTables, calls: Iterable[SessionCall]) -> None:
    """Record the calls of some lines. Call it inside the transaction that commits the lines' offset.

    Recording a line again changes nothing. Lines older than what was pruned are left out.
    """
    pruned = tables.pruned_before()
    fresh = dict[tuple[str, int], CallRow]()
    holders = dict[int, CallHolder]()
    for each in calls:
        if pruned and each.call.time_ms < max(pruned.get(ALL_FOLDERS, 0), pruned.get(each.folder_id, 0)):
            continue
        row = _row(each)
        known = fresh.get((row.key, row.session_id))
        fresh[row.key, row.session_id] = row if known is None else prefer(known, row)
        holder = holders.get(row.session_id)
        if holder is None or each.holder < holder:
            holders[row.session_id] = each.holder
    moved = tables.put_holders(holders.values())
    keys = {key for key, _ in fresh}
    if moved:
        keys |= tables.shared_keys(moved)
    _settle(tables, keys, fresh)


def forget_sessions(tables: UsageTables, session_ids: Collection[int]) -> None:
    """Delete what sessions hold. A call that another session holds too is counted there from now on."""
    keys = tables.shared_keys(session_ids)
    tables.delete_sessions(session_ids)
    _settle(tables, keys, {})


def prefer(old: CallRow, new: CallRow) -> CallRow:
    """Return one row for two of the same call in the same session.

    The numbers are those of the line with the greatest output, never mixed from several lines (rule 3 of 5.2: output
    grows while a reply streams); between equals the last line's, then the main conversation's.
    """
    best = max(old, new, key=_weight)
    first_ms, folder_id = min((old.first_ms, old.folder_id), (new.first_ms, new.folder_id))
    shared = (
        old.is_global | new.is_global,
        old.is_copy & new.is_copy,
        old.is_sidechain & new.is_sidechain,
        first_ms,
        folder_id,
    )
    return CallRow._make((*best[:_SHARED], *shared, *best[_SHARED + len(shared) :]))


def settle(rows: Sequence[CallRow], holders: Mapping[int, CallHolder]) -> list[CallRow]:
    """Return the rows of one key, each saying whether and for whom it counts.

    One call in several sessions belongs to the session that really made it: not marked as a copy, not a sidechain's
    replay of its parent, begun first (rule 4 of 5.2). Its numbers are the best of all; its time is its earliest line's.
    """
    if len(rows) == 1:
        (only,) = rows
        return [CallRow._make((*only[:_COUNTED], only.session_id, only.folder_id, only.first_ms, only.is_sidechain))]
    if not any(row.is_global for row in rows):
        return [settled for row in rows for settled in settle([row], holders)]
    owner = min(rows, key=lambda row: (row.is_copy, row.is_sidechain, holders[row.session_id][1:]))
    best = max(rows, key=lambda row: (*_weight(row), holders[row.session_id].tie))
    first_ms = min(row.first_ms for row in rows)
    return [
        row._replace(
            counted_session_id=owner.session_id,
            counted_folder_id=owner.folder_id,
            counted_ms=first_ms,
            counted_sidechain=owner.is_sidechain,
        )
        if row is best
        else row._replace(counted_session_id=None, counted_folder_id=None, counted_ms=None, counted_sidechain=None)
        for row in rows
    ]


def _settle(tables: UsageTables, keys: Collection[str], fresh: Mapping[tuple[str, int], CallRow]) -> None:
    """Bring the stored rows of these keys, with the fresh ones, to their settled state; write only what changes."""
    stored = tables.rows_of(keys)
    groups = {key: {row.session_id: row for row in stored.get(key, ())} for key in keys}
    before = {(row.key, row.session_id): row for rows in stored.values() for row in rows}
    for (key, session_id), row in fresh.items():
        known = groups[key].get(session_id)
        groups[key][session_id] = row if known is None else prefer(known, row)
    shared = {row.session_id for group in groups.values() if len(group) > 1 for row in group.values()}
    holders = tables.holders(shared) if shared else {}
    settled = [row for group in groups.values() if group for row in settle(list(group.values()), holders)]
    tables.put_rows([row for row in settled if before.get((row.key, row.session_id)) != row])


def _row(each: SessionCall) -> CallRow:
    call = each.call
    return CallRow(
        key=call.key,
        session_id=each.holder.session_id,
        variant=call.variant,
        is_global=int(call.is_global),
        is_copy=int(call.is_copy),
        is_sidechain=int(call.is_sidechain),
        first_ms=call.time_ms,
        folder_id=each.folder_id,
        rank=call.time_ms * 2 + (not call.is_sidechain),
        input=call.input,
        output=call.output,
        cache_write_5m=call.cache_write_5m,
        cache_write_1h=call.cache_write_1h,
        cache_read=call.cache_read,
        web_searches=call.web_searches,
    )


def _weight(row: CallRow) -> tuple[object, ...]:
    """Return what decides between two lines' numbers; equal only where the numbers are the same ones."""
    return (
        row.output,
        row.rank,
        row.input,
        row.cache_write_5m,
        row.cache_write_1h,
        row.cache_read,
        row.web_searches,
        row.variant,
    )
