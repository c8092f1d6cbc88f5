from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.core.paths import Paths
    from engine.knowledge.yamltext import YamlValue
    from tests.engine.cli.knowledge.conftest import Said
    from tests.engine.knowledge.fixture_f import Store


def test_a_claim_is_a_page_with_dates_names_and_evidence(
    knowledge: Callable[..., Said], store: Store, utc: Paths
) -> None:
    evidence: list[YamlValue] = [{"id": store.evidence(), "lines": [3, 3], "quote": "Forty euros"}]
    store.edit("C-p1", evidence=evidence)
    said = knowledge("show", "Atlas", "launch", "price")
    assert said.code == 0
    assert said.out.splitlines() == [
        "Atlas launch price",
        "C-p1  claim: decision  revision 2  superseded by Atlas list price  C-p2",
        "",
        "The launch price of Atlas is forty euros.",
        "",
        "Occurred  2026-03-05",
        "Said by   Ben Okafor  stated",
        "About     Ana Ruiz  P-ana",
        "Sources   Atlas kickoff  M-kick",
        "Recorded  2026-03-05 10:00",
        f"File      {utc.knowledge / 'vault' / 'claims' / 'C-p1.md'}",
        "",
        "Evidence",
        "  ✓ “Forty euros”",
        "    Ben Okafor · line 3",
        "    Forty euros, for now.",
        "",
    ]


@pytest.mark.usefixtures("store")
def test_a_page_shows_what_is_recorded_about_it(knowledge: Callable[..., Said]) -> None:
    out = knowledge("show", "ana").out
    assert "P-ana  page: person  revision 1" in out
    assert "Aliases   A. Ruiz, Ana" in out
    about = out.partition("What is recorded about it\n")[2]
    assert about.startswith("2026-03-12  Thursday\n         Atlas list price  decision  C-p2")
    assert "from Atlas review" in about


def test_a_page_of_much_names_the_command_for_the_rest(knowledge: Callable[..., Said], store: Store) -> None:
    for number in range(6):
        store.claim(f"C-n{number}", "fact", f"Fact {number}", occurred_at="2026-04-01", entities=["P-ben"])
    assert "6 in all: backscroll knowledge timeline --entity P-ben" in knowledge("show", "P-ben").out


@pytest.mark.usefixtures("store")
def test_relationships_name_their_ends(knowledge: Callable[..., Said]) -> None:
    out = knowledge("show", "R-emp").out
    assert "From      Ana Ruiz  P-ana" in out
    assert "To        Acme GmbH  P-acme" in out


def test_evidence_that_does_not_hold_says_why(knowledge: Callable[..., Said], store: Store) -> None:
    store.edit("C-ship", evidence=[{"id": store.evidence(), "quote": "Never said"}, {"id": "ev_lost"}])
    out = knowledge("show", "C-ship").out
    assert "  ✗ “Never said”\n    Ben Okafor\n    Not verified: the original does not say this" in out
    assert "  ✗ ev_lost\n    Not verified: its description is missing" in out
    assert 'evidence: no descriptor "ev_lost"' in out


def test_a_withdrawal_tells_when_and_why(knowledge: Callable[..., Said], store: Store) -> None:
    change: dict[str, YamlValue] = {
        "reason": "He moved",
        "at": "2026-03-12T15:05:00Z",
        "actor": "agent:main",
        "request_id": "req_1",
    }
    store.edit("C-wd", lifecycle_change=change)
    out = knowledge("show", "C-wd").out
    assert "C-wd  claim: fact  revision 2  withdrawn" in out
    assert "Withdrawn  2026-03-12 15:05 by agent:main: He moved" in out


def test_a_record_that_is_not_in_use_says_why(knowledge: Callable[..., Said], store: Store) -> None:
    store.edit("C-ship", entities=["P-nobody"])
    out = knowledge("show", "C-ship").out
    assert "C-ship  claim: commitment  revision 1  invalid" in out
    assert "Not in use, because these are not available: P-nobody" in out


def test_a_long_body_is_read_to_its_end(knowledge: Callable[..., Said], store: Store) -> None:
    store.edit("P-acme", body="\n" + "word " * 9_000 + "end.\n")
    assert "word end.\n" in knowledge("show", "P-acme").out
    reply = json.loads(knowledge("show", "P-acme", "--json", "--offset", "44990").out)
    assert reply["record"]["body"].endswith("end.\n")


def test_nothing_in_a_record_acts_on_the_terminal(knowledge: Callable[..., Said], store: Store) -> None:
    store.edit("P-acme", body="\nred \x1b[31m here\n")
    assert "red \u241b[31m here" in knowledge("show", "P-acme").out


@pytest.mark.usefixtures("store")
def test_a_name_of_nobody_and_of_several(knowledge: Callable[..., Said]) -> None:
    nobody, several = knowledge("show", "Nobody"), knowledge("show", "Ben")
    assert nobody.code == 1
    assert "No record has exactly the id or name 'Nobody'" in nobody.err
    assert several.code == 2
    assert "Candidates: P-ben, P-ben2" in several.err


def test_a_merged_page_shows_the_one_it_went_into(knowledge: Callable[..., Said], store: Store) -> None:
    store.edit("P-ben2", lifecycle="merged", merged_into="P-ben")
    assert knowledge("show", "Ben", "Stone").out.startswith("Ben Okafor\n")
