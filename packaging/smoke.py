"""Starts the built programs for real, as a person would who has no Python: indexes, searches, shows the tray.

    python packaging/smoke.py dist/Backscroll [--pictures FOLDER]

Everything runs with a home of its own, an environment that holds nothing but that home, an empty PATH, and where the
system lets us, without a network. Each program must end as it should and say what is expected of it, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bare import WINDOWS, Bare, Broken, Shim, bare_machine, end, until
from product import EXECUTABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

ROOT = Path(__file__).resolve().parents[1]

SHIM_LIMIT_MS = 150
"""From the start of the shim to its first reply, while the engine runs. The quickest of `SHIM_STARTS` must keep to it:
on an idle machine the one in the middle does, but where this runs others work too."""
SHIM_STARTS = 15
TRAY_LIMIT_S = 2.0
"""From the start of the app to its icon in the panel; of `TRAY_STARTS` the quickest, as above."""
TRAY_STARTS = 3

KEYWORD, SEMANTIC = "samesite", "why were people logged out again and again"
INDIGO = "#5b52e6"
"""The icon's colour."""


def check_command_line(bare: Bare) -> str:
    """Index the sample with the embedding worker, and search it."""
    bare.run("--version", says=r"backscroll \d+\.\d+\.\d+\n")
    bare.run("serve", "--once", notes=r"8 sessions and \d+ messages are searchable\.\n")
    for mode, query in (("keyword", KEYWORD), ("semantic", SEMANTIC)):
        found = json.loads(bare.run("search", "--json", "--mode", mode, query, says=r"\{.*\}\n"))
        if not found["hits"]:
            raise Broken(f"{mode} search finds nothing for {query!r}: {found}")
    usage = json.loads(bare.run("usage", "--json", says=r"\{.*\}\n"))
    if "cost" not in json.dumps(usage):
        raise Broken(f"There are no prices: {usage}")
    return "`serve --once`, keyword and semantic search, usage"


def check_mcp(bare: Bare) -> str:
    """Let the shim start an engine, search through it, and measure the start of the shims that follow."""
    bare.run("connect", says=r".*Claude Code is connected.*", notes=r".*need a restart to see it\.\n")
    shim = Shim(bare)
    shim.open()
    for number, (tool, query) in enumerate((("keyword_search", KEYWORD), ("semantic_search", SEMANTIC)), start=1):
        if not shim.call(number, tool, {"query": query})["hits"]:
            raise Broken(f"{tool} finds nothing for {query!r}.")
    engine = shim.call(3, "status", {})["engine"]
    findings = json.loads(bare.run("doctor", "--json", says=r"\{.*\}\n"))["findings"]
    wrong = [each for each in findings if each["severity"] != "ok"]
    if wrong:
        raise Broken(f"The doctor is not content: {wrong}")
    took: list[float] = []
    for _ in range(SHIM_STARTS):
        another = Shim(bare)
        took.append(another.open())
        another.close()
    shim.close()
    end(int(engine["pid"]))
    if min(took) > SHIM_LIMIT_MS:
        raise Broken(f"A shim answers after {min(took):.0f} ms at best, allowed are {SHIM_LIMIT_MS} ms.")
    times = f"{min(took):.0f} ms at best, {statistics.median(took):.0f} ms in the middle of {SHIM_STARTS}"
    return f"MCP: keyword and semantic search, doctor content, first reply after {times}"


def check_tray(bare: Bare, pictures: Path) -> str:
    """Show the app on a display of its own, and take pictures of icon and window."""
    sys.path.insert(0, str(ROOT))
    from tests.desktop.display import display, missing  # noqa: PLC0415 - Linux only

    lacking = missing()
    if lacking:
        raise Broken(f"The tray cannot be shown without {', '.join(lacking)} (packaging/linux/apt.txt).")
    took: list[float] = []
    with display(pictures) as screen:
        env = {**bare.env, "DISPLAY": screen["DISPLAY"], "LANG": "C.UTF-8"}  # as every desktop names one
        for start in range(1, TRAY_STARTS + 1):
            with app_running(bare, env) as (pid, started):
                until(lambda pid=pid: icon_is_shown(screen, pid), "The icon in the tray")
                took.append(time.perf_counter() - started)
                if start == TRAY_STARTS:
                    look_at_app(bare, env, pictures)
    if min(took) > TRAY_LIMIT_S:
        raise Broken(f"The icon appears after {min(took):.1f} s at best, allowed are {TRAY_LIMIT_S} s.")
    return f"the tray shows after {min(took):.2f} s at best of {TRAY_STARTS}, the window opens and searches"


