"""Pictures of the windows beside the search: usage, doctor, prune, Knowledge. Taken by `tests.desktop.shots`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from desktop.doctor.window import DoctorWindow
from desktop.knowledge.window import KnowledgeWindow
from desktop.prune.window import PruneWindow
from desktop.usage.window import UsageWindow
from engine.core.errors import StorageFailure
from tests.desktop.fakes import FakeHistory
from tests.desktop.invented import (
    CJK,
    LONG,
    RTL,
    doctor_answer,
    knowledge_record,
    knowledge_reply,
    knowledge_row,
    looked_up,
    prune_answer,
    pruned,
    report,
)
from tests.desktop.studio import pause

if TYPE_CHECKING:
    from desktop.history import History
    from tests.desktop.studio import Studio

DAMAGED = StorageFailure("The index is damaged", "It cannot be read.", "Run doctor: it repairs it.")


def room_pictures(studio: Studio, history: History) -> None:
    """Every window in every state."""
    usage(studio, history)
    doctor(studio, history)
    prune(studio)
    knowledge(studio, history)


def usage(studio: Studio, history: History) -> None:
    fake = FakeHistory(usage=report)
    window = UsageWindow(studio.services)
    window.show()
    studio.shoot(window, "usage-starting")
    window.attach(fake)
    pause(300)
    window.chart.setFocus()
    window.chart.choose(22)
    studio.shoot(window, "usage-day")
    window.units.choose("tokens")
    for group in ("model", "project", "session"):
        window.groups.choose(group)
        pause(250)
        window.table.selectRow(0)
        studio.shoot(window, f"usage-{group}")
    window.period.setCurrentIndex(window.period.findData("own"))
    fake.usage = None
    pause(250)
    window.load()
    pause(250)
    studio.shoot(window, "usage-nothing")
    fake.failure = DAMAGED
    window.load()
    pause(250)
    studio.shoot(window, "usage-error")
    window.hide()
    real = UsageWindow(studio.services)
    real.period.setCurrentIndex(real.period.findData("all"))
    real.show()
    real.attach(history)
    pause(600)
    studio.shoot(real, "usage-sample")
    real.hide()


def doctor(studio: Studio, history: History) -> None:
    fake = FakeHistory(answers={"doctor": doctor_answer})
    window = DoctorWindow(studio.services)
    window.attach(fake)
    fake.gate.clear()
    window.show()
    pause(250)
    studio.shoot(window, "doctor-looking")
    fake.gate.set()
    pause(250)
    studio.shoot(window, "doctor-found")
    window.fix_all.click()
    studio.shoot(window, "doctor-question")
    window.fix_now.click()
    pause(300)
    studio.shoot(window, "doctor-fixed")
    fake.failure = DAMAGED
    window.look()
    pause(250)
    studio.shoot(window, "doctor-error")
    window.hide()
    real = DoctorWindow(studio.services)
    real.attach(history)
    real.show()
    pause(3000)
    studio.shoot(real, "doctor-sample")
    real.hide()


def prune(studio: Studio) -> None:
    fake = FakeHistory(answers={"prune": pruned})
    window = PruneWindow(studio.services)
    window.attach(fake)
    window.show()
    pause(300)
    studio.shoot(window, "prune-choose")
    window.only.setChecked(True)
    pause(1200)
    window.next.click()
    studio.shoot(window, "prune-sure")
    fake.gate.clear()
    window.understood.setChecked(True)
    window.now.click()
    pause(200)
    studio.shoot(window, "prune-running")
    fake.gate.set()
    pause(300)
    studio.shoot(window, "prune-done")
    fake.answers["prune"] = prune_answer(sessions=0, copies=0)
    window.more.click()
    pause(500)
    studio.shoot(window, "prune-nothing")
    fake.failure = DAMAGED
    window.count()
    pause(300)
    studio.shoot(window, "prune-error")
    window.hide()


def record_something(history: History) -> None:
    """Keep a few decisions in a real store."""
    history.call("knowledge_init", {})
    page: dict[str, Any] = {
        "expectedRevision": 0,
        "type": "project",
        "title": "Shelfmark",
        "body": "A shelf of books.",
        "id": "P-shelfmark",
    }
    history.call("knowledge_save_page", page)
    for title, said, day in (
        ("Tokens are opaque", "opaque tokens it is", "2026-03-03"),
        ("The web client keeps no state", "no state in the client", "2026-03-05"),
        (CJK, CJK, "2026-03-09"),
    ):
        claim = {
            "kind": "claim", "claim_kind": "decision", "title": title, "body": f"{title}.\n\n- first\n- second",
            "occurred_at": day, "entities": ["P-shelfmark"], "evidence": [{"text": said, "attribution": "You"}],
        }  # fmt: skip
        history.call("knowledge_create", {"record": claim})


def knowledge(studio: Studio, history: History) -> None:
    window = KnowledgeWindow(studio.services)
    window.show()
    window.attach(history)
    if not (studio.services.paths.knowledge / "store.yaml").exists():
        pause(300)
        studio.shoot(window, "knowledge-empty")
        record_something(history)
    window.load()
    pause(500)
    studio.shoot(window, "knowledge-recent")
    window.field.setText("opaque")
    pause(700)
    window.move_selection(1)
    pause(400)
    studio.shoot(window, "knowledge-found")
    window.read("P-shelfmark")
    pause(400)
    window.views.choose("timeline")
    window.field.setText("Shelfmark")
    pause(700)
    studio.shoot(window, "knowledge-timeline")
    window.field.setText("Nobody")
    pause(700)
    studio.shoot(window, "knowledge-unknown")
    window.views.choose("day")
    window.week.setChecked(True)
    pause(500)
    studio.shoot(window, "knowledge-week")
    window.hide()
    found = studio.search(history)
    found.bar.set_query("in:knowledge opaque")
    pause(900)
    studio.shoot(found, "search-knowledge")
    found.hide()
    rows = (
        knowledge_row(1, "Use SQLite", lifecycle="superseded"),
        knowledge_row(2, LONG, tags=["storage", "later"], via={"id": "k_0001", "revision": 1}),
        knowledge_row(3, CJK), knowledge_row(4, RTL, snippet=RTL * 4), knowledge_row(5, "<b>bold</b>", expired=True),
    )  # fmt: skip
    fake = FakeHistory(
        answers={
            "knowledge_timeline": knowledge_reply(*rows, total=130, coverage={"files": 9, "issueCount": 2}),
            "knowledge_record": knowledge_record(),
            "knowledge_lookup": looked_up,
        }
    )
    window = KnowledgeWindow(studio.services)
    window.attach(fake)
    window.show()
    pause(400)
    window.move_selection(1)
    window.read("k_0001")
    pause(400)
    studio.shoot(window, "knowledge-hostile")
    fake.failure = DAMAGED
    window.load()
    window.read("k_0001")
    pause(400)
    studio.shoot(window, "knowledge-error")
    window.hide()
