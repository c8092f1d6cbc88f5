"""Adds to THIRD-PARTY-LICENSES what PyInstaller took from the Debian or Ubuntu that the bundle is built on."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PACKAGES = Path("/usr/share/doc")


def taken(folder: Path) -> set[str]:
    """Return the names of the libraries that lie in a bundle by themselves, and not in the folder of a package."""
    return {file.name for file in folder.glob("lib*.so*") if file.is_file() and not file.is_symlink()}


def packages_of(names: Iterable[str]) -> set[str]:
    """Return the system's packages that have libraries of these names; those of another origin are in none."""
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, encoding="utf-8", check=True).stdout
    places = {Path(place) for place in re.findall(r" => (/\S+)$", listing, re.MULTILINE)}
    wanted = {*names}
    found: set[str] = set()
    for place in {each.resolve() for each in places if each.name in wanted}:
        done = subprocess.run(["dpkg", "-S", f"*/{place.name}"], capture_output=True, encoding="utf-8", check=False)
        found |= {line.partition(":")[0] for line in done.stdout.splitlines()}
    return found


def add(file: Path, folder: Path) -> int:
    """Append the copyright files of the packages whose libraries are in a bundle, and return how many they are."""
    if shutil.which("dpkg") is None:
        return 0
    notices = [PACKAGES / name / "copyright" for name in sorted(packages_of(taken(folder)))]
    present = [notice for notice in notices if notice.is_file()]
    with file.open("a", encoding="utf-8") as stream:
        for notice in present:
            text = notice.read_text(encoding="utf-8", errors="replace").strip()
            stream.write(f"\n{'-' * 100}\n\n{notice.parent.name} (a library of the system)\n\n{text}\n")
    return len(present)
