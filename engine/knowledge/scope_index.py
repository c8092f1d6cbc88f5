"""What a scope's files say about each other, kept up to date file by file instead of computed anew for each query.

A change of one file re-judges that file and those that name an id whose existence, kind or type it changed. The result
is always the same as from scratch; a property test holds it to that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.knowledge.availability import Node
from engine.knowledge.snapshot import Snapshot
from engine.knowledge.validation import EVIDENCE_MISSING, ReferenceChecker, duplicate_issues, guard_issue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.knowledge.evidence import Descriptor, EvidenceCatalogue
    from engine.knowledge.records import Issue, RecordFile
    from engine.knowledge.validation import Guard
    from engine.knowledge.vault import Scan

_Face = tuple[str, str, str]
"""What other records can see of an id: one file or several, its kind, its type."""


@dataclass(slots=True)
class ScopeIndex:
    """The files of one scope and their findings. Makes one snapshot for each state."""

    scope: str
    evidence: EvidenceCatalogue
    _serial: int = -1
    _files: dict[str, RecordFile] = field(default_factory=dict[str, "RecordFile"])
    """The scope's files and those that do not say theirs."""
    _total: int = 0
    """Sum of the scope's file tokens: part of the snapshot's name, whatever the order."""
    _groups: dict[str, dict[str, RecordFile]] = field(default_factory=dict[str, dict[str, "RecordFile"]])
    _by_id: dict[str, RecordFile] = field(default_factory=dict[str, "RecordFile"])
    _duplicates: dict[str, tuple[RecordFile, ...]] = field(default_factory=dict[str, tuple["RecordFile", ...]])
    _referrers: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    _citing: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Paths of the files that cite a descriptor."""
    _descriptors: dict[str, Descriptor] = field(default_factory=dict[str, "Descriptor"])
    _own: dict[str, tuple[Issue, ...]] = field(default_factory=dict[str, tuple["Issue", ...]])
    _cross: dict[str, tuple[Issue, ...]] = field(default_factory=dict[str, tuple["Issue", ...]])
    _stale: dict[str, Issue] = field(default_factory=dict[str, "Issue"])
    _nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    _merged: set[str] = field(default_factory=set[str])
    _last: Snapshot | None = None

    def snapshot(self, scan: Scan, guards: Mapping[str, Guard]) -> Snapshot:
        """Return the scope as a scan and the safeguards have it."""
        only_ours = len(scan.scopes) == 1 and self.scope in scan.scopes
        files = scan.files if only_ours else tuple(file for file in scan.files if file.scope == self.scope)
        inventory = files if only_ours else tuple(file for file in scan.files if file.scope in (self.scope, None))
        ids, dirty = self._take(scan, inventory)
        dirty |= self._take_descriptors()
        checker = ReferenceChecker(self._by_id, self._duplicates, self.evidence.descriptors, scan.ontology)
        for path in dirty:
            self._check(path, checker)
        was_stale, self._stale = self._stale, self._stale_files(guards)
        ids |= {file.id for path in dirty if (file := self._files.get(path)) is not None and file.id is not None}
        ids |= {issue.id for issue in (*was_stale.values(), *self._stale.values()) if issue.id is not None}
        last = self._last
        same = self._judge(ids) and last is not None and not self._may_lose_ground(dirty, last.available)
        same = same and last is not None and not last.ground_moved()
        changed = {name: self._by_id[name] for name in ids if name in self._by_id}
        self._last = Snapshot(
            scan=scan,
            scope=self.scope,
            evidence=self.evidence,
            files=files,
            inventory=inventory,
            at=self._files,
            by_id=dict(self._by_id),
            duplicates=dict(self._duplicates),
            issues=self._issues(scan),
            nodes=dict(self._nodes),
            merged=frozenset(self._merged),
            referrers=self._referrers,
            total=self._total,
            guard_rows=self._guard_rows(guards),
            without_descriptor=self._without_descriptor(),
            carried=last.carry_over(changed) if same and last is not None else None,
        )
        return self._last

    def _check(self, path: str, checker: ReferenceChecker) -> None:
        """Judge one file's references anew."""
        file = self._files.get(path)
        usable = file is not None and file.scope == self.scope and file.id not in self._duplicates
        issues = tuple(checker.issues_of(file)) if file is not None and usable else ()
        if issues:
            self._cross[path] = issues
        else:
            self._cross.pop(path, None)

    def _may_lose_ground(self, dirty: set[str], available: frozenset[str]) -> bool:
        """Return whether a changed record's standing may hang on its evidence (contract 3, point 15)."""
        for path in dirty:
            file = self._files.get(path)
            record = file.record if file is not None else None
            if record is None or not record.sources or record.kind == "page":
                continue
            if record.id not in available or not available.issuperset(record.sources):
                return True
        return False

    def _take(self, scan: Scan, files: tuple[RecordFile, ...]) -> tuple[set[str], set[str]]:
        """Take over added, changed and removed files; return the ids touched and the paths to judge again."""
        if scan.serial == self._serial + 1:
            touched: Iterable[str] = scan.touched
            wanted = (self.scope, None)
            found = {file.path: file for file in files if file.path in scan.touched} if touched else {}
            new = {path: file for path, file in found.items() if file.scope in wanted}
        else:
            new = {file.path: file for file in files}
            touched = self._files.keys() | new.keys()
        self._serial = scan.serial
        pairs = [(self._files.get(path), new.get(path)) for path in touched]
        pairs = [(old, now) for old, now in pairs if old is not now]
        ids = {file.id for pair in pairs for file in pair if file is not None and file.id is not None}
        before = {name: self._face(name) for name in ids}
        for old, _ in pairs:
            if old is not None:
                self._forget(old)
        for _, now in pairs:
            if now is not None:
                self._remember(now)
        for name in ids:
            self._regroup(name)
        dirty = {now.path for _, now in pairs if now is not None}
        for name in ids:
            if self._face(name) != before[name]:
                dirty.update(self._referrers.get(name, ()))
                dirty.update(self._groups.get(name, ()))
        return ids, dirty

    def _take_descriptors(self) -> set[str]:
        """Return the paths that cite evidence whose descriptor came or went."""
        old, self._descriptors = self._descriptors, self.evidence.descriptors
        if old is self._descriptors:
            return set()
        return {path for name in old.keys() ^ self._descriptors.keys() for path in self._citing.get(name, ())}

    def _remember(self, file: RecordFile) -> None:
        self._files[file.path] = file
        if file.issues:
            self._own[file.path] = file.issues
        if file.scope != self.scope:
            return
        self._total += file.token
        if file.id is not None:
            self._groups.setdefault(file.id, {})[file.path] = file
        if file.record is not None:
            for name in file.record.referenced_ids():
                self._referrers.setdefault(name, set()).add(file.path)
            for citation in file.record.evidence:
                self._citing.setdefault(citation.id, set()).add(file.path)

    def _forget(self, file: RecordFile) -> None:
        del self._files[file.path]
        self._cross.pop(file.path, None)
        self._own.pop(file.path, None)
        if file.scope != self.scope:
            return
        self._total -= file.token
        if file.id is not None:
            self._groups[file.id].pop(file.path, None)
        if file.record is not None:
            for name in file.record.referenced_ids():
                self._referrers[name].discard(file.path)
            for citation in file.record.evidence:
                self._citing[citation.id].discard(file.path)

    def _regroup(self, name: str) -> None:
        group = self._groups.get(name, {})
        self._by_id.pop(name, None)
        self._duplicates.pop(name, None)
        if len(group) == 1:
            self._by_id[name] = next(iter(group.values()))
        elif group:
            self._duplicates[name] = tuple(group[path] for path in sorted(group))

    def _face(self, name: str) -> _Face:
        if name in self._duplicates:
            return "several", "", ""
        file = self._by_id.get(name)
        if file is None:
            return "none", "", ""
        return ("one", file.record.kind, file.record.type) if file.record is not None else ("one", "", "")

    def _stale_files(self, guards: Mapping[str, Guard]) -> dict[str, Issue]:
        found: dict[str, Issue] = {}
        for name, guard in guards.items():
            file = self._by_id.get(name)
            issue = guard_issue(file, guard) if file is not None else None
            if issue is not None:
                found[issue.path] = issue
        return found

    def _judge(self, ids: Iterable[str]) -> bool:
        """Bring the nodes of these ids up to date; return whether the graph stayed the same."""
        same = True
        for name in ids:
            node = self._node(name)
            if node != self._nodes.get(name):
                same = False
                self._merged.discard(name)
                if node is None:
                    self._nodes.pop(name, None)
                    continue
                self._nodes[name] = node
                if node.standing == "merged":
                    self._merged.add(name)
        return same

    def _node(self, name: str) -> Node | None:
        if name in self._duplicates:
            return Node("gone")
        file = self._by_id.get(name)
        if file is None:
            return None
        record = file.record
        own = (*file.issues, *self._cross.get(file.path, ()))
        if record is None or record.lifecycle == "withdrawn" or file.path in self._stale:
            return Node("gone")
        if any(issue.fatal for issue in own):
            return Node("gone")
        if record.lifecycle == "merged":
            return Node("merged", (record.merged_into,) if record.merged_into else ())
        return Node("present", record.required_ids())

    def _issues(self, scan: Scan) -> tuple[Issue, ...]:
        found = [*scan.issues, *self._stale.values(), *duplicate_issues(self._duplicates)]
        for issues in (*self._own.values(), *self._cross.values()):
            found += issues
        return tuple(sorted(set(found), key=lambda issue: (issue.path, issue.line or 0, issue.code, issue.message)))

    def _without_descriptor(self) -> str:
        findings = (issue for issues in self._cross.values() for issue in issues)
        return json.dumps(sorted((one.path, one.line or 0) for one in findings if one.code == EVIDENCE_MISSING))

    def _guard_rows(self, guards: Mapping[str, Guard]) -> str:
        rows = sorted(
            (guard.id, guard.revision, guard.lifecycle, guard.superseded_by or "")
            for guard in guards.values()
            if guard.id in self._by_id
        )
        return json.dumps(rows)
