"""Tells whether the machine runs on battery. What cannot be told counts as mains: a desktop has no battery."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_SUPPLIES = Path("/sys/class/power_supply")


def on_battery(supplies: Path = _SUPPLIES) -> bool:
    """True when nothing feeds the machine from outside.

    Args:
        supplies: Where Linux lists what may feed it.
    """
    if sys.platform == "win32":
        return _windows()
    if sys.platform == "darwin":
        return _macos()
    return _linux(supplies)


def _linux(supplies: Path) -> bool:
    mains: list[bool] = []
    discharging = False
    for supply in sorted(supplies.iterdir()) if supplies.is_dir() else []:
        kind = _read(supply / "type")
        if kind in ("Mains", "USB"):
            mains.append(_read(supply / "online") == "1")
        elif kind == "Battery" and _read(supply / "scope") != "Device":  # a mouse has one too
            discharging = discharging or _read(supply / "status") == "Discharging"
    return discharging and not any(mains)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""  # a supply without this property


def _macos() -> bool:
    try:
        shown = subprocess.run(
            ["/usr/bin/pmset", "-g", "batt"], capture_output=True, encoding="utf-8", timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "'Battery Power'" in shown.stdout


def _windows() -> bool:
    import ctypes  # noqa: PLC0415 - on Windows only

    # SYSTEM_POWER_STATUS (winbase.h): its first byte is 0 on battery, 1 on mains, 255 unknown.
    status = ctypes.create_string_buffer(12)
    if sys.platform != "win32" or not ctypes.windll.kernel32.GetSystemPowerStatus(status):
        return False
    return status.raw[0] == 0
