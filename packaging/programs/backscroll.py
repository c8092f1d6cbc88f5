"""The frozen programs `backscroll` (a terminal's) and the tray app: one command line, with and without a console."""

from __future__ import annotations

import os
import sys

if sys.stdout is None or sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison] - so it is in a windowed program of Windows
    silence = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - open for as long as the process lives
    sys.stdout = sys.stdout or silence
    sys.stderr = sys.stderr or silence

# PyInstaller's own: programs that are started from here (git, a terminal, `claude`) must find their own libraries.
for variable in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
    before = os.environ.pop(f"{variable}_ORIG", None)
    if before is not None:
        os.environ[variable] = before
    elif variable in os.environ and sys.platform != "win32":
        del os.environ[variable]

from engine.__main__ import main  # noqa: E402 - it needs streams, and starts programs

sys.exit(main())
