from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from desktop.bridge import Bridge
from desktop.errors import Trouble
from desktop.pulse import Pulse, PulseKeeper
from desktop.resources import TrayState, drawn, icons_folder, tray_icon
from desktop.tray import Tray
from engine.core.errors import StorageFailure
from engine.core.models.status import Notice
from tests.desktop.fakes import FakeHistory, status

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from desktop.tasks import Tasks

NOTICE = Notice(id="degraded", text="engine-embed was given up.", hint="Start again.")
HARMLESS = Notice(id="no_history", text="No transcripts.", hint="")


@pytest.mark.parametrize(
    ("pulse", "state", "sentence"),
    [
        (Pulse(), TrayState.INDEXING, "starting"),
        (Pulse(is_starting=False), TrayState.DISCONNECTED, "the engine is not running"),
        (Pulse(status=status()), TrayState.IDLE, "18,204 messages, up to date"),
        (Pulse(status=status(ingest="indexing", pending=3)), TrayState.INDEXING, "18,204 messages, reading 3 files"),
        (Pulse(status=status(ingest="indexing", pending=1)), TrayState.IDLE, "18,204 messages, up to date"),
        (
            Pulse(status=status(embedding="embedding", backlog=6900, eta_s=240)),
            TrayState.INDEXING,
            "18,204 messages, embedding 62 % (about 4 min left)",
        ),
        (Pulse(status=status(ingest="paused")), TrayState.PAUSED, "indexing is paused"),
        (Pulse(status=status(warnings=(NOTICE,))), TrayState.ATTENTION, "engine-embed was given up."),
        (Pulse(status=status(warnings=(HARMLESS,))), TrayState.IDLE, "18,204 messages, up to date"),
        (Pulse(problem=Trouble("The disk is full", "")), TrayState.ATTENTION, "The disk is full"),
    ],
)
def test_the_state_is_in_the_icon_and_in_words(pulse: Pulse, state: TrayState, sentence: str) -> None:
    assert pulse.tray_state is state
    assert pulse.sentence.replace("18204", "18,204") == sentence


def labels(menu: QMenu) -> list[str]:
    return [action.text().partition("\t")[0] for action in menu.actions() if not action.isSeparator()]


@pytest.fixture
def tray(qapp: QApplication) -> Tray:
    assert qapp is not None
    return Tray(Pulse(is_starting=False, status=status(), connection="not_connected"), "Ctrl+Shift+Space")


def test_the_menu_has_everything_in_the_order_of_the_design(tray: Tray) -> None:
    assert labels(tray.menu)[1:] == [
        "Search…", "Status…", "Usage…", "Knowledge…", "Pause indexing", "Run doctor", "Prune…", "Connect Claude Code",
        "Settings…", "About", "Quit Backscroll",
    ]  # fmt: skip
    first = tray.menu.actions()[0]
    assert not first.isEnabled()
    assert "messages, up to date" in first.text()
    assert "Ctrl+Shift+Space" in next(a.text() for a in tray.menu.actions() if a.text().startswith("Search"))


def test_the_menu_is_rebuilt_from_the_newest_state_when_it_opens(tray: Tray) -> None:
    tray.show_pulse(Pulse(is_starting=False, status=status(ingest="paused"), connection="connected"))
    tray.menu.aboutToShow.emit()
    assert "Resume indexing" in labels(tray.menu)
    assert "Pause indexing" not in labels(tray.menu)
    assert "Connected ✓" in labels(tray.menu)


def test_every_item_says_what_is_wanted(tray: Tray) -> None:
    wanted: list[str] = []
    tray.wanted.connect(wanted.append)
    for action in tray.menu.actions():
        inside = action.menu()
        for each in inside.actions() if isinstance(inside, QMenu) else [action]:
            if each.isEnabled() and not each.isSeparator():
                each.trigger()
    assert wanted == ["search", "status", "usage", "knowledge", "pause_hour", "pause", "doctor", "prune", "connect",
                      "settings", "about", "quit"]  # fmt: skip


