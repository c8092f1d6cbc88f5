"""The vault as read: every record file, the vocabulary and the evidence, re-reading only what changed.

One `VaultReader` lives as long as the service. `scan()` costs one `lstat` for each file when nothing changed.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.knowledge.default_ontology import default_ontology
from engine.knowledge.errors import ScanLimitReached, StoreUnavailable
from engine.knowledge.evidence import EvidenceCatalogue
from engine.knowledge.ontology_file import ONTOLOGY_PATH, read_ontology
from engine.knowledge.parsing import parse_record
from engine.knowledge.records import Issue, RecordFile
from engine.knowledge.scan import ScanLimits, StatKey, VaultWalker, is_racy, read_file, stat_key
from engine.knowledge.yamltext import MAX_YAML_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.core.clock import Clock
    from engine.knowledge.ontology import Ontology


@dataclass(frozen=True, slots=True)
class Scan:
    """Everything one walk of the vault found. The same object is returned while nothing changes."""

    files: tuple[RecordFile, ...]
    """By path."""
    issues: tuple[Issue, ...]
    """Findings about files that are no record, about the ontology and the evidence."""
    ontology: Ontology
    scanned_at: float
    """When the vault was last found changed (or first read)."""
    reread: int
    """Files opened for this scan."""
    serial: int
    """Counts the scans of a reader that found something changed."""
    touched: frozenset[str]
    """Paths of record files that were added, changed or removed since the scan before."""
    scopes: frozenset[str | None]
    """Scopes that occur, None for files too broken to say theirs."""


@dataclass(slots=True)
class VaultReader:
    """Reads a vault incrementally. Not thread safe: the store's lane serialises it."""

    vault: Path
    clock: Clock
    limits: ScanLimits = field(default_factory=ScanLimits)
    evidence: EvidenceCatalogue = field(init=False)
    _walker: VaultWalker = field(init=False)
    _files: dict[str, RecordFile] = field(default_factory=dict[str, RecordFile])
    _scopes: Counter[str | None] = field(default_factory=Counter[str | None])
    _racy: set[str] = field(default_factory=set[str])
    """Files read so soon after their last change that their times prove nothing yet."""
    _unreadable: dict[str, Issue] = field(default_factory=dict[str, Issue])
    _walk_issues: tuple[Issue, ...] = ()
    _ontology: Ontology = field(default_factory=default_ontology)
    _ontology_key: StatKey | None = None
    _ontology_racy: bool = False
    _ontology_issues: tuple[Issue, ...] = ()
    _last: Scan | None = None
    _serial: int = 0

    def __post_init__(self) -> None:
        self.evidence = EvidenceCatalogue(self.vault)
        self._walker = VaultWalker(self.vault, self.limits)

    def scan(self) -> Scan:
        """Return the vault as it is now.

        Raises:
            ScanLimitReached: The vault is too large to be read whole.
            StoreUnavailable: The vault's folder cannot be listed.
        """
        changed = self._refresh_ontology()
        changed = self.evidence.refresh() or changed
        try:
            walk = self._walker.walk()
        except ScanLimitReached:
            self._start_over()
            raise
        except OSError as error:
            self._start_over()
            raise StoreUnavailable(
                "The vault cannot be read",
                error.strerror or "",
                "Bring the folder back from a backup; Backscroll never puts an empty one in its place.",
            ) from error
        if self._last is not None and not (changed or walk.changed or walk.removed or self._racy or self._unreadable):
            return self._last
        reread = walk.changed.keys() | self._racy | self._unreadable.keys()
        before = dict(self._unreadable)
        touched = {path for path in walk.removed if self._forget(path)}
        new_names = False
        for path in sorted(reread.difference(walk.removed)):
            known = self._files.get(path)
            file = self._read(path, known)
            new_names = new_names or known is None
            if file is not known:
                touched.add(path)
        same_issues = before == self._unreadable and walk.issues == self._walk_issues
        if self._last is None or changed or touched or not same_issues:
            if new_names:
                self._files = dict(sorted(self._files.items()))
            self._walk_issues = walk.issues
            self._serial += 1
            self._last = Scan(
                files=tuple(self._files.values()),
                issues=(*walk.issues, *self._unreadable.values(), *self._ontology_issues, *self.evidence.issues),
                ontology=self._ontology,
                scanned_at=self.clock.now(),
                reread=len(reread),
                serial=self._serial,
                touched=frozenset(touched),
                scopes=frozenset(+self._scopes),
            )
        return self._last

    def require_room(self, sizes: Sequence[int], new: int) -> None:
        """Refuse to write what the next scan would refuse to read.

        Args:
            sizes: Bytes of each record file that would be written.
            new: How many of them are not there yet.

        Raises:
            ScanLimitReached: A record would be too large, or the vault too full.
        """
        count, size = self._walker.totals()
        if max(sizes, default=0) > self.limits.record_bytes:
            raise ScanLimitReached(
                f"The record would have {max(sizes):,} bytes",
                f"A record may have {self.limits.record_bytes:,}; a larger one is not read.",
                "Keep what matters in the record, and the rest as a file with knowledge_attach_file.",
            )
        if new and (count + new > self.limits.records or size + sum(sizes) > self.limits.total_bytes):
            raise ScanLimitReached(
                "The vault is full",
                f"It holds {count:,} of {self.limits.records:,} records, {size:,} of {self.limits.total_bytes:,} B.",
                "Move records that nobody needs any more out of the vault.",
            )

    def _forget(self, path: str) -> bool:
        """Drop what is known of a path; return whether that was a record file."""
        self._racy.discard(path)
        self._unreadable.pop(path, None)
        file = self._files.pop(path, None)
        if file is not None:
            self._scopes[file.scope] -= 1
        return file is not None

    def _read(self, path: str, known: RecordFile | None) -> RecordFile | None:
        """Read one file again and return its record file, the known one when the bytes are the same."""
        try:
            read = read_file(os.path.join(self.vault, path), self.limits.record_bytes)  # noqa: PTH118 - see scan
        except FileNotFoundError:
            self._forget(path)
            return None
        except OSError as error:
            self._forget(path)
            self._unreadable[path] = Issue("unreadable", error.strerror or "cannot be read", path)
            return None
        (self._racy.add if read.racy else self._racy.discard)(path)
        self._unreadable.pop(path, None)
        if known is not None and hashlib.sha256(read.data).hexdigest() == known.hash:
            return known
        if known is not None:
            self._scopes[known.scope] -= 1
        file = self._files[path] = parse_record(path, read.data, self._ontology)
        self._scopes[file.scope] += 1
        return file

    def read_again(self, file: RecordFile) -> bytes | None:
        """Return a record file's bytes, None when it is no longer what the scan read."""
        try:
            data = read_file(os.path.join(self.vault, file.path), self.limits.record_bytes).data  # noqa: PTH118
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == file.hash else None

    def _refresh_ontology(self) -> bool:
        path = os.path.join(self.vault, ONTOLOGY_PATH)  # noqa: PTH118 - see scan
        try:
            key = stat_key(os.lstat(path))
        except FileNotFoundError:
            key = None
        if key == self._ontology_key and not self._ontology_racy:
            return False
        before = self._ontology
        before_issues = self._ontology_issues
        self._ontology, self._ontology_issues = default_ontology(), ()
        self._ontology_racy = key is not None and is_racy(key)
        if key is not None:
            try:
                text = read_file(path, MAX_YAML_BYTES).data.decode("utf-8")
            except (OSError, UnicodeDecodeError):
                self._ontology_issues = (
                    Issue("ontology_unreadable", "not a regular UTF-8 file of at most 64 KiB", ONTOLOGY_PATH),
                )
            else:
                self._ontology, self._ontology_issues = read_ontology(text, self._ontology)
        self._ontology_key = key
        if self._ontology.fingerprint == before.fingerprint:
            self._ontology = before
            return before_issues != self._ontology_issues
        # Types and fields are judged while a record is read, so every record is read again.
        self._start_over()
        return True

    def _start_over(self) -> None:
        """Forget what was read, so that the next scan reads every file."""
        self._walker.start_over()
        self._files, self._racy, self._unreadable, self._last = {}, set(), {}, None
        self._scopes.clear()
        self._serial += 1
