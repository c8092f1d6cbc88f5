"""The common shape of replies: coverage, freshness, paging, and the byte budget rows are dropped under."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from engine.knowledge.dates import utc_text_ms
from engine.knowledge.names import cut_utf16

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.knowledge.queries import View
    from engine.knowledge.records import Issue
    from engine.knowledge.snapshot import Snapshot

Reply = dict[str, object]

BUDGET_BYTES = 24_576
"""UTF-8 bytes of a whole list reply as JSON, sources included (R115)."""

INDEX_NOT_USED: Reply = {"state": "not_used"}
"""Of replies that need no keyword index (R4, R153)."""

SHORT_HASH = 12
"""Hex digits of a hash in agent rows; as `expectedHash` they suffice."""

_TEXTS = frozenset({"text"})
_DESCRIPTORS = _TEXTS | {"descriptor"}
_LOCATORS = _DESCRIPTORS | {"path", "filename", "session", "messageUuid", "attribution", "quote", "transcript"}

_ISSUES_SHOWN = {"agent": 3, "full": 20}
_ISSUE_UNITS = 600
"""UTF-16 units of a finding's path and of its message."""


def coverage(snapshot: Snapshot, view: View) -> Reply:
    """Return how complete the answer can be: false whenever anything in the vault is wrong (R78)."""
    issues = snapshot.issues
    reply: Reply = {"complete": not issues, "files": len(snapshot.inventory)}
    if issues:
        reply["issueCount"] = len(issues)
        reply["issues"] = _some_issues(issues[: _ISSUES_SHOWN[view]])
    return reply


def _some_issues(issues: Sequence[Issue]) -> list[Reply]:
    """Return findings in a quarter of the budget: a path may be 4 KB long, and a message may hold another."""
    shown: list[Reply] = []
    left = BUDGET_BYTES // 4
    for issue in issues:
        one = {key: _cut(value, _ISSUE_UNITS) for key, value in issue.to_json().items()}
        left -= json_bytes(one)
        if left < 0:
            break
        shown.append(one)
    return shown


def freshness(snapshot: Snapshot, now: float, indexed_at: float | None = None) -> Reply:
    """Return when was asked and when the vault was last read (R151, R152)."""
    reply: Reply = {"queriedAt": utc_text_ms(now), "scannedAt": utc_text_ms(snapshot.scan.scanned_at)}
    if indexed_at is not None:
        reply["indexedAt"] = utc_text_ms(indexed_at)
    return reply


def json_bytes(value: object) -> int:
    """Return the size of a value as UTF-8 JSON, with the blanks some writers put behind commas and colons."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def fit_rows(reply: Reply, rows: Sequence[Reply], budget: int, key: str = "rows") -> int:
    """Put as many rows into the reply as the budget allows and return how many.

    One row always fits: its texts are cut when it alone is too large, never the row itself.
    """
    reply[key] = []
    left = budget - json_bytes(reply) - 64
    taken: list[Reply] = []
    for row in rows:
        size = json_bytes(row) + 2
        if size > left:
            if taken:
                break
            taken.append(trimmed(row, left))
            break
        taken.append(row)
        left -= size
    reply[key] = taken
    return len(taken)


def fit_sources(reply: Reply, sources: Sequence[Reply], budget: int) -> None:
    """Put as many summaries of sources beside the rows as the budget allows, and say when some are left out."""
    if fit_rows(reply, sources, budget, "sources") < len(sources):
        reply["sourcesTruncated"] = True


def leaner_evidence(evidence: Sequence[Reply]) -> Iterator[list[Reply]]:
    """Yield a record's citations with ever less said about each, and never one less: only a record shows all (R63)."""
    for dropped in (_TEXTS, _DESCRIPTORS, _LOCATORS) if evidence else ():
        yield [{key: value for key, value in one.items() if key not in dropped} for one in evidence]


def trimmed(row: Reply, limit: int) -> Reply:
    """Return a row whose long texts are cut until it fits."""
    row = dict(row)
    allowed = 2_000
    while json_bytes(row) > limit and allowed > 20:
        allowed //= 2
        row = {key: _cut(value, allowed) for key, value in row.items()}
        row["truncated"] = True
    return row


def _cut(value: object, allowed: int) -> object:
    if isinstance(value, str):
        shorter = cut_utf16(value, allowed)
        return value if shorter == value else f"{shorter}…"
    if isinstance(value, list):
        items = cast("list[object]", value)
        return [_cut(item, allowed) for item in items[: max(1, allowed // 20)]]
    if isinstance(value, dict):
        return {key: _cut(item, allowed) for key, item in cast("Reply", value).items()}
    return value


def page(reply: Reply, rows: Sequence[Reply], *, offset: int, total: int, budget: int) -> None:
    """Fill a reply with rows of one page, its total and where the next page starts."""
    reply["total"] = total
    count = fit_rows(reply, rows, budget)
    if offset + count < total:
        reply["nextOffset"] = offset + count
