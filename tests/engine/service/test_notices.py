"""What the tray says of an engine that only half works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import engine.service.engine
from engine.core.settings import load_settings
from engine.service.notices import degraded, given_up, of_settings

STARTED = re.findall(r'self\._begin\("([\w-]+)"', Path(engine.service.engine.__file__).read_text(encoding="utf-8"))


def test_every_thread_of_the_engine_is_known() -> None:
    assert len(STARTED) >= 4


@pytest.mark.parametrize("worker", STARTED)
def test_a_thread_that_was_given_up_is_told_by_what_no_longer_works(worker: str) -> None:
    (notice,) = degraded(given_up(worker))

    assert "any more (" in notice.text
    assert worker in notice.text
    assert notice.hint


@pytest.mark.parametrize("written", [b"not [toml", b"\xff\xfe"])
def test_settings_that_could_not_be_read_are_told_until_the_person_deals_with_them(
    tmp_path: Path, written: bytes
) -> None:
    file = tmp_path / "settings.toml"
    assert list(of_settings(file)) == []

    file.write_bytes(written)
    load_settings(file)
    file.write_text("autostart = true\n", encoding="utf-8")  # by whoever saves a setting next

    (notice,) = of_settings(file)
    (aside,) = tmp_path.glob("settings.toml.unreadable-*")
    assert notice.id == "settings"
    assert str(aside) in notice.text

    aside.unlink()
    assert list(of_settings(file)) == []
