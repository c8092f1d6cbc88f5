"""The real app on a display of its own: what a person sees and presses, from the outside."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import TYPE_CHECKING

import psutil
import pytest

from engine.store.connection import open_writer
from tests.desktop.e2e.conftest import OTHER_PROGRAM, Desk

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(180)]

HOTKEY = "ctrl+shift+space"
INDIGO = "#5b52e6"
RED, GREEN = "#c02b3c", "#16794a"
"""What the light scheme says of what is wrong or lost, and of what went well."""
SCREEN = "1440x860+0+0"
PANEL = "400x32+1040+868"
"""The right end of the panel, where the tray is."""


def shown(desk: Desk) -> None:
    """Bring the search window up with the hotkey."""
    desk.keys(HOTKEY)
    desk.until(lambda: desk.is_shown() and desk.focused() == "Backscroll", "the search window")


def run_action(desk: Desk, name: str) -> None:
    """Run an action through the list of actions."""
    desk.keys("ctrl+k")
    desk.type(name)
    desk.keys("Return")


def test_the_icon_is_in_the_tray_and_no_window_appears_unasked(desk: Desk) -> None:
    desk.app("--background")
    desk.until(lambda: desk.has_colour(INDIGO, PANEL), "the icon")
    assert not desk.is_shown()


def test_the_hotkey_toggles_the_window_and_reaches_nobody_else(desk: Desk) -> None:
    desk.app("--background")
    log = desk.home / "keys.txt"
    desk.start("-c", OTHER_PROGRAM, str(log))
    desk.until(lambda: desk.focused() == "another program", "the other program")
    desk.type("x")
    desk.until(log.exists, "the other program's keys")
    shown(desk)
    desk.keys(HOTKEY)
    desk.until(lambda: not desk.is_shown(), "the end of the search window")
    desk.until(lambda: desk.focused() == "another program", "the other program's turn")
    desk.type("y")
    desk.until(lambda: "'y'" in log.read_text(encoding="utf-8"), "the second key")
    typed = [line.split()[1] for line in log.read_text(encoding="utf-8").splitlines()]
    assert [text for text in typed if text.strip("'")] == ["'x'", "'y'"], "the hotkey's own letter went elsewhere"


def test_words_find_the_session_copy_it_and_open_it(desk: Desk) -> None:
    desk.app("--background")
    shown(desk)
    desk.type("samesite")
    desk.until(lambda: _copied(desk, "ctrl+c", "SameSite"), "the text of the hit")
    desk.keys("ctrl+shift+c")
    desk.until(lambda: "session" in desk.clipboard(), "the citation")
    desk.keys("Return")
    desk.until(lambda: _copied(desk, "ctrl+shift+i", "-"), "the session")
    session = desk.clipboard().strip()
    assert (desk.home / "claude" / "projects").rglob(f"{session}.jsonl")
    assert [*(desk.home / "claude" / "projects").rglob(f"{session}.jsonl")] != []
    desk.keys("Escape")
    desk.keys("Escape")
    desk.keys("Escape")
    desk.until(lambda: not desk.is_shown(), "the end of the search window")


def _copied(desk: Desk, keys: str, text: str) -> bool:
    desk.keys(keys)
    return text.lower() in desk.clipboard().lower()


def test_a_click_elsewhere_hides_the_window(desk: Desk) -> None:
    desk.app("--background")
    log = desk.home / "keys.txt"
    other = desk.start("-c", OTHER_PROGRAM, str(log))
    desk.until(lambda: desk.focused() == "another program", "the other program")
    subprocess.run(
        ["xdotool", "search", "--name", "another program", "windowmove", "10", "10"], env=desk.env, check=True
    )
    shown(desk)
    subprocess.run(["xdotool", "mousemove", "60", "60", "click", "1"], env=desk.env, check=True)
    desk.until(lambda: not desk.is_shown(), "the end of the search window")
    assert other.poll() is None


def test_a_second_start_shows_the_first_ones_window_and_ends(desk: Desk) -> None:
    desk.app("--background")
    second = desk.run("-m", "desktop")
    assert second.returncode == 0, second.stderr
    desk.until(desk.is_shown, "the first one's window")
    quiet = desk.run("-m", "desktop", "--background")
    assert quiet.returncode == 0


def test_the_toggle_command_shows_and_hides_the_window(desk: Desk) -> None:
    desk.app("--background")
    assert desk.run("-m", "engine", "toggle").returncode == 0
    desk.until(desk.is_shown, "the window")
    assert desk.run("-m", "engine", "toggle").returncode == 0
    desk.until(lambda: not desk.is_shown(), "the end of the window")


def test_the_app_takes_over_from_a_serve(desk: Desk) -> None:
    serve = desk.start("-m", "engine", "serve")
    desk.until_engine_answers()
    app = desk.app("--background")
    assert serve.wait(60) == 0
    desk.until_engine_answers()
    assert app.poll() is None


def test_claude_code_is_connected_and_disconnected(desk: Desk) -> None:
    desk.app("--background")
    file = desk.home / "claude" / ".claude.json"
    file.write_text('{"theme": "dark"}', encoding="utf-8")

    def servers() -> dict[str, object]:
        return json.loads(file.read_text(encoding="utf-8")).get("mcpServers", {})

    shown(desk)
    run_action(desk, "connect")
    desk.until(lambda: desk.focused().startswith("Connect Claude Code"), "the window")
    desk.until(lambda: _pressed(desk, "Tab", "space", lambda: "backscroll" in servers()), "the entry")
    desk.keys("Escape")
    desk.until(lambda: not desk.is_shown("Connect Claude Code"), "the end of the window")
    shown(desk)
    run_action(desk, "connect")
    desk.until(lambda: desk.focused().startswith("Connect Claude Code"), "the window")
    desk.until(lambda: _pressed(desk, "Tab", "space", lambda: "backscroll" not in servers()), "its end")
    assert json.loads(file.read_text(encoding="utf-8")) == {"theme": "dark"}


def test_the_doctor_finds_a_damaged_index_of_words_and_mends_it_with_one_click(desk: Desk) -> None:
    desk.app("--background")
    database = desk.home / "b" / "data" / "index.db"
    connection = open_writer(database)
    connection.execute("DELETE FROM search WHERE rowid <= 5")
    connection.close()
    assert _finding(desk, "words")["severity"] == "error"
    shown(desk)
    run_action(desk, "doctor")
    desk.until(lambda: desk.focused().startswith("Doctor"), "the doctor")
    desk.until(lambda: desk.has_colour(RED, SCREEN), "what it found")
    desk.keys("space")  # Fix all…, which has the keyboard
    desk.keys("space")  # and so has the answer to its question
    desk.until(lambda: _finding(desk, "words")["severity"] == "ok", "the mended index")
    assert [*(database.parent / "backups").glob("index-*-fix.db")] != []


def test_prune_shows_what_would_go_and_takes_it_out_after_a_second_step(desk: Desk) -> None:
    desk.app("--background")
    before = _sessions(desk)
    assert before > 0
    shown(desk)
    run_action(desk, "prune")
    desk.until(lambda: desk.focused().startswith("Prune"), "the window")
    desk.keys("ctrl+a", "1")
    # The second step is the only one that shows anything in red: its button.
    desk.until(lambda: _pressed(desk, "Return", "Shift_L", lambda: desk.has_colour(RED, SCREEN)), "the second step")
    assert _sessions(desk) == before
    desk.keys("Tab", "space")
    desk.until(lambda: _sessions(desk) < before, "the end of the sessions")
    desk.until(lambda: desk.has_colour(GREEN, SCREEN), "the result")
    assert [*(desk.home / "claude" / "projects").rglob("*.jsonl")] != []


def _finding(desk: Desk, name: str) -> dict[str, object]:
    found = json.loads(desk.run("-m", "engine", "doctor", "--json").stdout)["findings"]
    return next(each for each in found if each["id"] == name)


def _sessions(desk: Desk) -> int:
    return int(json.loads(desk.run("-m", "engine", "status", "--json").stdout)["sessions"])


def _pressed(desk: Desk, first: str, second: str, ready: object) -> bool:
    import select

    assert callable(ready)
    if not ready():
        desk.keys(first, second)
        select.select([], [], [], 0.6)
    return bool(ready())


@pytest.mark.parametrize("way", ["key", "signal"])
def test_quitting_ends_every_process_and_leaves_no_socket(desk: Desk, way: str) -> None:
    app = desk.app("--background")
    family = psutil.Process(app.pid).children(recursive=True)
    if way == "key":
        shown(desk)
        desk.keys("ctrl+q")
    else:
        app.send_signal(signal.SIGTERM)
    assert app.wait(60) == 0, desk.output()
    assert psutil.wait_procs(family, timeout=60)[1] == []
    assert not (desk.home / "b" / "run" / "engine.sock").exists()
    assert "Traceback" not in desk.output()


def test_an_end_as_soon_as_the_icon_is_there_ends_every_process(desk: Desk) -> None:
    app = desk.start("-m", "desktop", "--background")
    desk.until(lambda: desk.has_colour(INDIGO, PANEL), "the icon")
    app.send_signal(signal.SIGTERM)
    assert app.wait(60) == 0, desk.output()


def test_the_log_holds_no_warning_of_qt(desk: Desk) -> None:
    app = desk.app()
    desk.until(desk.is_shown, "the window")
    run_action(desk, "status")
    desk.until(lambda: desk.is_shown("^Status"), "the status window")
    app.send_signal(signal.SIGTERM)
    assert app.wait(60) == 0
    log = (desk.home / "b" / "logs" / "backscroll.log").read_text(encoding="utf-8")
    assert "desktop.qt" not in log, log
    assert desk.output().strip() == ""


def test_the_first_start_shows_the_card(desk: Desk) -> None:
    (desk.home / "b" / "state" / "desktop.json").unlink()
    desk.app()
    desk.until(lambda: desk.is_shown("Welcome to Backscroll"), "the card")
    assert desk.is_shown("Welcome to Backscroll")


def test_without_a_tray_the_app_is_an_ordinary_window(short_tmp: Path, desk: Desk) -> None:
    assert short_tmp == desk.home
    panel = [each for each in psutil.Process().children() if each.name() == "tint2"]
    for each in panel:
        each.terminate()
    psutil.wait_procs(panel, timeout=60)
    app = desk.app()
    desk.until(desk.is_shown, "the window")
    desk.keys("Escape")
    assert desk.is_shown()
    desk.keys("alt+F4")  # openbox's own key
    assert app.wait(60) == 0, desk.output()
