from __future__ import annotations

import re
from pathlib import Path

from engine.maintenance.doctor import CHECKS
from engine.transcripts.secret_shapes import KINDS

ROOT = Path(__file__).parents[2]
RELIABILITY = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
PRIVACY = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")


def test_each_fault_names_a_test_that_exists() -> None:
    table = RELIABILITY.split("## Faults")[1]
    named = set(re.findall(r"`(test_\w+)`", table))
    there = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", file.read_text(encoding="utf-8"))
    }

    assert len(named) > 20
    assert named - there == set()
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert [row for row in rows if "`test_" not in row] == []


def test_every_check_is_described_and_no_other() -> None:
    table = RELIABILITY.split("## The doctor")[1].split("## Faults")[0]

    assert re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE) == [check.id for check in CHECKS]


def test_every_kind_of_secret_is_named_and_no_other() -> None:
    named = re.findall(r"`([a-z0-9_]+)`", PRIVACY.split("Known kinds: ")[1].split(" stands for")[0])

    assert sorted(named) == sorted(KINDS)
