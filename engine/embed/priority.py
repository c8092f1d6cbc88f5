"""Lets a process step back behind everything the person does, on three systems."""

from __future__ import annotations

import os
import sys

NICENESS = 10
"""Half way to the lowest: the machine stays quick, and a question is still answered while something else computes."""

_BELOW_NORMAL_PRIORITY_CLASS = 0x00004000
"""`processthreadsapi.h`."""


def step_back() -> None:
    """Lower the priority of this process."""
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415 - on Windows only

        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), _BELOW_NORMAL_PRIORITY_CLASS)
    else:
        os.nice(NICENESS)
