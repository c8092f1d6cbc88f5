from __future__ import annotations

import os
import random
import shutil
import threading
from typing import TYPE_CHECKING, Any

import pytest

from engine.archive.places import Stored, place_of
from engine.core.clock import SystemClock
from engine.core.errors import Cancelled, EngineNotRunning, InvalidArgument
from engine.core.settings import Settings
from engine.maintenance.doctor import CHECKS
from engine.service import Engine, open_reader
from engine.transcripts.discovery import Root
from tests.engine.maintenance.conftest import SETTINGS, History, found, session_id
from tests.engine.maintenance.test_rebuild import everything, write_history
from tests.helpers import hash_worker

if TYPE_CHECKING:
    from pathlib import Path


def examined(engine: Engine, **arguments: bool) -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in engine.api.call("doctor", arguments)["findings"]}


@pytest.fixture(autouse=True)
def no_claude(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))


def test_a_healthy_installation_has_nothing_to_mend(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        reply = engine.api.call("doctor", {})

    wrong = [each for each in reply["findings"] if each["severity"] not in ("ok", "info")]
    assert wrong == []
    assert reply["ok"]


def test_every_check_has_an_id_a_title_and_words_for_people(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        findings = engine.api.call("doctor", {})["findings"]

    assert len({check.id for check in CHECKS}) == len(CHECKS) >= 20
    for each in findings:
        assert each["title"]
        assert each["found"].endswith((".", "!"))
        assert each["severity"] == "ok" or each["means"]


def test_looking_changes_nothing(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        before = {
            file: file.read_bytes()
            for file in history.paths.data.rglob("*")
            if file.is_file() and "-shm" not in file.name
        }
        engine.api.call("doctor", {})
        after = {
            file: file.read_bytes()
            for file in history.paths.data.rglob("*")
            if file.is_file() and "-shm" not in file.name
        }

    assert after == before


def test_words_that_are_missing_are_made_anew_after_a_backup(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        history.sql("DELETE FROM search WHERE rowid <= 5")
        assert examined(engine)["words"]["severity"] == "error"
        assert "5 chunks" in examined(engine)["words"]["found"]

        reply = engine.api.call("doctor", {"fix": True})
        words = next(each for each in reply["findings"] if each["id"] == "words")

        assert words["fixed"]
        assert "is kept as index-" in reply["note"]
        assert len(list((history.paths.data / "backups").glob("index-*-fix.db"))) == 1
        assert examined(engine)["words"]["severity"] == "ok"
        assert found(engine, "medlar") == {session_id(2)}


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_one_finding_can_be_mended_while_another_stays(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        history.sql("DELETE FROM search WHERE rowid <= 5")
        history.paths.data.chmod(0o755)
        assert examined(engine)["permissions"]["severity"] == "warning"

        reply = engine.api.call("doctor", {"fix": True, "only": ["permissions"]})
        told = {each["id"]: each for each in reply["findings"]}

        assert told["permissions"]["fixed"]
        assert (told["words"]["severity"], "fixed" in told["words"]) == ("error", False)
        assert "note" not in reply
        after = examined(engine)
        assert (after["permissions"]["severity"], after["words"]["severity"]) == ("ok", "error")


def test_a_finding_that_no_check_makes_is_refused_with_those_there_are(history: History) -> None:
    with history.engine() as engine, pytest.raises(InvalidArgument, match=r"no check 'hotkey'.*permissions"):
        engine.api.keeping.doctor(fix=True, only=["hotkey"])


def test_two_backups_are_kept(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        for _ in range(4):
            history.clock.advance(60)
            history.sql("DELETE FROM search WHERE rowid = 1")
            engine.api.call("doctor", {"fix": True})

    assert len(list((history.paths.data / "backups").iterdir())) == 2


def test_a_folder_that_may_not_be_read_is_named(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        assert examined(engine)["unreadable"]["severity"] == "ok"
        history.sql("""INSERT INTO meta VALUES ('refused_folders', '{"/home/dev/closed": "Permission denied"}')""")

        found = examined(engine)["unreadable"]

        assert found["severity"] == "warning"
        assert found["found"] == "1 folder, 0 files and 0 lines could not be read: closed."
        assert "permissions" in found["means"]
        shown = engine.api.call("coverage", {})["problems"]
        assert shown == [{"file": "/home/dev/closed", "what": "folder: Permission denied"}]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_what_others_can_read_is_closed(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        history.paths.data.chmod(0o755)
        history.paths.database.chmod(0o644)
        assert examined(engine)["permissions"]["severity"] == "warning"

        assert examined(engine, fix=True)["permissions"]["fixed"]

        assert history.paths.data.stat().st_mode & 0o077 == 0
        assert history.paths.database.stat().st_mode & 0o077 == 0


def test_what_others_could_read_is_closed_at_start(history: History) -> None:
    write_history(history)
    with history.engine():
        opened = [history.paths.data, history.paths.database, history.paths.archive, *history.paths.data.glob("*.json")]
        opened += history.paths.archive.glob("*/*")
    for each in opened:
        each.chmod(0o755 if each.is_dir() else 0o644)
    with history.engine():
        assert [each for each in opened if each.stat().st_mode & 0o077] == []


def test_transcripts_that_were_not_read_are_read(history: History) -> None:
    write_history(history)
    with history.engine() as engine:
        history.session(5, "cornelian", days_ago=1)
        history.session(2, "medlar", "loquat", days_ago=3)
        seen = examined(engine)["transcripts"]
        assert seen["severity"] == "warning"
        assert "1 transcript were never read" in seen["found"] or "1 transcript" in seen["found"]

        assert examined(engine, fix=True)["transcripts"]["fixed"]
        assert found(engine, "cornelian") == {session_id(5)}
        assert found(engine, "loquat") == {session_id(2)}


SPOIL = """
INSERT INTO generations (name, revision, dimension, pooling, folder, precision, answers)
    VALUES ('m', '1', 8, 'mean', '/m', 'float32', 1);
CREATE VIRTUAL TABLE bits_1 USING vec0(bits bit[8]);
INSERT INTO passages VALUES (1, 1, 999999, 0, 1, 1.0, x'00');
INSERT INTO bits_1 (rowid, bits) VALUES (1, vec_bit(x'01'));
INSERT INTO bits_1 (rowid, bits) VALUES (7, vec_bit(x'01'));
INSERT INTO embedded VALUES (1, 2, 0, 5);
"""
"""A vector without a chunk, a code without a vector, an embedded chunk without a vector."""


def test_vectors_out_of_step_are_mended(history: History) -> None:
    write_history(history)

    with history.engine() as engine:
        history.sql(SPOIL)
        assert examined(engine)["vectors"]["severity"] == "warning"

        assert examined(engine, fix=True)["vectors"]["fixed"]

        assert (2,) in history.sql("SELECT chunk_id FROM waiting")


@pytest.mark.integration
def test_chunks_that_could_not_be_embedded_are_told_and_tried_again(history: History, tmp_path: Path) -> None:
    write_history(history)
    model = tmp_path / "hash"
    model.mkdir()
    (model / "modules.json").write_text("[]", encoding="utf-8")
    settings = Settings(time_zone="UTC", embedding_model=str(model))
    engine = Engine(
        history.paths, settings, history.clock, roots=(Root(history.root, "claude"),), worker=hash_worker.command()
    )
    engine.start(watch=False)
    try:
        engine.run_once()
        assert examined(engine)["backlog"]["severity"] == "ok"
        history.sql("DELETE FROM passages WHERE chunk_id IN (1, 2)")
        history.sql("UPDATE embedded SET state = 1 WHERE chunk_id IN (1, 2)")

        finding = examined(engine)["backlog"]
        assert (finding["severity"], finding["found"]) == ("warning", "2 chunks could not be embedded.")
        assert examined(engine, fix=True)["backlog"]["fixed"]
        assert examined(engine)["backlog"]["severity"] == "ok"
    finally:
        engine.stop()


def test_a_damaged_archive_file_is_stored_again_and_the_damaged_one_kept(history: History) -> None:
    write_history(history)
    stored = Stored("claude", history.files[2].relative_to(history.root).as_posix(), 0)
    with history.engine() as engine:
        place = place_of(history.paths.archive, stored)
        data = bytearray(place.read_bytes())
        data[-20] ^= 0xFF
        place.write_bytes(data)
        assert examined(engine)["archive"]["severity"] == "error"
        assert engine.api.call("doctor", {"deep": True})["ok"] is False

        assert examined(engine, fix=True)["archive"]["fixed"]

        assert place.with_name(f"{place.name}.damaged").read_bytes() == bytes(data)
        history.files[2].unlink()
        engine.run_once()
        assert engine.api.get_session(session_id(2)).messages[0].source == "archive"


def test_mending_can_be_cancelled(history: History) -> None:
    write_history(history)
    cancelled = threading.Event()
    cancelled.set()
    with history.engine() as engine, pytest.raises(Cancelled):
        engine.api.call("doctor", {"fix": True}, cancelled=cancelled)


def test_without_an_engine_the_doctor_looks_but_does_not_mend(history: History) -> None:
    write_history(history)
    with history.engine():
        pass
    with open_reader(history.paths, SETTINGS, history.clock) as api:
        assert api.keeping.doctor().ok
        with pytest.raises(EngineNotRunning):
            api.keeping.doctor(fix=True)


# The bad day ---------------------------------------------------------------------------------------------------------


def overwrite_pages(database: Path, seed: int, *, live: bool = False) -> None:
    """Fill some pages of a closed database with noise, its first one left alone in half of the cases."""
    chance = random.Random(seed)
    for suffix in () if live else ("-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)
    size = database.stat().st_size
    pages = size // 4096
    with database.open("r+b") as file:
        for _ in range(max(8, pages // 10)):
            page = chance.randrange(seed % 2, pages)
            file.seek(page * 4096)
            file.write(chance.randbytes(4096))


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> tuple[History, dict[str, object]]:
    """Give an installation and its content; its first session is only in the archive."""
    folder = tmp_path_factory.mktemp("indexed")
    from engine.core.paths import Paths

    paths = Paths.below(folder / "home")
    paths.ensure()
    (folder / "projects").mkdir()
    made = History(paths, folder / "projects")
    write_history(made)
    with made.engine() as engine:
        before = everything(engine)
        shutil.rmtree(made.files[1].with_suffix(""))
        made.files[1].unlink()
        engine.run_once()
    made.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    return made, before


@pytest.mark.expect_log("moved aside")
@pytest.mark.parametrize("seed", range(20))
def test_a_database_with_random_damage_is_told_and_made_anew_with_every_session(
    indexed: tuple[History, dict[str, object]], tmp_path: Path, seed: int
) -> None:
    original, before = indexed
    shutil.copytree(original.paths.home or tmp_path, tmp_path / "home", ignore=shutil.ignore_patterns("engine.lock"))
    from engine.core.paths import Paths

    paths = Paths.below(tmp_path / "home")
    overwrite_pages(paths.database, seed)
    size = paths.database.stat().st_size
    with open_reader(paths, SETTINGS, original.clock) as api:
        findings = {each.id: each for each in api.keeping.doctor().findings}
    assert findings["database"].severity == "error"
    assert "everything is in them" in findings["database"].means

    engine = Engine(paths, SETTINGS, original.clock, roots=(Root(original.root, "claude"),))
    engine.start(watch=False)
    try:
        told = engine.api.call("doctor", {"fix": True})
        engine.run_once()
        after = everything(engine)
        again = engine.api.call("doctor", {})
    finally:
        engine.stop()

    assert after == before
    assert [each["severity"] for each in again["findings"] if each["id"] == "database"] == ["ok"]
    assert [file.stat().st_size for file in (paths.data / "quarantine").rglob("index.db")] == [size]
    assert all(each.get("fixed") is not False for each in told["findings"])


@pytest.mark.expect_log("moved aside")
def test_a_file_that_is_no_database_is_set_aside_at_start(history: History) -> None:
    write_history(history)
    history.paths.database.write_bytes(b"this is not a database " * 1000)

    with history.engine() as engine:
        assert found(engine, "medlar") == {session_id(2)}
        assert [each.id for each in engine.notices() if each.id == "set_aside"] == ["set_aside"]
    assert next((history.paths.data / "quarantine").rglob("index.db")).read_bytes().startswith(b"this is not")


@pytest.mark.expect_log("moved aside", ".*")
def test_a_running_engine_replaces_its_damaged_database_and_reads_on(history: History) -> None:
    write_history(history)
    engine = Engine(history.paths, SETTINGS, SystemClock(), roots=(Root(history.root, "claude"),))
    engine.start(watch=True, serve=False)
    try:
        wait_for(
            lambda: found(engine, "medlar quince bullace") == set() and found(engine, "bullace") == {session_id(3)}
        )
        wait_for(lambda: not engine.ingest_status().files_pending)
        history.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        overwrite_pages(history.paths.database, 1, live=True)

        findings = {each.id: each for each in engine.api.keeping.doctor(fix=True).findings}

        assert findings["database"].fixed
        wait_for(lambda: found(engine, "quince") == {session_id(1)})
        history.session(8, "loquat", days_ago=0)
        wait_for(lambda: found(engine, "loquat") == {session_id(8)})
    finally:
        engine.stop()


def wait_for(condition: Any, seconds: float = 60.0) -> None:
    pause = threading.Event()
    for _ in range(int(seconds * 20)):
        if condition():
            return
        pause.wait(0.05)
    pytest.fail("it did not happen in time")
