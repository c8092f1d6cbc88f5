from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.cli.access import InstalledAccess
from engine.cli.app import main
from engine.cli.knowledge.records import table_of
from engine.cli.output import Output
from engine.core.clock import SystemClock
from engine.core.settings import Settings
from engine.service import Engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.core.paths import Paths
    from tests.engine.cli.conftest import Run
    from tests.engine.cli.knowledge.conftest import Said
    from tests.engine.knowledge.fixture_f import Store


# init, and no store


def test_init_creates_the_store_once(knowledge: Callable[..., Said], utc: Paths) -> None:
    first, second = knowledge("init"), knowledge("init")
    vault = utc.knowledge / "vault"
    assert (first.code, first.out) == (0, f"Created the Knowledge store: {vault}\n")
    assert (second.code, second.out) == (0, f"There is a Knowledge store already: {vault}\n")
    assert vault.is_dir()


def test_init_answers_with_the_identity_of_the_store(knowledge: Callable[..., Said]) -> None:
    reply = json.loads(knowledge("init", "--json").out)
    assert reply["created"] is True
    assert {"storeId", "vaultId"} < reply.keys()


@pytest.mark.parametrize(
    "words", ["grep x", "lookup x", "show x", "timeline", "day", "since 2026-01-01", "last-seen x", "records", "check"]
)
def test_a_read_without_a_store_creates_none_and_says_what_does(
    words: str, knowledge: Callable[..., Said], utc: Paths
) -> None:
    said = knowledge(*words.split())
    assert said.code == 3
    assert "`backscroll knowledge init`" in said.err
    assert not utc.knowledge.exists()


