"""How long a person waits until everything is searchable by its words, beside a peer and what the libraries could do.

    python dev.py bench index_start [folder with projects/] [--rounds N] [--peer cc-search]

Everything is a process of its own, its start included, one after the other in each round: `serve --once --until
keyword --no-embed` with the archive off, the peer (`claude-session-search` from PyPI; `--peer` names its program, left
out where there is none), and the two limits: every line through orjson, and the same texts into a bare FTS5 table. The
median of the rounds' ratios counts: both sides of a ratio had the same machine. The targets are 0.9 of the peer and 1.6
of both limits together, on 1 GB 0.75 of the peer (`python dev.py bench history FOLDER --size 1GB` makes such a folder).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from engine.core.paths import Paths
from tests.benchmarks.index import size_mb, transcripts
from tests.helpers.corpus import ROOT

PEER_SHARE = 0.9
LIMIT_SHARE = 1.6


@dataclass(frozen=True, slots=True)
class Measured:
    """One process and its children."""

    wall_s: float
    cpu_s: float


def timed(command: list[str], **environment: str) -> Measured:
    """Run a program to its end."""
    before, began = os.times(), time.monotonic()
    subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.monotonic() - began, os.times()
    return Measured(wall, sum(after[2:4]) - sum(before[2:4]))


def ours(folder: Path, home: Path) -> Measured:
    """Index with a new installation."""
    paths = Paths.below(home)
    paths.settings_file.parent.mkdir(parents=True)
    paths.settings_file.write_text("[archive]\nenabled = false\n", encoding="utf-8")
    return timed(
        [sys.executable, "-m", "engine", "serve", "--once", "--until", "keyword", "--no-embed"],
        CLAUDE_CONFIG_DIR=str(folder), HOME=str(home), BACKSCROLL_HOME=str(home),
    )  # fmt: skip


def peer(program: str, folder: Path, home: Path) -> Measured:
    """Index with the peer, which reads `.claude/projects` of the home folder."""
    (home / ".claude").mkdir(parents=True)
    (home / ".claude" / "projects").symlink_to(folder / "projects", target_is_directory=True)
    return timed([program, "--reindex"], HOME=str(home))


def limit(name: str, argument: Path) -> Measured:
    """Run a limit."""
    return timed([sys.executable, "-m", "tests.benchmarks._limits", name, str(argument)])


def one_round(folder: Path, program: str | None) -> dict[str, Measured]:
    """Measure everything once."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        found = {"backscroll": ours(folder, home / "ours")}
        if program is not None:
            found["peer"] = peer(program, folder, home / "peer")
        found["parse"] = limit("parse", folder / "projects")
        found["insert"] = limit("insert", Paths.below(home / "ours").database)
    return found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(os.environ.get("BACKSCROLL_CORPUS", ROOT.parent / "shared" / "corpus"))
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer", default="cc-search")
    chosen = parser.parse_args()
    projects = chosen.folder / "projects"
    if not transcripts(projects):
        print(f"There are no transcripts below {projects}. Name a folder that holds `projects/`.")
        return 2
    program = shutil.which(str(chosen.peer))
    print(f"{len(transcripts(projects))} files, {size_mb(projects):.1f} MB\n\n{'':12}{'wall s':>8}{'CPU s':>8}")
    rounds: list[dict[str, Measured]] = []
    for _ in range(chosen.rounds):
        rounds.append(one_round(chosen.folder, program))
        for name, found in rounds[-1].items():
            print(f"{name:12}{found.wall_s:8.2f}{found.cpu_s:8.2f}")
        print()
    limits = [each["backscroll"].wall_s / (each["parse"].wall_s + each["insert"].wall_s) for each in rounds]
    shares = {"of both limits": (median(limits), LIMIT_SHARE)}
    if program is not None:
        shares["of the peer"] = (median(each["backscroll"].wall_s / each["peer"].wall_s for each in rounds), PEER_SHARE)
    for name, (share, target) in shares.items():
        print(f"{name:16}{share:6.2f} (target {target})")
    summary = {"rounds": [{n: asdict(m) for n, m in each.items()} for each in rounds]}
    print(json.dumps({"benchmark": "index_start", **summary, "shares": {n: s for n, (s, _) in shares.items()}}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
