"""Writes THIRD-PARTY-LICENSES: everything in the bundle that others made, with its licence in full."""

from __future__ import annotations

import re
import sys
import sysconfig
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LICENCE_FILE = re.compile(r"(licen[cs]e|copying|notice|authors)[^/\\]*$", re.IGNORECASE)

KNOWN = {"LGPL": ("LGPL-3", "GPL-3"), "Apache": ("Apache-2.0",)}
"""Files of `texts/` for projects that name a licence and do not bring it. The LGPL is an addition to the GPL."""

QT = """\
Qt and PySide6 are used under the GNU Lesser General Public License, version 3. Their libraries lie in the folder
PySide6 as files of their own, unchanged, and may be replaced by other builds of the same version. Their source code is
at https://download.qt.io/official_releases/ and https://code.qt.io/."""

BOOTLOADER = """\
The programs begin with the bootloader of PyInstaller, under the GNU General Public License, version 2 or later, with
an exception that lets it start programs under any licence."""


def declared(project: Path) -> list[str]:
    """Return what a pyproject.toml asks for. Not what is installed says: an editable installation may be older."""
    return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"]


def write(file: Path, requirements: Iterable[str]) -> int:
    """Write the file for everything that is needed on this system, and return how many projects are in it.

    Raises:
        SystemExit: The licence of a project cannot be found.
    """
    parts = [_python(), f"PyInstaller\n\n{BOOTLOADER}", f"Qt\n\n{QT}"]
    needed = sorted(closure(requirements), key=lambda each: each.name.lower())
    silent = [each.name for each in needed if not texts(each)]
    if silent:
        raise SystemExit(f"The licence is not known in full of: {', '.join(silent)}.")
    parts += [
        f"{each.name} {each.version}\n{licence_of(each) or 'see below'}\n\n{_joined(texts(each))}".rstrip()
        for each in needed
    ]
    line = "\n\n" + "-" * 100 + "\n\n"
    intro = "Backscroll contains the work of others. These are their licences."
    file.write_text(f"{intro}{line}{line.join(parts)}\n", encoding="utf-8")
    return len(parts)


def closure(requirements: Iterable[str]) -> Iterator[Distribution]:
    """Yield the distributions that are asked for and what they need in turn, on this system."""
    wanted = [Requirement(text) for text in requirements]
    seen: set[str] = set()
    while wanted:
        requirement = wanted.pop()
        name = canonicalize_name(requirement.name)
        if name in seen:
            continue
        seen.add(name)
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue  # of another system
        yield found
        extras = requirement.extras or {""}
        for text in found.requires or []:
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                wanted.append(needed)


def licence_of(found: Distribution) -> str:
    """Return what the metadata says: an expression, one line, or the classifiers."""
    said = found.metadata.get("License-Expression") or ""
    line = found.metadata.get("License") or ""
    classifiers = [
        text.rpartition(" :: ")[2] for text in found.metadata.get_all("Classifier") or [] if text.startswith("License")
    ]
    return said or (line if line and "\n" not in line else "") or ", ".join(classifiers)


def texts(found: Distribution) -> list[str]:
    """Return the licence of a distribution in full: the files it brings, else the ones that it names."""
    brought = sorted(file for file in found.files or [] if LICENCE_FILE.search(str(file)) and file.suffix != ".py")
    places = (Path(str(file.locate())) for file in brought)
    named = [
        Path(__file__).parent / "texts" / f"{name}.txt"
        for word, names in KNOWN.items()
        if word in licence_of(found)
        for name in names
    ]
    files = [place for place in places if place.is_file()] or named
    return [file.read_text(encoding="utf-8", errors="replace").strip() for file in files]


def _joined(several: Iterable[str]) -> str:
    return "\n\n".join(dict.fromkeys(several))


def _python() -> str:
    folders = (Path(sys.base_prefix), Path(sysconfig.get_path("stdlib")))
    files = [folder / name for folder in folders for name in ("LICENSE.txt", "LICENSE") if (folder / name).is_file()]
    text = files[0].read_text(encoding="utf-8", errors="replace").strip() if files else ""
    return f"Python {sys.version.partition(' ')[0]}\nPSF-2.0\n\n{text}".rstrip()