def test_a_running_engine_refuses_in_the_same_words(utc: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    engine = Engine(utc, Settings(time_zone="UTC", embedding_enabled=False), SystemClock(), roots=())
    engine.start(watch=False, serve=True)
    try:
        assert main(["knowledge", "grep", "x", "--json"], access=InstalledAccess(utc)) == 3
        assert json.loads(capsys.readouterr().err)["error"]["code"] == "store_unavailable"
        assert main(["knowledge", "init"], access=InstalledAccess(utc)) == 0
        assert main(["knowledge", "show", "nobody"], access=InstalledAccess(utc)) == 1
        assert "exactly the id or name 'nobody'" in capsys.readouterr().err
        assert main(["knowledge", "last-seen", "nobody"], access=InstalledAccess(utc)) == 1
        assert main(["knowledge", "grep", "..."], access=InstalledAccess(utc)) == 2
    finally:
        engine.stop()


# grep and lookup


@pytest.mark.usefixtures("store")
def test_hits_show_the_record_and_what_it_says(knowledge: Callable[..., Said]) -> None:
    said = knowledge("grep", "49", "eur")
    assert said.code == 0
    assert said.out == (
        "  1 Atlas list price  decision  2026-03-12  C-p2  #Q2\n    Atlas lists at 49 EUR from April.\n\n"
    )
    assert said.err == "1 of 1 record\n"


@pytest.mark.usefixtures("store")
def test_a_hit_by_an_outdated_wording_names_it(knowledge: Callable[..., Said]) -> None:
    assert 'found by an earlier wording: "Atlas launch price", C-p1' in knowledge("grep", "forty").out


@pytest.mark.usefixtures("store")
def test_a_hit_in_the_title_is_shown_by_its_summary(knowledge: Callable[..., Said]) -> None:
    assert "    Ana delivers the pilot build." in knowledge("grep", "delivery").out


@pytest.mark.usefixtures("store")
def test_full_hits_show_evidence_and_file(knowledge: Callable[..., Said]) -> None:
    assert "claims/C-p2.md" in knowledge("grep", "49", "--full").out
    assert "claims/C-p2.md" not in knowledge("grep", "49").out


@pytest.mark.usefixtures("store")
def test_nothing_found_is_exit_code_1(knowledge: Callable[..., Said]) -> None:
    said = knowledge("grep", "unicorn")
    assert (said.code, said.out, said.err) == (1, "", "Nothing found in 16 records\n")


def test_each_filter_reaches_the_tool(backscroll: Callable[..., Run], paths: Paths) -> None:
    paths.settings_file.write_text('time_zone = "Europe/Berlin"\n', encoding="utf-8")
    reply: dict[str, Any] = {"rows": [], "total": 0, "coverage": {"complete": True, "files": 0}}
    run = backscroll(
        "knowledge", "grep", "list", "price", "--json", "--mode", "phrase", "--kind", "claim", "-t", "decision",
        "--tag", "Q2", "--lifecycle", "all", "--field", "due", "--from", "2026-03-01", "--to", "2026-03-05T10:00",
        "-n", "5", "--offset", "5", knowledge_grep=reply,
    )  # fmt: skip
    assert run.asked == [
        (
            "knowledge_grep",
            {
                "query": "list price", "mode": "phrase", "kind": "claim", "type": "decision", "tag": "Q2",
                "lifecycle": "all", "timeField": "due_at", "since": "2026-03-01",
                "until": "2026-03-05T10:00:00+01:00", "limit": 5, "offset": 5,
            },
        )
    ]  # fmt: skip


@pytest.mark.usefixtures("store")
def test_json_is_the_reply_of_the_tool(knowledge: Callable[..., Said], store: Store) -> None:
    assert json.loads(knowledge("grep", "49", "--json").out)["rows"] == store.grep("49")["rows"]
    assert json.loads(knowledge("lookup", "Ana", "--json").out)["rows"] == store.lookup("Ana")["rows"]
    assert json.loads(knowledge("timeline", "--json").out)["rows"] == store.tl()["rows"]
    assert json.loads(knowledge("records", "--json").out)["rows"] == store.records()["rows"]
    assert json.loads(knowledge("show", "P-ana", "--json").out)["record"] == store.record("P-ana")["record"]


def test_an_index_that_does_not_work_is_no_empty_answer(backscroll: Callable[..., Run]) -> None:
    reply: dict[str, Any] = {"note": "The index is down.", "rows": [], "total": None, "coverage": {"files": 3}}
    run = backscroll("knowledge", "grep", "x", knowledge_grep=reply)
    assert (run.code, run.err) == (3, "The index is down.\n")


def test_a_list_says_what_is_missing_and_how_to_go_on(backscroll: Callable[..., Run]) -> None:
    row = {"id": "k_1", "kind": "page", "type": "person", "title": "A", "snippet": "x"}
    coverage = {"complete": False, "files": 9, "issueCount": 2}
    reply: dict[str, Any] = {"rows": [row], "total": 7, "nextOffset": 1, "windowExhausted": True, "coverage": coverage}
    err = backscroll("knowledge", "grep", "x", knowledge_grep=reply).err
    assert err.splitlines() == [
        "1 of 7 records",
        "2 findings in the store, so this may be incomplete: backscroll knowledge check",
        "More: --offset 1",
        "There is more, but not by paging: ask for something narrower",
    ]


@pytest.mark.usefixtures("store")
def test_an_exact_name_is_found(knowledge: Callable[..., Said]) -> None:
    said = knowledge("lookup", "a.", "ruiz")
    assert (said.code, said.out.splitlines()[0]) == (0, "  1 Ana Ruiz  person  P-ana  #team")


@pytest.mark.usefixtures("store")
def test_a_name_of_several_lists_them(knowledge: Callable[..., Said]) -> None:
    said = knowledge("lookup", "Ben", "-n", "1")
    assert said.code == 0
    assert "2 records of this name" in said.err
    assert "More: --offset 1" in said.err


@pytest.mark.usefixtures("store")
def test_a_name_of_nobody_is_exit_code_1(knowledge: Callable[..., Said]) -> None:
    said = knowledge("lookup", "Ruiz")
    assert said.code == 1
    assert "`backscroll knowledge grep` searches words" in said.err


# dated lists


@pytest.mark.usefixtures("store")
def test_the_timeline_stands_under_its_days(knowledge: Callable[..., Said]) -> None:
    said = knowledge("timeline", "--entity", "Atlas")
    assert said.out.splitlines() == [
        "2026-03-12  Thursday",
        "         Atlas list price  decision  C-p2",
        "         Atlas lists at 49 EUR from April.",
        "         from Atlas review",
        "         Atlas review  meeting  M-rev",
        "         Price discussion.",
        "",
        "2026-03-05  Thursday",
        "  09:00  Kickoff held  event  C-kick",
        "         Scope agreed with Acme.",
        "         from Atlas kickoff",
        "         Pilot delivery  commitment  C-ship",
        "         Ana delivers the pilot build.",
        "         from Atlas kickoff",
        "",
    ]
    assert said.err == "4 of 4 records\n"


@pytest.mark.usefixtures("store")
def test_a_timeline_by_source_counts_what_was_recorded_from_each(knowledge: Callable[..., Said]) -> None:
    out = knowledge("timeline", "-e", "P-ana", "--by-source", "--oldest-first").out
    assert "  09:00  Atlas kickoff  meeting  M-kick\n         Ana presented the scope" in out
    assert "         1 recorded from it" in out


@pytest.mark.usefixtures("store")
def test_inactive_records_say_what_they_are(knowledge: Callable[..., Said]) -> None:
    out = knowledge("timeline", "--inactive", "-e", "P-ana").out
    assert "Atlas launch price  decision  C-p1  superseded" in out
    assert "Prefers mornings  preference  C-exp  expired" in out
    assert "superseded" not in knowledge("timeline", "-e", "P-ana").out


@pytest.mark.usefixtures("store")
def test_a_later_page_continues_the_first(knowledge: Callable[..., Said]) -> None:
    pages = [
        json.loads(knowledge("timeline", "--json", "-n", "2", "--offset", str(offset)).out)["rows"] for offset in (0, 2)
    ]
    assert [row["id"] for page in pages for row in page] == ["C-p2", "M-rev", "C-kick", "C-ship"]


@pytest.mark.usefixtures("store")
def test_a_page_of_another_snapshot_is_refused(knowledge: Callable[..., Said]) -> None:
    said = knowledge("timeline", "--offset", "2", "--snapshot", "0" * 32)
    assert said.code == 2
    assert "Start again" in said.err


@pytest.mark.usefixtures("store")
def test_a_day_and_its_week(knowledge: Callable[..., Said]) -> None:
    day, week = knowledge("day", "2026-03-05"), knowledge("day", "2026-03-05", "--week")
    assert day.out.startswith("2026-03-05  Thursday\n")
    assert "2026-03-12" not in day.out
    assert week.err.startswith("2026-03-02 to 2026-03-08, UTC\n\n2 of 2 records")


@pytest.mark.usefixtures("store")
def test_the_day_of_another_zone(knowledge: Callable[..., Said]) -> None:
    assert "  18:00  Kickoff held" in knowledge("day", "2026-03-05", "--zone", "Asia/Tokyo").out
    said = knowledge("day", "2026-03-05", "--zone", "Mars/Base")
    assert said.code == 2
    assert "Mars/Base" in said.err


@pytest.mark.usefixtures("store")
def test_since_tells_the_oldest_first(knowledge: Callable[..., Said]) -> None:
    out = knowledge("since", "2026-03-05", "--to", "2026-03-12").out
    assert out.index("2026-03-05  Thursday") < out.index("2026-03-12  Thursday")


@pytest.mark.usefixtures("store")
def test_last_seen_shows_the_record_that_carries_the_date(knowledge: Callable[..., Said]) -> None:
    said = knowledge("last-seen", "Ana")
    assert "2026-03-12  Thursday\n         Atlas list price  decision  C-p2" in said.out
    assert "from Atlas review" in said.out
    assert "no proof" in said.err
    earlier = knowledge("last-seen", "Ana", "--to", "2026-03-01")
    assert (earlier.code, earlier.out) == (1, "")


@pytest.mark.usefixtures("store")
def test_the_name_of_several_entities_is_wrong_use(knowledge: Callable[..., Said]) -> None:
    said = knowledge("last-seen", "Ben")
    assert said.code == 2
    assert "Candidates: P-ben, P-ben2" in said.err


# records and check


def test_every_file_is_listed_with_its_standing(knowledge: Callable[..., Said], store: Store) -> None:
    (store.vault / "torn.md").write_text("---\nid: [\n---\n", encoding="utf-8")
    store.edit("C-ship", owner="P-nobody")
    said = knowledge("records", "-n", "100")
    assert "C-wd     fact        withdrawn   Ana in Oslo" in said.out
    assert "C-exp    preference  expired     Prefers mornings" in said.out
    assert "-        -           invalid     torn.md" in said.out
    assert '\nclaims/C-ship.md: owner: no record has the id "P-nobody"' in said.out
    assert "17 of 17 record files" in said.err


def test_a_terminal_cuts_titles_and_never_ids(store: Store) -> None:
    store.page("P-long", "project", "A title " * 20)
    output = Output()
    output.console.width = 60
    with output.console.capture() as captured:
        output.console.print(table_of(store.records()["rows"], output))
    (line,) = [line for line in captured.get().splitlines() if line.startswith("P-long")]
    assert line.startswith("P-long   project")
    assert len(line.rstrip()) <= 60
    assert line.rstrip().endswith("…")


def test_a_new_store_has_no_records_yet(knowledge: Callable[..., Said]) -> None:
    knowledge("init")
    assert knowledge("records").err == "There are no records yet\n"


@pytest.mark.usefixtures("store")
def test_a_filter_that_leaves_no_record_is_exit_code_1(knowledge: Callable[..., Said]) -> None:
    assert knowledge("records", "--lifecycle", "merged").code == 1


@pytest.mark.usefixtures("store")
def test_a_sound_store_checks_out(knowledge: Callable[..., Said], utc: Paths) -> None:
    said = knowledge("check")
    assert (said.code, said.out) == (0, "")
    assert said.err == f"Nothing is wrong: 16 records in {utc.knowledge / 'vault'}, 15 in use\n"


def test_findings_have_file_and_line_and_exit_code_4(knowledge: Callable[..., Said], store: Store) -> None:
    store.edit("C-ship", owner="P-nobody")
    said = knowledge("check")
    line = store.paths["C-ship"].read_text(encoding="utf-8").splitlines().index("owner: P-nobody") + 1
    assert said.code == 4
    assert f'claims/C-ship.md:{line}: owner: no record has the id "P-nobody"  [dangling_reference]' in said.out
    assert said.err.startswith("1 finding: 16 records")
    assert json.loads(knowledge("check", "--json").out)["ok"] is False


def test_a_finding_says_how_to_mend_it(knowledge: Callable[..., Said], store: Store) -> None:
    twin = store.vault / "twin.md"
    twin.write_bytes(store.paths["P-ben"].read_bytes())
    assert "\n    delete the copies that are not wanted" in knowledge("check").out


def test_an_unfinished_change_can_be_given_up(backscroll: Callable[..., Run]) -> None:
    reply: dict[str, Any] = {"ok": True, "issues": [], "files": 1, "usable": 1, "waitingForGit": 2}
    run = backscroll("knowledge", "check", "--give-up", "req_1", knowledge_check=reply)
    assert run.asked == [("knowledge_check", {"giveUp": "req_1"})]
    assert "2 changes not in its Git history yet" in run.err
