"""The vault as read: every record file, the vocabulary and the evidence, re-reading only what changed.

One `VaultReader` lives as long as the service. `scan()` costs one `lstat` for each file when nothing changed.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.knowledge.default_ontology import default_ontology
from engine.knowledge.errors import StoreUnavailable
from engine.knowledge.evidence import EvidenceCatalogue
from engine.knowledge.ontology_file import ONTOLOGY_PATH, read_ontology
from engine.knowledge.parsing import parse_record
from engine.knowledge.records import Issue, RecordFile
from engine.knowledge.scan import ScanLimits, StatKey, VaultWalker, is_racy, read_file, stat_key
from engine.knowledge.yamltext import MAX_YAML_BYTES

if TYPE_CHECKING:
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


@dataclass(frozen=True, slots=True)
class _Known:
    key: StatKey
    racy: bool
    file: RecordFile


@dataclass(slots=True)
class VaultReader:
    """Reads a vault incrementally. Not thread safe: the store's lane serialises it."""

    vault: Path
    clock: Clock
    limits: ScanLimits = field(default_factory=ScanLimits)
    evidence: EvidenceCatalogue = field(init=False)
    _walker: VaultWalker = field(init=False)
    _known: dict[str, _Known] = field(default_factory=dict[str, _Known])
    _walk_issues: tuple[Issue, ...] = ()
    _ontology: Ontology = field(default_factory=default_ontology)
    _ontology_key: StatKey | None = None
    _ontology_racy: bool = False
    _ontology_issues: tuple[Issue, ...] = ()
    _last: Scan | None = None

    def __post_init__(self) -> None:
        self.evidence = EvidenceCatalogue(self.vault)
        self._walker = VaultWalker(self.vault, self.limits)

    def scan(self) -> Scan:
        """Return the vault as it is now.

        Raises:
            ScanLimitReached: The vault is too large to be read whole.
            StoreUnavailable: The vault's folder cannot be listed.
        """
        try:
            listing = self._walker.walk()
        except OSError as error:
            raise StoreUnavailable(
                "The vault cannot be read",
                error.strerror or "",
                "Bring the folder back from a backup; Backscroll never puts an empty one in its place.",
            ) from error
        changed = self._refresh_ontology()
        changed = self.evidence.refresh() or changed
        known, self._known = self._known, {}
        unreadable: list[Issue] = []
        reread = 0
        for path, key in listing.files.items():
            before = known.get(path)
            if before is not None and before.key == key and not before.racy:
                self._known[path] = before
                continue
            reread += 1
            try:
                read = read_file(os.path.join(self.vault, path), self.limits.record_bytes)  # noqa: PTH118 - see scan
            except FileNotFoundError:
                changed = changed or before is not None
                continue
            except OSError as error:
                unreadable.append(Issue("unreadable", error.strerror or "cannot be read", path))
                continue
            file = parse_record(path, read.data, self._ontology)
            if before is not None and before.file.hash == file.hash:
                file = before.file
            else:
                changed = True
            self._known[path] = _Known(read.key, read.racy, file)
        walk_issues = (*listing.issues, *unreadable)
        if self._last is None or changed or len(self._known) != len(known) or walk_issues != self._walk_issues:
            self._walk_issues = walk_issues
            self._last = Scan(
                files=tuple(self._known[path].file for path in sorted(self._known)),
                issues=(*walk_issues, *self._ontology_issues, *self.evidence.issues),
                ontology=self._ontology,
                scanned_at=self.clock.now(),
                reread=reread,
            )
        return self._last

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
        self._known = {}
        return True
