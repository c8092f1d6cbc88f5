"""Walking the vault: which files there are, which of them changed, and their bytes. Never follows a link.

An unchanged file is recognised by inode, size, mtime and ctime together (R152), and is not opened. A file whose times
lie close to the moment it was read may change again within one tick of the file system's clock, so it is read again on
the next scan until its times are old.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

from engine.knowledge.errors import ScanLimitReached
from engine.knowledge.names import is_conflict_copy
from engine.knowledge.records import Issue

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RACY_NS = 2_000_000_000
"""FAT keeps times in steps of two seconds, the coarsest file system a vault may lie on."""

_SKIPPED_AT_TOP = frozenset({"evidence"})
_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

StatKey = tuple[int, int, int, int]
_Name = TypeVar("_Name", str, bytes)


@dataclass(frozen=True, slots=True)
class ScanLimits:
    """The most a vault may hold (contract 3, point 25)."""

    records: int = 50_000
    total_bytes: int = 512 * 1024 * 1024
    record_bytes: int = 4 * 1024 * 1024
    """A larger file is one finding; it does not stop the others."""


@dataclass(frozen=True, slots=True)
class FileBytes:
    """A file as read: its bytes, and the key under which it counts as unchanged."""

    data: bytes
    key: StatKey
    racy: bool


@dataclass(slots=True)
class _Folder:
    """One folder as last listed, and its files as last seen."""

    key: StatKey
    racy: bool
    folders: list[str] = field(default_factory=list[str])
    names: list[str] = field(default_factory=list[str])
    """Its Markdown files, in order."""
    seen: list[str] = field(default_factory=list[str])
    """Those that were there when last looked at."""
    seen_bytes: list[bytes] = field(default_factory=list[bytes])
    """The same as the system takes them without converting: 5 % of a scan."""
    keys: list[StatKey] = field(default_factory=list[StatKey])
    """What `seen` looked like, one key each."""
    issues: list[Issue] = field(default_factory=list[Issue])
    file_issues: list[Issue] = field(default_factory=list[Issue])
    files: dict[str, StatKey] = field(default_factory=dict[str, StatKey])
    """Files to read, by path relative to the vault."""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Walk:
    """What differs from the walk before."""

    changed: dict[str, StatKey]
    """Files that are new or look different, by path relative to the vault."""
    removed: tuple[str, ...]
    issues: tuple[Issue, ...]
    """Of all folders, changed or not."""


class VaultWalker:
    """Looks at every Markdown file below a folder. An unchanged vault costs one `lstat` for each file."""

    def __init__(self, vault: Path, limits: ScanLimits) -> None:
        self._vault = os.fspath(vault)
        self._limits = limits
        self._folders: dict[str, _Folder] = {}
        self._issues: tuple[Issue, ...] = ()

    def walk(self) -> Walk:
        """Return what changed since the last walk.

        Raises:
            ScanLimitReached: More files or bytes than the limits allow. The next walk starts from nothing.
            OSError: The vault itself cannot be listed.
        """
        before, self._folders = self._folders, {}
        changed: dict[str, StatKey] = {}
        removed: list[str] = []
        pending = [""]
        touched = False
        while pending:
            relative = pending.pop()
            known = before.pop(relative, None)
            folder = self._folder(relative, known)
            if folder is None:
                removed += known.files if known is not None else ()
                touched = True
                continue
            self._folders[relative] = folder
            pending += (f"{relative}{name}/" for name in folder.folders)
            if folder is known:
                different = self._different(relative, folder)
                touched |= bool(different)
                if all(self._took(relative, folder, place, changed) for place in different):
                    continue
            touched = True
            old = known.files if known is not None else {}
            self._stat_files(relative, folder)
            changed.update((path, key) for path, key in folder.files.items() if old.get(path) != key)
            removed += (path for path in old if path not in folder.files)
        removed += (path for folder in before.values() for path in folder.files)
        if touched or before:
            self._issues = tuple(
                issue for folder in self._folders.values() for issue in (*folder.issues, *folder.file_issues)
            )
            self._check_limits()
        return Walk(changed, tuple(removed), self._issues)

    def start_over(self) -> None:
        """Forget everything, so that the next walk reports every file."""
        self._folders, self._issues = {}, ()

    def totals(self) -> tuple[int, int]:
        """Return how many record files the last walk found, and their bytes."""
        folders = self._folders.values()
        return sum(len(folder.files) for folder in folders), sum(folder.size for folder in folders)

    def _check_limits(self) -> None:
        count, size = self.totals()
        if count <= self._limits.records and size <= self._limits.total_bytes:
            return
        self.start_over()
        too_many = count > self._limits.records
        raise ScanLimitReached(
            f"The vault holds more than {self._limits.records:,} record files"
            if too_many
            else f"The vault holds more than {self._limits.total_bytes:,} bytes of records",
            "Nothing was searched, because a part would look like the whole.",
            "Move files that are no records, or large notes, out of the vault.",
        )

    def _different(self, relative: str, folder: _Folder) -> list[int]:
        """Return which files of a folder, by their place in `seen`, do not look as they did or are gone."""
        path = os.path.join(self._vault, relative)  # noqa: PTH118 - a Path costs ten times more
        try:
            if os.stat not in os.supports_dir_fd:
                return _places(partial(_keys, prefix=path), folder.seen, folder.keys)
            # Names relative to the open folder save the kernel the way there: a tenth of a scan.
            descriptor = os.open(path, os.O_RDONLY | _NO_FOLLOW)
        except OSError:
            # No folder any more: the careful way finds out.
            return list(range(len(folder.seen)))
        try:
            return _places(partial(_keys_in, descriptor=descriptor), folder.seen_bytes, folder.keys)
        finally:
            os.close(descriptor)

    def _took(self, relative: str, folder: _Folder, place: int, changed: dict[str, StatKey]) -> bool:
        """Note what one file looks like now; false when it is no longer what it was, and the folder is to be redone."""
        path = relative + folder.seen[place]
        before = folder.files.get(path)
        try:
            found = os.lstat(os.path.join(self._vault, path))  # noqa: PTH118 - as above
        except OSError:
            return False
        if before is None or not stat.S_ISREG(found.st_mode) or found.st_size > self._limits.record_bytes:
            return False
        changed[path] = folder.files[path] = folder.keys[place] = stat_key(found)
        folder.size += found.st_size - before[1]
        return True

    def _stat_files(self, relative: str, folder: _Folder) -> None:
        folder.seen, folder.seen_bytes, folder.keys, folder.files = [], [], [], {}
        folder.file_issues, folder.size = [], 0
        for name in folder.names:
            path = relative + name
            try:
                found = os.lstat(os.path.join(self._vault, path))  # noqa: PTH118 - a Path costs ten times more
            except FileNotFoundError:
                # Deleted since the folder was listed; the folder's own time will tell at the next walk.
                folder.racy = True
                continue
            except PermissionError as error:
                folder.racy = True
                folder.file_issues.append(_closed(path, error))
                continue
            key = stat_key(found)
            folder.seen.append(name)
            folder.seen_bytes.append(os.fsencode(name))
            folder.keys.append(key)
            if not stat.S_ISREG(found.st_mode):
                folder.file_issues.append(_not_a_file(path, found.st_mode))
            elif found.st_size > self._limits.record_bytes:
                problem = f"{found.st_size:,} bytes; a record may have {self._limits.record_bytes:,}"
                folder.file_issues.append(Issue("too_large", problem, path))
            else:
                folder.size += found.st_size
                folder.files[path] = key

    def _folder(self, relative: str, known: _Folder | None) -> _Folder | None:
        path = os.path.join(self._vault, relative)  # noqa: PTH118 - see above
        try:
            key = stat_key(os.lstat(path))
            if known is not None and known.key == key and not known.racy:
                return known
            folder = _Folder(key, racy=is_racy(key))
            names: dict[str, str] = {}
            with os.scandir(path) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    self._take(relative, entry, folder, names)
        except FileNotFoundError:
            if not relative:
                raise
            return None
        except PermissionError as error:
            if not relative:
                raise
            # Closed to us, as `lost+found` is: a finding, and looked at again next time.
            return _Folder((0, 0, 0, 0), racy=True, issues=[_closed(relative.rstrip("/"), error)])
        return folder

    def _take(self, relative: str, entry: os.DirEntry[str], folder: _Folder, names: dict[str, str]) -> None:
        name = entry.name
        path = relative + name
        if name.startswith(".") or (not relative and name in _SKIPPED_AT_TOP):
            return
        try:
            name.encode()
        except UnicodeEncodeError:
            shown = os.fsencode(path).decode("utf-8", "backslashreplace")
            folder.issues.append(Issue("unreadable_name", "the file's name is not UTF-8", shown))
            return
        is_markdown = name.lower().endswith(".md")
        if entry.is_symlink():
            if is_markdown or entry.is_dir():
                folder.issues.append(Issue("symlink", "a link is not followed; put the file itself here", path))
            return
        if entry.is_dir(follow_symlinks=False):
            folder.folders.append(name)
        elif is_markdown and is_conflict_copy(name):
            folder.issues.append(
                Issue("conflict_copy", "a copy left by a sync program; merge it by hand and delete it", path),
            )
            return
        elif is_markdown:
            folder.names.append(name)
        else:
            return
        twin = names.setdefault(name.casefold(), name)
        if twin != name:
            folder.issues.append(
                Issue(
                    "case_collision", f'differs from "{twin}" by case only; other systems keep one', path, fatal=False
                ),
            )


_KEY = attrgetter("st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")

_AT_A_TIME = 500
"""Keys compared in one step. More new tuples than that at once would set off the garbage collector."""


def _keys(names: list[str], prefix: str) -> list[StatKey]:
    return [_KEY(os.lstat(prefix + name)) for name in names]


def _keys_in(names: list[bytes], descriptor: int) -> list[StatKey]:
    lstat = os.lstat
    return [_KEY(lstat(name, dir_fd=descriptor)) for name in names]


def _places(look: Callable[[list[_Name]], list[StatKey]], names: list[_Name], known: list[StatKey]) -> list[int]:
    """Return the places at which a look differs from before. Almost always none: one comparison for many files."""
    found: list[int] = []
    for start in range(0, len(names), _AT_A_TIME):
        before = known[start : start + _AT_A_TIME]
        try:
            now = look(names[start : start + _AT_A_TIME])
        except OSError:
            # One of them is gone.
            found += range(start, start + len(before))
            continue
        if now != before:
            found += (start + place for place, (one, other) in enumerate(zip(now, before, strict=True)) if one != other)
    return found


def stat_key(found: os.stat_result) -> StatKey:
    """Return what identifies an unchanged file."""
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def is_racy(key: StatKey) -> bool:
    """Return whether a file's times are too young to prove that it will not change unseen.

    Compares with the file system's clock, which is the machine's and not the one passed to the engine.
    """
    return max(key[2], key[3]) > time.time_ns() - RACY_NS


def read_file(path: str, limit: int) -> FileBytes:
    """Read a regular file without following a link at its end.

    Raises:
        OSError: It is missing, no regular file, larger than the limit (EFBIG), or kept changing while being read.
    """
    for _ in range(3):
        descriptor = os.open(path, os.O_RDONLY | _NO_FOLLOW)
        try:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise OSError(errno.EINVAL, "not a regular file", path)
            if before.st_size > limit:
                raise OSError(errno.EFBIG, "file is too large", path)
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                data = file.read(limit + 1)
            after = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        if stat_key(before) == stat_key(after) and len(data) == after.st_size:
            return FileBytes(data, stat_key(after), is_racy(stat_key(after)))
    raise OSError(errno.EBUSY, "file keeps changing", path)


def _closed(path: str, error: OSError) -> Issue:
    return Issue("unreadable", error.strerror or "cannot be read", path)


def _not_a_file(path: str, mode: int) -> Issue:
    if stat.S_ISLNK(mode):
        return Issue("symlink", "a link is not followed; put the file itself here", path)
    return Issue("not_a_file", "only regular files are read", path)
