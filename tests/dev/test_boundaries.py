from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

import dev

ROOT = Path(dev.__file__).parent

IMPORT_AND_REPORT = """
import importlib, json, pkgutil, sys, threading
before = {*sys.modules}
names = sys.argv[1:]
if not names:
    import engine
    names = [found.name for found in pkgutil.walk_packages(engine.__path__, "engine.")]
for name in names:
    importlib.import_module(name)
threads = [thread.name for thread in threading.enumerate()]
print(json.dumps({"imported": names, "loaded": sorted({*sys.modules} - before), "threads": threads}))
"""


class Report(TypedDict):
    imported: list[str]
    loaded: list[str]
    threads: list[str]


def import_afresh(folder: Path, *names: str) -> Report:
    """Import modules of the engine, or all of them, in a new interpreter whose home and working folder are empty."""
    home = folder / "home"
    home.mkdir()
    places = ("HOME", "USERPROFILE", "BACKSCROLL_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
    env = {**os.environ, **dict.fromkeys(places, str(home)), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT_AND_REPORT, *names],
        cwd=home,
        env=env,
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.stderr == ""
    assert [*home.iterdir()] == [], "an import wrote a file"
    return json.loads(done.stdout)


def test_no_engine_module_loads_qt_starts_a_thread_or_writes_a_file_when_imported(tmp_path: Path) -> None:
    report = import_afresh(tmp_path)
    assert "engine.core.paths" in report["imported"]
    top_level = {name.partition(".")[0] for name in report["loaded"]}
    assert top_level & {"PySide6", "shiboken6", "desktop"} == set()
    assert report["threads"] == ["MainThread"]


def test_shim_loads_only_the_standard_library_platformdirs_and_light_modules(tmp_path: Path) -> None:
    report = import_afresh(tmp_path, "engine.shim")
    top_level = {name.partition(".")[0] for name in report["loaded"]}
    assert top_level - {*sys.stdlib_module_names} <= {"engine", "platformdirs"}
    ours = {name for name in report["loaded"] if name.startswith("engine.") and not name.startswith("engine.ipc")}
    assert ours <= {"engine.shim", "engine.core", "engine.core.paths", "engine.core.errors"}
