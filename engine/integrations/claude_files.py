"""Claude Code's own files: where they lie, how one is read, and how one place of it is changed.

A change is atomic, keeps a dated copy and the file's mode, follows links, and is refused with a sentence where the file
cannot be understood. Claude Code writes the same files while it runs: a change made in between is seen and kept.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from engine.core.errors import ConfigurationRefused
from engine.core.files import write_atomically
from engine.integrations.json_text import UnexpectedJson, parse

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

    from engine.core.clock import Clock

COPIES_KEPT = 5
"""Dated copies beside a file; older ones are removed."""

ATTEMPTS = 3
"""How often a change starts again because Claude Code wrote the file meanwhile."""


@dataclass(frozen=True, slots=True)
class ConfigFolder:
    """One configuration of Claude Code. Most machines have one."""

    config_file: Path
    """`.claude.json`: MCP servers, projects and much else."""
    settings_file: Path
    """The user's `settings.json`: permissions, how long transcripts are kept."""
    config_dir: Path | None = None
    """What `CLAUDE_CONFIG_DIR` must name for Claude Code to use this one; None: the default."""

    @classmethod
    def named(cls, folder: Path) -> ConfigFolder:
        """Return the configuration in a folder that `CLAUDE_CONFIG_DIR` names."""
        return cls(folder / ".claude.json", folder / "settings.json", folder)

    @classmethod
    def default(cls, home: Path) -> ConfigFolder:
        """Return the configuration without `CLAUDE_CONFIG_DIR`: beside, not in, the folder `.claude`."""
        return cls(home / ".claude.json", home / ".claude" / "settings.json")


def config_folders(env: Mapping[str, str], home: Path, *, separator: str) -> tuple[ConfigFolder, ...]:
    """Return every configured folder: those of `CLAUDE_CONFIG_DIR` when it is set, else the default.

    Args:
        env: The environment.
        home: The person's home folder.
        separator: The system's path separator (`os.pathsep`); a comma separates as well, as for transcript roots.
    """
    named = env.get("CLAUDE_CONFIG_DIR", "")
    parts = [part.strip() for part in re.split(f"[,{re.escape(separator)}]", named)]
    folders = [Path(part).expanduser() for part in parts if part]
    # Other programs accept the variable with `/projects` at its end; the configuration lies above.
    folders = [folder.parent if folder.name == "projects" else folder for folder in folders]
    return tuple(ConfigFolder.named(folder) for folder in dict.fromkeys(folders)) or (ConfigFolder.default(home),)


def read_document(file: Path) -> dict[str, Any]:
    """Return what a file holds; an empty object when there is none.

    Raises:
        ConfigurationRefused: It cannot be read or parsed.
    """
    data, _ = _read(file)
    with _refusing(file):
        return parse(_decode(data))


def edit_document(file: Path, edit: Callable[[str], str], clock: Clock) -> None:
    """Change a file's text. A missing file starts as an empty object.

    Args:
        file: The file; missing folders are made.
        edit: Returns the new text. May be called again when the file has changed meanwhile.
        clock: Dates the copy.

    Raises:
        ConfigurationRefused: The file cannot be read, parsed or written. It was left as it is.
    """
    for _ in range(ATTEMPTS):
        data, seen = _read(file)
        mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
        with _refusing(file):
            text = _decode(data)
            edited = edit(text)
            if edited == text:
                return
            if seen is None:
                file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            else:
                keep_copy(file, clock)
            if _identity(file) != seen:
                continue
            write_atomically(file, mark + edited.encode("utf-8", "surrogatepass"))
            return
    raise ConfigurationRefused(
        "Claude Code is writing its configuration",
        f"{file} changed {ATTEMPTS} times while Backscroll wanted to change one line of it. It was left as it is.",
        "Try again in a moment.",
    )


def keep_copy(file: Path, clock: Clock) -> None:
    """Copy a file beside itself under a dated name, with its mode; of many copies the newest stay.

    Raises:
        ConfigurationRefused: The copy cannot be written.
    """
    stamp = datetime.fromtimestamp(clock.now(), UTC).strftime("%Y%m%dT%H%M%SZ")
    with _refusing(file):
        copy = file.with_name(f"{file.name}.before-backscroll-{stamp}")
        if not copy.exists():  # of two changes in one second the first copy is the one from before
            write_atomically(copy, file.read_bytes())
            shutil.copymode(file, copy)
        copies = sorted(file.parent.glob(f"{file.name}.before-backscroll-*"))
        for old in copies[:-COPIES_KEPT]:
            old.unlink(missing_ok=True)


_Identity = tuple[int, int, int] | None
"""Inode, size and time of change in nanoseconds; None: no file."""


def _identity(file: Path) -> _Identity:
    try:
        found: os.stat_result = file.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read(file: Path) -> tuple[bytes, _Identity]:
    with _refusing(file):
        seen = _identity(file)
        return (b"{}\n" if seen is None else file.read_bytes()), seen


def _decode(data: bytes) -> str:
    text = data.decode("utf-8-sig")
    # Claude Code makes the file and fills it later; an empty one is no mistake of the person.
    return text if text.strip() else "{}\n"


class _refusing:  # noqa: N801 - reads as a statement
    """Turn what goes wrong with a file of another program into a sentence."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, (UnexpectedJson, UnicodeDecodeError)):
            raise ConfigurationRefused(
                "Claude Code's configuration cannot be parsed",
                f"{self._file}: {error}. It was left as it is.",
                "Repair the file (Claude Code keeps copies in its folder `backups`), then try again.",
            ) from error
        if isinstance(error, OSError):
            raise ConfigurationRefused(
                "Claude Code's configuration cannot be changed",
                f"{self._file}: {error.strerror or error}. It was left as it is.",
                "Look at the permissions of the file and its folder, and at the free space of the disk.",
            ) from error


def members(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the members of an object that are objects themselves; nothing for anything else."""
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            if isinstance(inner, dict):
                yield key, cast("dict[str, Any]", inner)