def test_a_click_on_the_icon_asks_for_the_search_window(tray: Tray, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[str] = []
    tray.wanted.connect(wanted.append)
    monkeypatch.setattr("desktop.tray.sys.platform", "linux")
    tray.icon.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    monkeypatch.setattr("desktop.tray.sys.platform", "darwin")
    tray.icon.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    assert wanted == ["search"]


def test_the_tooltip_says_the_state(tray: Tray) -> None:
    tray.show_pulse(Pulse(is_starting=False, status=status(ingest="paused")))
    assert tray.icon.toolTip() == "Backscroll: indexing is paused"


def test_only_what_needs_the_person_is_notified_and_once(tray: Tray, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def say(_title: str, text: str, _icon: QSystemTrayIcon.MessageIcon) -> None:
        said.append(text)

    monkeypatch.setattr(tray.icon, "showMessage", say)
    monkeypatch.setattr(tray.icon, "show", lambda: None)  # Qt's offscreen platform has no panel and warns
    full = Pulse(problem=Trouble("The disk is full", "Nothing can be written.", "Make room."))
    tray.show_pulse(full)
    assert said == []  # there is no icon yet to which it could belong
    tray.show()
    for pulse in (
        Pulse(status=status(ingest="indexing", pending=9)),
        full,
        Pulse(status=status(ingest="paused")),
        full,
    ):
        tray.show_pulse(pulse)
    tray.show_pulse(Pulse(status=status(warnings=(HARMLESS, NOTICE))))
    tray.hide()
    assert said == ["The disk is full. Nothing can be written. Make room.", "Engine-embed was given up. Start again."]


def test_a_click_on_the_notification_shows_the_status(tray: Tray) -> None:
    wanted: list[str] = []
    tray.wanted.connect(wanted.append)
    tray.icon.messageClicked.emit()
    assert wanted == ["status"]


@pytest.mark.parametrize("state", TrayState)
@pytest.mark.parametrize("template", [False, True])
def test_every_state_has_its_own_drawing_at_every_size(qapp: QApplication, state: TrayState, template: bool) -> None:  # noqa: FBT001 - a parameter
    assert qapp is not None
    icon = tray_icon(state, template=template)
    assert icon.isMask() == template
    image = icon.pixmap(16, 16).toImage()
    assert any(image.pixelColor(x, y).alpha() > 200 for x in range(16) for y in range(16))
    others = [tray_icon(other, template=template).pixmap(32, 32).toImage() for other in TrayState if other is not state]
    assert icon.pixmap(32, 32).toImage() not in others


def test_progress_is_drawn_as_an_arc(qapp: QApplication) -> None:
    assert qapp is not None
    pictures = [tray_icon(TrayState.INDEXING, share=share).pixmap(48, 48).toImage() for share in (None, 0.2, 0.8)]
    assert pictures[0] != pictures[1] != pictures[2]


def test_every_drawing_can_be_drawn(qapp: QApplication) -> None:
    assert qapp is not None
    for file in icons_folder().glob("*.svg"):
        assert not drawn(file.stem, 20).isNull()


def test_the_pulse_is_asked_for_once_for_many_events(tasks: Tasks, qtbot: QtBot) -> None:
    from engine.core.events import ChunksAdded, EventHub

    bridge, hub, history = Bridge(), EventHub(), FakeHistory()
    keeper = PulseKeeper(tasks, bridge)
    bridge.attach(hub)
    keeper.engine_started(history)
    qtbot.waitUntil(lambda: keeper.pulse.status is not None)
    before = history.names().count("status")
    history.status_value = status(ingest="paused")
    for _ in range(50):
        hub.publish(ChunksAdded(1))
    qtbot.waitUntil(lambda: keeper.pulse.is_paused)
    assert history.names().count("status") == before + 1


def test_a_status_that_cannot_be_had_is_a_problem_in_words(tasks: Tasks, qtbot: QtBot) -> None:
    keeper, history = PulseKeeper(tasks, Bridge()), FakeHistory()
    history.failure = StorageFailure("The index is damaged")
    keeper.engine_started(history)
    qtbot.waitUntil(lambda: keeper.pulse.problem is not None)
    assert keeper.pulse.tray_state is TrayState.ATTENTION
    keeper.engine_gone()
    assert keeper.pulse.status is None
