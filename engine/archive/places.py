"""Where each source's copy lies below the archive folder, and back: pure paths, and none that leads out of it.

`<root label>/<project folder>/….jsonl` is kept in `<root label>/<project folder>/….jsonl.zst`; after a rewrite of the
source the next generation is `….jsonl~1.zst`. Each label's folder says in `root.json` which root it is of, because the
database that knows it otherwise may be lost.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, cast

from engine.core.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX: Final = ".zst"
ROOT_FILE: Final = "root.json"
JOINING_SUFFIX: Final = ".joining"
"""Of a file in the making, in which small frames are put together."""
_STORED: Final = re.compile(r"(?P<name>.+?)(?:~(?P<generation>[1-9]\d{0,5}))?\.zst")
_MAX_NAME_BYTES: Final = 255
"""Of one part of a path, on the file systems of all three systems."""

_FORBIDDEN: Final = re.compile(r'[\x00-\x1f\\:*?"<>|]' if os.name == "nt" else r"[\x00\\]")


class UnsafePlace(Exception):
    """A path that would lead out of the archive, or that the file system cannot hold. Such a file is not archived."""


@dataclass(frozen=True, slots=True, order=True)
class Stored:
    """One archive file."""

    label: str
    """Of the root."""
    path: str
    """Of the source, below its root, with forward slashes."""
    generation: int


def place_of(archive: Path, stored: Stored) -> Path:
    """Return the file that holds a source's generation.

    Raises:
        UnsafePlace: A part of the path would lead elsewhere.
    """
    parts = (stored.label, *PurePosixPath(stored.path).parts)
    if len(parts) < 3 or stored.path.startswith("/"):
        raise UnsafePlace("a file below a project's folder is expected")
    suffix = f"~{stored.generation}{SUFFIX}" if stored.generation else SUFFIX
    named = (*parts[:-1], parts[-1] + suffix)
    for part in named:
        if part in ("", ".", "..") or _FORBIDDEN.search(part):
            raise UnsafePlace("a part of the path is not a plain name")
        if len(os.fsencode(part)) > _MAX_NAME_BYTES:
            raise UnsafePlace("a part of the path is too long")
    return archive.joinpath(*named)


def stored_at(archive: Path, file: Path) -> Stored | None:
    """Return what an archive file holds, None for other files."""
    parts = file.relative_to(archive).parts
    match = _STORED.fullmatch(parts[-1])
    if match is None or len(parts) < 3:
        return None
    return Stored(parts[0], "/".join((*parts[1:-1], match["name"])), int(match["generation"] or 0))


def all_stored(archive: Path, label: str | None = None) -> Iterator[tuple[Stored, Path, int]]:
    """Yield every archive file with its size, of one root or of all. Links are not followed."""
    start = archive if label is None else archive / label
    for folder, names, files in os.walk(start):
        names.sort()
        for name in sorted(files):
            file = Path(folder, name)
            stored = stored_at(archive, file)
            if stored is None or file.is_symlink():
                continue
            yield stored, file, file.stat().st_size


def remove_unfinished(archive: Path) -> None:
    """Delete what a process left that was killed while it joined frames, or noted a root.

    Raises:
        OSError: The archive cannot be written.
    """
    for file in (*archive.rglob(f".*{JOINING_SUFFIX}"), *archive.glob(f"*/.{ROOT_FILE}.*")):
        file.unlink()


def remember_root(archive: Path, label: str, root: Path) -> None:
    """Note which root a label's folder is of, once.

    Raises:
        OSError: The archive cannot be written.
    """
    folder = archive / label
    file = folder / ROOT_FILE
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(file, json.dumps({"path": str(root)}).encode())


def remembered_roots(archive: Path) -> dict[str, str]:
    """Return the path of each root by its label, as the archive itself knows it."""
    found: dict[str, str] = {}
    if not archive.is_dir():
        return found
    for file in sorted(archive.glob(f"*/{ROOT_FILE}")):
        try:
            value: Any = json.loads(file.read_bytes())
        except (OSError, ValueError):
            continue
        path: Any = cast("dict[str, Any]", value).get("path") if isinstance(value, dict) else None
        if isinstance(path, str):
            found[file.parent.name] = path
    return found