@contextmanager
def app_running(bare: Bare, env: dict[str, str]) -> Generator[tuple[int, float]]:
    """Start the app in the background, and give its process and when that was. It must end quietly when told to.

    Raises:
        Broken: It said something, or ended with an error.
    """
    started = time.perf_counter()
    app = subprocess.Popen(
        [*bare.program(EXECUTABLES.tray), "run", "--background"],
        env=env,
        cwd=bare.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        yield app.pid, started
    finally:
        app.terminate()
        said, _ = app.communicate(timeout=30)
    # Windows has no way to tell it: there it is ended.
    if said or (app.returncode and not WINDOWS):
        raise Broken(f"The app ended with {app.returncode} and said {said.decode(errors='replace')}")


def look_at_app(bare: Bare, env: dict[str, str], pictures: Path) -> None:
    """Take a picture of the icon and one of the window with something found.

    Raises:
        Broken: The icon has another colour, or no window opens.
    """

    def works(*command: str) -> bool:
        return subprocess.run(command, env={**os.environ, **env}, capture_output=True, check=False).returncode == 0

    look(env, pictures / "tray.png")
    if not has_colour(pictures / "tray.png", INDIGO):
        raise Broken("The icon in the panel is not Backscroll's.")
    bare.wait_for_engine()
    toggle = subprocess.run(
        [*bare.program(EXECUTABLES.command_line), "toggle"], env=env, capture_output=True, check=False
    )
    if toggle.returncode or toggle.stdout or toggle.stderr:
        raise Broken(f"`backscroll toggle` ended with {toggle.returncode}: {toggle.stderr!r}")
    until(lambda: works("xdotool", "search", "--onlyvisible", "--name", "^Backscroll$"), "The window")
    works("xdotool", "type", "--delay", "20", KEYWORD)
    time.sleep(3)  # what is typed is searched, and drawn
    look(env, pictures / "window.png")


def check_app_elsewhere(bare: Bare) -> str:
    """Start the app where nothing can be seen of it: its engine must answer."""
    with app_running(bare, bare.env):
        bare.wait_for_engine()
    return "the app starts, and its engine answers"


def check_log(bare: Bare) -> str:
    """Look through what the programs wrote down."""
    logs = [file for file in bare.home.rglob("*.log*") if file.is_file()]
    serious = [
        line
        for file in logs
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
        if re.search(r" (WARNING|ERROR|CRITICAL) |Traceback", line)
    ]
    if serious or not logs:
        raise Broken("\n".join(["The log holds:", *serious]))
    return "nothing serious in the log"


def icon_is_shown(screen: dict[str, str], pid: int) -> bool:
    """Tell whether a window of a process lies in the panel's place for icons: it is a child of the panel's window."""
    tree = subprocess.run(
        ["xdotool", "search", "--onlyvisible", "--pid", str(pid)], env=screen, capture_output=True, check=False
    )
    return tree.returncode == 0 and bool(tree.stdout.strip())


def look(env: dict[str, str], picture: Path) -> None:
    """Save what is on the display."""
    subprocess.run(["import", "-window", "root", str(picture)], env={**os.environ, **env}, check=True, timeout=20)


def has_colour(picture: Path, colour: str) -> bool:
    """Tell whether a picture holds a colour, or one very close to it."""
    command = [
        "convert",
        str(picture),
        "-fuzz",
        "4%",
        "-fill",
        "white",
        "+opaque",
        colour,
        "-format",
        "%[fx:minima<0.9]",
    ]
    done = subprocess.run([*command, "info:"], capture_output=True, encoding="utf-8", check=True, timeout=20)
    return done.stdout.strip() == "1"


def main(argv: Sequence[str]) -> int:
    """Run every check and return 1 when one fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="holds the programs")
    parser.add_argument("--pictures", type=Path, default=ROOT / "build" / "smoke", help="where screenshots go")
    chosen = parser.parse_args(argv)
    pictures: Path = chosen.pictures.resolve()
    pictures.mkdir(parents=True, exist_ok=True)
    with bare_machine(chosen.folder.resolve()) as bare:
        print("Without a network." if bare.prefix else "With the network: this system does not let it be taken away.")
        checks: list[Callable[[], str]] = [
            lambda: check_command_line(bare),
            lambda: check_mcp(bare),
            (lambda: check_tray(bare, pictures)) if sys.platform == "linux" else (lambda: check_app_elsewhere(bare)),
            lambda: check_log(bare),
        ]
        for check in checks:
            try:
                print(f"ok: {check()}", flush=True)
            except Broken as broken:
                print(f"Failed: {broken}", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
