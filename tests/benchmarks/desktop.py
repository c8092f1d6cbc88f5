"""How fast the app feels: `python dev.py bench desktop`, on its own display, over real transcripts if there are any.

Prints, each with its bound: the tray after a start, the window after the hotkey, hits after a key, how late the main
thread is during a backfill with embedding, and (over the sample, which is embedded soon) what the hidden app costs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from desktop.app import App
from engine.cli.foreground import Told
from engine.core.paths import Paths
from tests.desktop.display import display, missing

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
QUERIES = ("database migration", "session token", "error in the test", "refactor", "docker compose", "git rebase main")
IDLE_S = 45
"""The engine looks for changes 20 times a second for the first 30 s."""
MEASURED_S = 20


def main(argv: list[str]) -> int:
    """Run everything, or the part that happens inside the app's own process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--inside", choices=("feel",))
    parser.add_argument("--history", type=Path, help="a folder that holds `projects`")
    wanted = parser.parse_args(argv)
    if wanted.inside:
        return feel()
    lacking = missing()
    if lacking:
        print(f"This needs {', '.join(lacking)}: see packaging/linux/apt.txt.")
        return 1
    history = wanted.history or _history()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="backscroll-bench-")))
        env = stack.enter_context(display(folder))
        env |= {
            "HOME": str(folder), "BACKSCROLL_HOME": str(folder / "b"), "CLAUDE_CONFIG_DIR": str(history),
            "XDG_RUNTIME_DIR": str(folder), "PYTHONPATH": str(ROOT),
        }  # fmt: skip
        print(f"History: {history} ({sum(1 for _ in history.rglob('*.jsonl'))} transcripts)", flush=True)
        inside = [sys.executable, "-m", "tests.benchmarks.desktop", "--inside", "feel"]
        code = subprocess.run(inside, env=env, check=False).returncode
        quiet = {"BACKSCROLL_HOME": str(folder / "quiet"), "CLAUDE_CONFIG_DIR": str(ROOT / "assets" / "sample")}
        cost({**env, **quiet})
    return code


def _history() -> Path:
    named = os.environ.get("BACKSCROLL_CORPUS")
    corpus = Path(named) if named else ROOT.parent / "shared" / "corpus"
    return corpus if (corpus / "projects").is_dir() else ROOT / "assets" / "sample"


def said(what: str, value: float, unit: str, bound: float) -> None:
    """Print one line of the result."""
    print(f"{what:56} {value:8.1f} {unit:4} (at most {bound:g}) {'' if value <= bound else '<-- too much'}", flush=True)


# From the outside ----------------------------------------------------------------------------------------------------


def cost(env: dict[str, str]) -> None:
    """Measure starts, and what the hidden and idle app costs."""
    starts: list[float] = []
    process: subprocess.Popen[bytes] | None = None
    for _ in range(4):
        if process is not None:
            process.terminate()
            process.wait(30)
        began = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-P", "-m", "desktop", "--background"], env=env)
        look = ["xdotool", "search", "--onlyvisible", "--class", "backscroll"]
        while subprocess.run(look, env=env, capture_output=True, check=False).returncode:
            if time.perf_counter() - began > 30:
                print("The tray icon never came.")
                return
        starts.append(time.perf_counter() - began)
    if process is None:
        return
    said("Tray visible after a start, median of 3 warm ones", statistics.median(starts[1:]), "s", 1.5)
    time.sleep(IDLE_S)
    app = psutil.Process(process.pid)
    before = _switches(process.pid)
    time.sleep(MEASURED_S)
    said("Wake-ups a second, hidden and idle, all threads", (_switches(process.pid) - before) / MEASURED_S, "/s", 5)
    full = app.memory_full_info()
    said("Memory of the app's process, idle: proportional", full.pss / 1e6, "MB", 180)
    said("                                   resident", full.rss / 1e6, "MB", 180)
    process.terminate()
    process.wait(30)


def _switches(pid: int) -> int:
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        lines = (task / "status").read_text(encoding="utf-8").splitlines()
        total += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return total


# From the inside -----------------------------------------------------------------------------------------------------


class Painted(QObject):
    """Notes when a widget is painted."""

    def __init__(self, widget: QObject) -> None:
        super().__init__()
        self.at = 0.0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Note the time of each paint event."""
        if event.type() == QEvent.Type.Paint:
            # The drawing follows: it is over when the event loop comes round.
            QTimer.singleShot(0, self._note)
        return super().eventFilter(watched, event)

    def _note(self) -> None:
        self.at = time.perf_counter()


def pause(ms: int) -> None:
    """Let the event loop run."""
    loop = QEventLoop()
    QTimer.singleShot(ms, loop.quit)
    loop.exec()


def until(ready: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Let the event loop run until something is so."""
    end = time.perf_counter() + seconds
    while not ready():
        if time.perf_counter() > end:
            return False
        pause(1)
    return True


