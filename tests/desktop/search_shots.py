"""Pictures of the search window: over the sample, in its other states, over texts made to hurt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core.errors import StorageFailure
from tests.desktop.fakes import FakeHistory, message, session_row
from tests.desktop.studio import pause, until

if TYPE_CHECKING:
    from desktop.history import History
    from desktop.search.window import SearchWindow
    from tests.desktop.studio import Studio

HOSTILE = {
    1: "<h1>HTML</h1> <script>alert('x')</script> <img src=x onerror=y> needle",
    2: "\x1b[31mANSI red\x1b[0m and \x00 control \x07 characters, needle",
    3: "שלום, זהו טקסט מימין לשמאל עם המילה needle בתוכו",
    4: "夜間同期で「database is locked」が出る件 needle の調査",
    5: "👩‍👩‍👧‍👦🏳️‍🌈 emoji 👍🏽 needle 🎉",
    6: "needle " + "averyveryverylongwordwithoutanyspace" * 300,
    7: "needle " + "x" * 1_000_000,
    8: "| a | needle |\n|---|---|\n| `code` | **bold** |\n\n1. one\n2. two\n\n> quoted\n\n```python\ndef f(): ...\n```",
}


def type_in(window: SearchWindow, text: str) -> None:
    """Type as a person would have by now."""
    window.bar.field.setText(text)
    window.bar.field.textEdited.emit(text)
    pause(900)


def search_pictures(studio: Studio, history: History) -> None:
    """The search window over the sample."""
    window = studio.search(history)
    studio.shoot(window, "search-empty")
    type_in(window, "session tokens")
    studio.shoot(window, "search-typing")
    window.deeds.run("expand")
    pause(200)
    window.deeds.run("down")
    pause(250)
    studio.shoot(window, "search-expanded")
    window.deeds.run("actions")
    studio.shoot(window, "search-actions")
    window.action_list.close_list()
    window.deeds.run("keys")
    studio.shoot(window, "search-keys")
    window.key_help.hide()
    window.deeds.run("copy")
    studio.shoot(window, "search-copied")
    window.toast.hide()
    window.deeds.run("open")
    until(lambda: window.session.counter.text() != "")
    studio.shoot(window, "session")
    window.show_list()
    type_in(window, "project:api role:user ")
    studio.shoot(window, "search-filters")
    type_in(window, "role:boss ")
    studio.shoot(window, "search-wrong-filter")
    window.bar.clear()
    type_in(window, "zebrafish")
    studio.shoot(window, "search-nothing")
    window.hide()
    narrow = studio.search(history, width=600)
    type_in(narrow, "decision")
    studio.shoot(narrow, "search-narrow")
    narrow.hide()
    pinned = studio.search(history, pins=history.list_sessions(limit=2).sessions)
    studio.shoot(pinned, "search-pinned")
    pinned.hide()


def state_pictures(studio: Studio) -> None:
    """The search window in its other states."""
    starting = studio.search(None)
    studio.shoot(starting, "search-starting")
    starting.hide()
    nothing = studio.search(FakeHistory())
    studio.shoot(nothing, "search-no-history")
    nothing.hide()
    broken = FakeHistory.small()
    window = studio.search(broken)
    broken.failure = StorageFailure("The index is damaged", "It cannot be read.", "Run doctor: it repairs it.")
    type_in(window, "auth")
    studio.shoot(window, "search-error")
    window.hide()
    degraded = FakeHistory.small()
    degraded.percent = 62.4
    window = studio.search(degraded)
    type_in(window, "auth")
    studio.shoot(window, "search-degraded")
    degraded.low_signal = 12
    type_in(window, "zebra")
    studio.shoot(window, "search-low-signal")
    window.say_notice(
        "Ctrl+Shift+Space could not be claimed. Another program uses these keys. Choose other keys in the settings."
    )
    studio.shoot(window, "search-notice")
    window.hide()
    slow = FakeHistory.small()
    window = studio.search(slow)
    slow.gate.clear()
    type_in(window, "auth")
    studio.shoot(window, "search-slow")
    slow.gate.set()
    pause(100)
    window.hide()


def hostile_pictures(studio: Studio) -> None:
    """Other people's words."""
    history = FakeHistory()
    for number, text in HOSTILE.items():
        row = session_row(number, title=text[:300], on_disk=number != 3)
        history.add(row, [message(f"{number:08x}-0000-4000-8000-00000000000a", row.session_id, text)])
    window = studio.search(history)
    type_in(window, "needle")
    for number in range(len(HOSTILE)):
        studio.shoot(window, f"hostile-{number + 1}")
        window.deeds.run("down")
        pause(400)
    window.hide()
