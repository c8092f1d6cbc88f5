from __future__ import annotations

import random
import string
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.errors import EngineError
from engine.core.settings import Settings
from tests.helpers.engines import running_engine
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.core.paths import Paths
    from engine.service import Engine

SESSION = "55555555-eeee-4eee-8eee-000000000005"
TOKEN = "gh" + "p_" + "".join(random.Random(5).choices(string.ascii_letters + string.digits, k=36))
SAID = f"The mirror pulls with {TOKEN}, so we settled on a nightly pull."
WITHOUT = "settled on a nightly pull"


def git_objects(folder: Path) -> Iterator[bytes]:
    """Give every object of the repositories below a folder, unpacked. A new repository has no packs."""
    for file in folder.rglob(".git/objects/??/*"):
        yield zlib.decompress(file.read_bytes())


def kept_in(folder: Path) -> list[bytes]:
    """Return the bytes of everything a store keeps: vault, state, and what Git made of it."""
    assert not list(folder.rglob(".git/objects/pack/*.pack"))
    return [*(file.read_bytes() for file in folder.rglob("*") if file.is_file()), *git_objects(folder)]


def holds(folder: Path, text: str) -> bool:
    return any(text.encode() in data for data in kept_in(folder))


def claim(evidence: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "kind": "claim",
        "claim_kind": "decision",
        "title": "Pull",
        "body": "The mirror pulls at night.",
        "attribution": {"by": "Dev"},
        "evidence": [evidence],
        **more,
    }


def session(tmp_path: Path) -> Path:
    projects = tmp_path / "projects"
    talk = TranscriptBuilder(SESSION)
    talk.prompt("How does the mirror get new commits?")
    talk.answer(SAID)
    talk.write(projects)
    return projects


def created(engine: Engine, evidence: dict[str, Any]) -> dict[str, Any]:
    reply = engine.api.ask("knowledge_create", {"record": claim(evidence)})
    (row,) = reply["receipt"]["records"]
    return engine.api.ask("knowledge_record", {"id": row["id"]})["record"]


@pytest.mark.parametrize(
    "evidence",
    [
        pytest.param({"quote": WITHOUT, "session": SESSION}, id="quote beside the secret"),
        pytest.param({"quote": SAID, "session": SESSION}, id="quote around the secret"),
        pytest.param({"quote": TOKEN, "session": SESSION}, id="quote of the secret"),
        pytest.param({"text": SAID, "attribution": "Dev"}, id="text"),
        pytest.param({"text": SAID, "attribution": "Dev", "quote": SAID}, id="text with a quote"),
    ],
)
def test_a_secret_in_what_was_said_reaches_neither_the_vault_nor_git(
    paths: Paths, tmp_path: Path, evidence: dict[str, Any]
) -> None:
    with running_engine(paths, session(tmp_path)) as engine:
        record = created(engine, evidence)

        assert record["evidence"][0]["state"] == "verified"
        assert "[redacted:github]" in record["evidence"][0]["text"]
    assert len(list(git_objects(paths.knowledge))) > 3, "there is a checkpoint to look into"
    assert holds(paths.knowledge, "nightly pull")
    assert not holds(paths.knowledge, TOKEN)


def test_pages_and_corrections_keep_no_secret_either(paths: Paths, tmp_path: Path) -> None:
    quote = {"quote": SAID, "session": SESSION}
    with running_engine(paths, session(tmp_path)) as engine:
        page = {"expectedRevision": 0, "title": "Mirror", "type": "topic", "evidence": [quote]}
        engine.api.ask("knowledge_save_page", page)
        first = created(engine, {"text": "We pull by day.", "attribution": "Dev"})
        correction = {
            "id": first["id"],
            "expectedRevision": 1,
            "expectedHash": first["hash"],
            "reason": "Nights are quieter",
            "replacement": claim(quote),
        }
        engine.api.ask("knowledge_correct", correction)
        with pytest.raises(EngineError):
            engine.api.ask("knowledge_create", {"record": claim({**quote, "quote": f"nobody said {TOKEN}"})})

    assert not holds(paths.knowledge, TOKEN)


def test_without_redaction_evidence_is_kept_as_it_was_said(paths: Paths, tmp_path: Path) -> None:
    settings = Settings(time_zone="UTC", embedding_enabled=False, privacy_redact=False)
    with running_engine(paths, session(tmp_path), settings=settings) as engine:
        record = created(engine, {"quote": WITHOUT, "session": SESSION})

        assert record["evidence"][0]["text"] == SAID
    assert holds(paths.knowledge, TOKEN)
    assert any(TOKEN.encode() in data for data in git_objects(paths.knowledge))
