"""Invented answers for the windows beside the search: usage, findings of the doctor, a prune, and a small Knowledge."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Literal

from engine.core.models.status import FileCounts
from engine.usage.amounts import Amounts, total_of
from engine.usage.report import UsageReport
from engine.usage.rows import CostComparison, UsageRow
from tests.desktop.fakes import FakeHistory

if TYPE_CHECKING:
    from engine.core.models.status import Coverage
    from engine.usage.rows import Grouping

LAST = date(2026, 3, 12)
MODELS = ("claude-opus-4-7", "claude-sonnet-4-6", "claude-haiku-4-5", "claude-opus-4-7-fast", "house-model-7b")
LONG = "Why does the nightly job hold the lock of the database for longer than the day before, " * 6
CJK = "夜間同期で「database is locked」が出る件の調査"
RTL = "שלום, זהו טקסט מימין לשמאל"


OWN_TOTALS = {
    0: CostComparison(
        cost_usd=19.9421,
        difference_usd=0.4821,
        copied_usd=0.25,
        why="Claude Code's own total. It has calls that no transcript line records.",
    ),
    2: CostComparison(
        cost_usd=9.99,
        difference_usd=-0.502,
        copied_usd=None,
        why="Claude Code's own total. It was written before the last calls.",
    ),
    4: CostComparison(
        cost_usd=1.5,
        difference_usd=None,
        copied_usd=None,
        why="Claude Code's own total. It cannot be compared: some calls have no price.",
    ),
}
"""By number of the invented session."""


class NoHistory(FakeHistory):
    """A machine on which Claude Code was never used."""

    def coverage(self, *, by: Literal["project", "day"] | None = None, limit: int = 50, offset: int = 0) -> Coverage:
        files = FileCounts(seen=0, indexed=0, gone=0, unreadable=0)
        return replace(super().coverage(by=by, limit=limit, offset=offset), files=files, sessions=0, by=())


def amounts(number: int, model: str, *, priced: bool = True, incomplete: int = 0) -> Amounts:
    """Return what some calls used."""
    return Amounts(
        input_tokens=number * 900,
        output_tokens=number * 4_100,
        cache_write_5m_tokens=number * 12_000,
        cache_write_1h_tokens=number * 3_000,
        cache_read_tokens=number * 310_000,
        calls=number,
        unpriced_calls=0 if priced else number,
        incomplete_calls=incomplete,
        cost_nanos=number * 61_000_000 if priced else 0,
        models=(model,),
    )


def day_rows(days: int = 30) -> tuple[UsageRow, ...]:
    """Return busy and idle days, the newest first, each with its models."""
    rows: list[UsageRow] = []
    for back in range(days):
        day = LAST - timedelta(days=back)
        if day.weekday() == 6:
            continue
        by_model = {
            model: amounts(
                1 + (back * 7 + rank * 5) % (23 - rank * 3), model, priced=rank < 4, incomplete=back % 9 == 4
            )
            for rank, model in enumerate(MODELS)
            if (back + rank) % 3 or rank < 2
        }
        rows.append(UsageRow(label=day.isoformat(), amounts=total_of(by_model.values()), by_model=by_model))
    return tuple(rows)


def report(by: Grouping) -> UsageReport:
    """Return a report of thirty days."""
    days = day_rows()
    everything = {
        model: total_of(r.by_model[model] for r in days if r.by_model and model in r.by_model) for model in MODELS
    }
    match by:
        case "model":
            rows = tuple(UsageRow(label=model, amounts=each) for model, each in everything.items())
        case "project":
            rows = tuple(
                UsageRow(label=path, amounts=each, cwds=(path,))
                for path, each in zip(
                    (
                        "/home/you/shelfmark/api",
                        "/home/you/shelfmark/web",
                        f"/home/you/{CJK}",
                        "/home/you/" + "long-" * 40,
                    ),
                    everything.values(),
                    strict=False,
                )
            )
        case "session":
            rows = tuple(
                UsageRow(
                    label=f"{number:08x}-0000-4000-8000-000000000000",
                    title=title,
                    project="/home/you/api",
                    amounts=each,
                    cost_state=OWN_TOTALS.get(number),
                )
                for number, (title, each) in enumerate(
                    zip(("Fix the auth check", LONG, CJK, RTL, "=HYPERLINK(1)"), everything.values(), strict=True)
                )
            )
        case _:
            rows = days
    totals = total_of(row.amounts for row in days)
    notes = (
        f"{totals.unpriced_calls} of {totals.calls} calls have no price: the cost is of the others.",
        f"Output tokens and cost of {totals.incomplete_calls} calls are too low: they were not recorded in full.",
    )
    return UsageReport(by=by, rows=rows, totals=totals, time_zone="UTC", since=None, notes=notes)


def findings(*, fixed: bool | None = None) -> dict[str, Any]:
    """Return an answer of `doctor`."""

    def one(name: str, title: str, severity: str, found: str, *means: str, fix: str = "") -> dict[str, Any]:
        made: dict[str, Any] = {
            "id": name,
            "title": title,
            "severity": severity,
            "found": found,
            "means": "".join(means),
        }
        if fix:
            made["fix"] = fix
            if fixed is not None:
                made["fixed"] = fixed
        return made

    return {
        "ok": bool(fixed),
        "findings": [
            one("database", "Index", "error", "2 pages of the index are damaged.", "Some passages cannot be found.",
                fix="build the index anew from transcripts and archive"),
            one("retention", "Claude Code's retention", "warning", "Claude Code deletes transcripts after 30 days.",
                "Raise cleanupPeriodDays in its settings, or rely on the archive."),
            one("unread", "Transcripts", "warning", "14 transcripts have an unread end.",
                "What was said last cannot be found yet.", fix="read them now"),
            one("embedding", "Search by meaning", "info", "6,900 passages wait to be embedded.",
                "They are found by their words until then."),
            one("permissions", "Permissions", "ok", "Only you can read the data folder."),
            one("space", "Disk", "ok", "81 GB are free."),
            one("knowledge", "Knowledge", "ok", f"12 records, no findings. {CJK}"),
        ],
        **({"note": "The index before these changes is kept as index-2026-03-12-fix.db."} if fixed else {}),
    }  # fmt: skip


def prune_answer(*, dry_run: bool = True, sessions: int = 412, copies: int = 9) -> dict[str, Any]:
    """Return an answer of `prune`."""
    titles = ("Fix the auth check", LONG[:120], CJK, RTL, None, "Rename the module", "One", "Two", "Three")
    return {
        "dry_run": dry_run,
        "chunks": sessions * 31,
        "calls": sessions * 8,
        "sessions": sessions,
        "vectors": sessions * 29,
        "bytes_freed": sessions * 120_000,
        "archive_bytes": 0,
        "only_copies": [
            {"session_id": f"{number}", "last_at": "2025-06-02T10:00:00+00:00", **({"title": title} if title else {})}
            for number, title in enumerate(titles[:copies])
        ],
        "note": "Claude Code's own files are never touched.",
    }


def knowledge_row(number: int, title: str, **more: Any) -> dict[str, Any]:
    """Return a row of a list of records."""
    return {
        "id": f"k_{number:04d}",
        "kind": "claim",
        "type": "decision",
        "title": title,
        "revision": 1,
        "hash": "0" * 12,
        "date": "2026-03-05",
        "snippet": f"{title}, because it keeps working on a plane.",
        **more,
    }


def knowledge_reply(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a list reply."""
    return {"rows": list(rows), "total": len(rows), "coverage": {"complete": True, "files": 9}, "snapshot": "s", **more}