def feel() -> int:
    """Measure the app in this process: lag during the backfill first, then the rest over what was indexed."""
    application = QApplication(["backscroll"])
    application.setStyle("Fusion")
    application.setQuitOnLastWindowClosed(False)
    app = App(application, Paths.resolve(), Told(), background=True)
    app.start()
    lag(app)
    hotkey(app)
    keystrokes(app)
    app.quit()
    application.exec()
    app.close()
    return 0


def lag(app: App) -> None:
    """How late a timer of 10 ms is while everything is read, and then while it is embedded."""
    late: list[float] = []
    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    last = time.perf_counter()

    def tick() -> None:
        nonlocal last
        now = time.perf_counter()
        late.append(max(0.0, (now - last) * 1000 - 10))
        last = now

    timer.timeout.connect(tick)
    timer.start(10)
    began = time.perf_counter()
    until(lambda: _is_read(app), 900)
    read_s = time.perf_counter() - began
    count = len(late)
    pause(15_000)
    timer.stop()
    status = app.pulse.pulse.status
    messages, state = (status.messages, status.embedding.state) if status else (0, "unknown")
    print(f"Read in {read_s:.1f} s: {messages} messages; embedding: {state}")
    for name, values in (("reading", late[:count]), ("embedding", late[count:])):
        ordered = sorted(values)
        said(f"Main thread late while {name}, 99th percentile", ordered[int(len(ordered) * 0.99)], "ms", 50)
        print(f"{'':56} {ordered[-1]:8.1f} ms   (the worst of {len(ordered)})")


def _is_read(app: App) -> bool:
    """Return whether every transcript was read. Before the first look at the disk nothing waits, either."""
    status = app.pulse.pulse.status
    return status is not None and status.messages > 0 and not status.ingest.files_pending


def hotkey(app: App) -> None:
    """From the key being pressed by another program until the window is painted."""
    painted = Painted(app.window.bar.field)
    times: list[float] = []
    for _ in range(30):
        painted.at = 0.0
        began = time.perf_counter()
        subprocess.Popen(["xdotool", "key", "ctrl+shift+space"]).wait()
        if not until(lambda: painted.at > 0 and app.window.isVisible()):
            print("The hotkey did not open the window.")
            return
        times.append((painted.at - began) * 1000)
        pause(150)
        app.window.dismiss()
        pause(80)
    ordered = sorted(times)
    said("Hotkey to window painted, median of 30", statistics.median(ordered), "ms", 100)
    said("                          95th percentile", ordered[28], "ms", 100)


class Answers(QObject):
    """Notes when rows have come."""

    def __init__(self, app: App) -> None:
        super().__init__()
        self.at = 0.0
        app.window.controller.rows_changed.connect(self._came)

    def _came(self, _rows: object, _more: object) -> None:
        self.at = time.perf_counter()


def keystrokes(app: App) -> None:
    """From a key until the keyword hits for it are painted, where there are any."""
    window = app.window
    window.controller.set_mode("keyword")
    window.present()
    pause(300)
    painted, answers = Painted(window.list.viewport()), Answers(app)
    times: list[float] = []
    waited: list[float] = []
    for query in QUERIES:
        window.bar.clear()
        pause(200)
        for end in range(1, len(query) + 1):
            began = time.perf_counter()
            QTest.keyClick(window.bar.field, Qt.Key(ord(query[end - 1].upper())))
            if query[end - 1] != " " and _is_painted(began, painted, answers) and window.controller.hits:
                times.append((painted.at - began) * 1000)
                waited.append((answers.at - began) * 1000)
            pause(60)
    window.dismiss()
    ordered = sorted(times)
    said(f"Key to keyword hits painted, median of {len(ordered)}", statistics.median(ordered), "ms", 100)
    said("                            95th percentile", ordered[int(len(ordered) * 0.95)], "ms", 100)
    asked = sorted(waited)
    print(f"{'    of which until the rows have come, median and 95th':56} {statistics.median(asked):8.1f} ms "
          f"{asked[int(len(asked) * 0.95)]:8.1f} ms")  # fmt: skip


def _is_painted(began: float, painted: Painted, answers: Answers) -> bool:
    return until(lambda: answers.at > began and painted.at > answers.at, 0.7)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
