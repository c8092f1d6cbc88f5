"""Writes an invented history of any size, for the other benchmarks and for trying things out; says how fast.

    python dev.py bench history FOLDER [--size 100MB|1GB|5GB] [--seed N]

The folder then holds `projects/`. Its mix is that of real transcripts (tests/helpers/invented_history).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path

from tests.helpers.invented_history import write_history

_UNITS = {"KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}


def size_of(text: str) -> int:
    """Return the bytes that `100MB` or `1.5GB` says.

    Raises:
        ValueError: It says nothing of the kind.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(KB|MB|GB)", text.strip().upper())
    if match is None:
        raise ValueError(text)
    return int(float(match[1]) * _UNITS[match[2]])


def main(arguments: list[str]) -> int:
    """Write and print."""
    parser = argparse.ArgumentParser(prog="bench history")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", type=size_of, default=size_of("100MB"))
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    projects: Path = chosen.folder / "projects"
    if projects.exists():
        print(f"{projects} is there already: nothing is written over it.")
        return 2
    began = time.perf_counter()
    made = write_history(projects, chosen.size, chosen.seed)
    seconds = time.perf_counter() - began
    print(f"{'MB':>10}{'files':>8}{'lines':>10}{'sessions':>10}{'newest day':>12}{'seconds':>9}{'MB/s':>8}")
    megabytes = made.bytes / 1e6
    print(
        f"{megabytes:10.1f}{made.files:8}{made.lines:10}{len(made.words):10}{len(made.newest):12}{seconds:9.1f}"
        f"{megabytes / seconds:8.0f}"
    )
    numbers = {"mb": round(megabytes, 1), "files": made.files, "lines": made.lines, "mb_s": round(megabytes / seconds)}
    print(json.dumps({"benchmark": "history", **numbers}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
