"""A display of one's own: Xvfb with a window manager and a panel that has a place for tray icons."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path

PROGRAMS = ("Xvfb", "openbox", "tint2", "xdotool", "xclip", "xprop")
PANEL = """
panel_items = TSC
panel_size = 100% 32
panel_position = bottom center horizontal
systray_icon_size = 22
time1_format = %H:%M
rounded = 0
background_color = #20242c 100
panel_background_id = 1
"""


def missing() -> list[str]:
    """Return the programs a display of one's own needs and this machine lacks."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


@contextmanager
def display(folder: Path, *, size: str = "1440x900", with_tray: bool = True) -> Generator[dict[str, str]]:
    """Start a display and give the environment in which programs appear on it."""
    with ExitStack() as stack:
        read, write = os.pipe()
        stack.callback(os.close, read)
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{size}x24", "-nolisten", "tcp", "-noreset"],
            pass_fds=(write,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        stack.callback(_end, server)
        os.close(write)
        number = os.read(read, 16).strip().decode()
        env = {**os.environ, "DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
        env.pop("WAYLAND_DISPLAY", None)
        stack.callback(_end, _start(["openbox", "--sm-disable"], env))
        wait_for(env, ["xprop", "-root", "_NET_SUPPORTING_WM_CHECK"], "window id")
        if with_tray:
            config = folder / "tint2rc"
            config.write_text(PANEL, encoding="utf-8")
            stack.callback(_end, _start(["tint2", "-c", str(config)], env))
            wait_for(env, ["xdotool", "search", "--class", "tint2"], "")
        yield env


def wait_for(env: dict[str, str], command: Iterable[str], text: str) -> str:
    """Run a command until it succeeds and says something; a minute at most."""
    done = None
    for _ in range(600):
        done = subprocess.run([*command], env=env, capture_output=True, text=True, encoding="utf-8", check=False)
        if done.returncode == 0 and text in done.stdout and done.stdout.strip():
            return done.stdout
        _rest()
    raise AssertionError(f"{command} never said {text!r}: {done}")


def _rest() -> None:
    # `select` and not `sleep`: nothing here may be waited for in any better way, these are other programs.
    import select

    select.select([], [], [], 0.1)


def _start(argv: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
    null = subprocess.DEVNULL
    return subprocess.Popen(argv, env=env, stdin=null, stdout=null, stderr=null)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(5)