def knowledge_record(**more: Any) -> dict[str, Any]:
    """Return an answer of `knowledge_record`."""
    record = {
        "id": "k_0001",
        "kind": "claim",
        "type": "decision",
        "title": "Use SQLite",
        "revision": 2,
        "hash": "0" * 64,
        "lifecycle": "superseded",
        "path": "claims/use-sqlite.md",
        "supersededBy": "k_0002",
        "supersedes": ["k_0003"],
        "lifecycleChange": {"reason": "It did not scale to two writers.", "at": "2026-03-09T10:00:00Z"},
        "occurredAt": "2026-03-05",
        "recordedAt": "2026-03-05T10:00:00Z",
        "updatedAt": "2026-03-05T10:00:00Z",
        "attribution": {"by": "P-ana", "via": "chat"},
        "assertionOrigin": "stated",
        "entities": ["P-ana", "gone"],
        "tags": ["storage"],
        "body": "We use **SQLite**.\n\n- one file\n- no server\n\n<script>alert(1)</script> ![x](http://example.org/a.png)\n",
        "evidence": [
            {
                "id": "e1", "quote": "we use SQLite then", "attribution": "Ana Lima", "state": "verified",
                "lines": [3, 3], "text": "Ben: what else?\nAna: we use SQLite then", "transcript": "gone",
            },
            {"id": "e2", "quote": "and never anything else", "state": "no_quote"},
        ],
        **more,
    }  # fmt: skip
    return {"record": record, "coverage": {"complete": True, "files": 9}}


def doctor_answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Answer `doctor`: what can be mended is, when that was asked."""
    return findings(fixed=True if asked["fix"] else None)


def pruned(asked: dict[str, Any]) -> dict[str, Any]:
    """Answer `prune`."""
    return prune_answer(dry_run=asked["dry_run"])


def looked_up(asked: dict[str, Any]) -> dict[str, Any]:
    """Answer `knowledge_lookup`: every id but `gone` is there."""
    if asked["query"] == "gone":
        return knowledge_reply()
    return knowledge_reply(knowledge_row(2, f"Title of {asked['query']}", id=asked["query"]))
