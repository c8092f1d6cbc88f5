"""The examples of docs/knowledge.md are records this program accepts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.engine.knowledge.fixture_f import ids, sha256

if TYPE_CHECKING:
    from tests.engine.knowledge.fixture_f import Store

PAGE = Path(__file__).resolve().parents[3] / "docs" / "knowledge.md"
EXAMPLE = re.compile(r"^`vault/([^`]+)`\n\n```(?:markdown|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ORIGINAL = b"Review notes\nOk, we list at 49 EUR from April.\n"


def test_the_examples_of_the_manual_form_a_valid_vault(empty: Store) -> None:
    text = PAGE.read_text(encoding="utf-8")
    digest = sha256(ORIGINAL)
    examples = EXAMPLE.findall(text)
    assert len(examples) == 5
    for path, content in examples:
        target = empty.vault / path
        target.parent.mkdir(parents=True, exist_ok=True)
        filled = content.replace("HASH_START", digest[:2]).replace("HASH", digest)
        target.write_text(filled, encoding="utf-8", newline="\n")
    original = empty.vault / "evidence" / "files" / digest[:2] / f"{digest}.txt"
    original.parent.mkdir(parents=True)
    original.write_bytes(ORIGINAL)
    assert empty.check()["issues"] == []
    assert ids(empty.grep("49 EUR")) == ["k_price00000000001"]
    assert empty.tl(entity="Mira", group="source")["rows"][0]["noteRecord"]["id"] == "k_attended00000001"


def test_the_ontology_of_the_manual_is_valid(empty: Store) -> None:
    text = PAGE.read_text(encoding="utf-8")
    ontology = next(block for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "ontology-v1" in block)
    (empty.vault / "ontology.yaml").write_text(ontology, encoding="utf-8")
    assert empty.check()["issues"] == []
    rows = empty.call("knowledge_ontology", {"view": "definitions", "name": "package"})["rows"]
    assert (rows[0]["name"], rows[0]["fields"]["status"]["values"]) == ("library", ["in use", "dropped"])
