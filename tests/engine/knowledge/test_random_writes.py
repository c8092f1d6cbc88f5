"""Any series of writes: each call is done whole or refused in words, and the vault stays without findings."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.errors import EngineError
from engine.knowledge.queries import GrepQuery, RecordsQuery, TimelineQuery
from engine.knowledge.service import KnowledgeService

if TYPE_CHECKING:
    from tests.engine.knowledge.fixture_f import Store

STEPS = 60


class Writer:
    """Makes calls by chance, of records that are there."""

    def __init__(self, store: Store, seed: int) -> None:
        self._store = store
        self._chance = random.Random(seed)
        self.known: list[str] = []

    def call(self) -> tuple[str, dict[str, Any]]:
        makers = [self._page, self._page, self._claim, self._claim]
        if self.known:
            makers += [self._relationship, self._correct, self._withdraw, self._edit, self._save, self._merge]
            makers += [self._unmerge]
        return self._chance.choice(makers)()

    def _some(self, most: int) -> list[str]:
        return self._chance.sample(self.known, min(len(self.known), self._chance.randrange(most + 1)))

    def _fenced(self, **more: Any) -> dict[str, Any]:
        name = self._chance.choice(self.known)
        row = self._store.record(name)["record"]
        return {"id": name, "expectedRevision": row["revision"], "expectedHash": row["hash"], **more}

    def _assertion(self) -> dict[str, Any]:
        made: dict[str, Any] = {
            "kind": "claim",
            "claim_kind": self._chance.choice(["decision", "event", "commitment", "fact"]),
            "title": f"Title {self._chance.randrange(6)}",
            "body": f"needle {self._chance.random()}",
            "entities": self._some(2),
            "sources": self._some(1),
            "dependencies": self._some(1),
            "evidence": [{"text": f"said {self._chance.randrange(4)}", "attribution": "Ben Okafor"}],
        }
        if self._chance.random() < 0.5:
            made["occurred_at"] = f"2026-03-0{self._chance.randrange(1, 9)}"
        if made["claim_kind"] == "event" and self._chance.random() < 0.5:
            made["source_event"] = True
        return made

    def _page(self) -> tuple[str, dict[str, Any]]:
        kind = self._chance.choice(["person", "meeting", "topic", "project"])
        title = f"Page {self._chance.randrange(6)}"
        page = {"expectedRevision": 0, "title": title, "type": kind, "body": "needle", "entities": self._some(1)}
        return "save_page", page

    def _claim(self) -> tuple[str, dict[str, Any]]:
        return "create", {"record": self._assertion()}

    def _relationship(self) -> tuple[str, dict[str, Any]]:
        ends = {"from": self._chance.choice(self.known), "to": self._chance.choice(self.known)}
        evidence = [{"text": "they know each other", "attribution": "Ben Okafor"}]
        return "create", {"record": {"kind": "relationship", "type": "related_to", **ends, "evidence": evidence}}

    def _correct(self) -> tuple[str, dict[str, Any]]:
        return "correct", self._fenced(reason="Newer", replacement=self._assertion())

    def _withdraw(self) -> tuple[str, dict[str, Any]]:
        return "withdraw", self._fenced(reason="Wrong")

    def _edit(self) -> tuple[str, dict[str, Any]]:
        return "edit_body", self._fenced(find="needle", replace="needle more")

    def _save(self) -> tuple[str, dict[str, Any]]:
        return "save_page", self._fenced(body="needle anew", entities=self._some(2))

    def _merge(self) -> tuple[str, dict[str, Any]]:
        fenced = self._fenced(reason="The same", survivor=self._chance.choice(self.known))
        fenced["merged"] = fenced.pop("id")
        return "merge", fenced

    def _unmerge(self) -> tuple[str, dict[str, Any]]:
        return "unmerge", self._fenced(reason="Not the same")


def answers(service: KnowledgeService) -> list[object]:
    asked = (
        service.grep(GrepQuery("needle", lifecycle="all", view="full")),
        service.records(RecordsQuery()),
        service.timeline(TimelineQuery(eligibility="include_inactive", include_sources=True)),
    )
    return [(reply["rows"], reply["total"], reply["coverage"]) for reply in asked]


@pytest.mark.parametrize("seed", range(8))
def test_writes_by_chance_leave_no_finding_and_nothing_only_this_process_knows(empty: Store, seed: int) -> None:
    writer = Writer(empty, seed)
    for _ in range(STEPS):
        tool, arguments = writer.call()
        try:
            receipt = empty.call(f"knowledge_{tool}", arguments)["receipt"]
        except EngineError:
            pass
        else:
            assert receipt["state"] == "complete"
            writer.known += [row["id"] for row in receipt["records"] if row["id"] not in writer.known]
        assert empty.check()["issues"] == []
    assert len(writer.known) > 2
    fresh = KnowledgeService(empty.root, empty.clock)
    assert answers(empty.service) == answers(fresh)
    fresh.close()
