"""One open Knowledge store: its lane, its snapshots, and its keyword projection.

Every operation runs inside `lane()`: one thread and one process at a time, so that a reconcile and the read after it
see the same files (contract 3, point 24).
"""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from filelock import FileLock, Timeout

from engine.core.errors import StorageFailure
from engine.knowledge.dates import utc_text
from engine.knowledge.errors import StoreUnavailable
from engine.knowledge.frontmatter import split_record
from engine.knowledge.manifest import Manifest, StoreLayout, create_store, open_store, store_exists
from engine.knowledge.scope_index import ScopeIndex
from engine.knowledge.validation import Guard, guarded
from engine.knowledge.vault import VaultReader
from engine.store.errors import StoreDamaged
from engine.store.knowledge_index import (
    FINGERPRINT,
    IndexMark,
    IndexText,
    IndexUnavailable,
    KeywordIndex,
    Projection,
    index_errors,
)
from engine.store.knowledge_journal import Event, KnowledgeJournal

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from engine.core.clock import Clock
    from engine.knowledge.records import RecordFile
    from engine.knowledge.scan import ScanLimits
    from engine.knowledge.snapshot import Snapshot
    from engine.store.knowledge_state import KnowledgeState

_T = TypeVar("_T")

logger = logging.getLogger(__name__)

LANE_TIMEOUT_S = 30.0
_ATTEMPTS = 5


class MovedOn(Exception):
    """A file changed between scan and read; the operation starts again with a new scan."""


class OpenStore:
    """The parts of an open store. Only for use inside its lane."""

    def __init__(
        self, layout: StoreLayout, manifest: Manifest, state: KnowledgeState, clock: Clock, limits: ScanLimits
    ) -> None:
        self.layout = layout
        self.manifest = manifest
        self.state = state
        self.clock = clock
        self.journal = KnowledgeJournal(state)
        self.reader = VaultReader(layout.vault, clock, limits)
        self.reindexed = 0
        """Records put into the index by the last reconcile (R71)."""
        self._scopes: dict[str, ScopeIndex] = {}
        self._snapshots: dict[str, Snapshot] = {}
        self._indexes: dict[str, KeywordIndex] = {}
        self._guards: dict[str, dict[str, Guard]] = {}
        """By scope and id."""
        self._version: tuple[int, int] | None = None

    def snapshot(self, scope: str) -> Snapshot:
        """Scan the vault and return one scope of it.

        Raises:
            ScanLimitReached: The vault is too large.
            StoreUnavailable: The vault cannot be listed.
        """
        scan = self.reader.scan()
        version = self.state.version()
        if version != self._version:
            guards: dict[str, dict[str, Guard]] = {}
            for row in self.state.guards():
                of_scope, name = guarded(row.id)
                guards.setdefault(of_scope, {})[name] = Guard(name, row.revision, row.lifecycle, row.superseded_by)
            if guards != self._guards:
                self._guards, self._snapshots = guards, {}
            self._version = version
        known = self._snapshots.get(scope)
        if known is None or known.scan is not scan or known.ground_moved():
            index = self._scopes.setdefault(scope, ScopeIndex(scope, self.reader.evidence))
            before = known.scan.serial if known is not None else None
            known = self._snapshots[scope] = index.snapshot(scan, self._guards.get(scope, {}))
            self._note_external_edits(known, None if before != scan.serial - 1 else scan.touched)
        return known

    def body(self, file: RecordFile) -> str:
        """Return a record's body as the snapshot saw it.

        Raises:
            MovedOn: The file changed since the scan.
        """
        data = self.reader.read_again(file)
        if data is None:
            raise MovedOn
        return split_record(data).body

    def index(self, snapshot: Snapshot) -> KeywordIndex:
        """Return the keyword index, brought in step with a snapshot (R70, R71).

        Raises:
            IndexUnavailable: It can be neither brought in step nor rebuilt.
            MovedOn: A file changed since the scan.
        """
        index = self._indexes.get(snapshot.scope)
        if index is None:
            index = self._indexes[snapshot.scope] = KeywordIndex(self.state, snapshot.scope)
        try:
            self._reconcile(index, snapshot)
        except (IndexUnavailable, StoreDamaged):
            logger.warning("The keyword index of Knowledge is damaged; rebuilding it")
            self._indexes.pop(snapshot.scope)
            index = KeywordIndex(self.state, snapshot.scope)
            with index_errors(), self.state.transaction():
                index.rebuild()
            self._reconcile(index, snapshot)
            self._indexes[snapshot.scope] = index
        return index

    def index_mark(self, scope: str) -> IndexMark | None:
        """Return what the keyword index of a scope last matched; None also while it does not work."""
        try:
            return KeywordIndex(self.state, scope).mark()
        except IndexUnavailable:
            return None

    def _reconcile(self, index: KeywordIndex, snapshot: Snapshot) -> None:
        mark = index.mark()
        seq = self.journal.last_seq()
        self.reindexed = 0
        index.load()
        if mark is not None and (mark.snapshot, mark.fingerprint, mark.history_seq) == (snapshot.id, FINGERPRINT, seq):
            return
        wanted: dict[Projection, Mapping[str, str]] = {
            "current": snapshot.hashes,
            "earlier": {name: snapshot.by_id[name].hash for name in snapshot.replacements},
        }
        try:
            with index_errors(), self.state.transaction():
                if mark is None or mark.fingerprint != FINGERPRINT:
                    index.rebuild()
                for projection, target in wanted.items():
                    known = index.hashes(projection)
                    index.remove(projection, [name for name, _ in known.items() - target.items()])
                    missing = sorted(target.keys() - known.keys())
                    self.reindexed += index.add(projection, (self._text(snapshot.by_id[name]) for name in missing))
                index.set_mark(snapshot.id, self.clock.now(), seq)
        except BaseException:
            index.forget()
            raise

    def _text(self, file: RecordFile) -> IndexText:
        if file.record is None:
            raise MovedOn
        return IndexText(file.record.id, file.hash, file.record.title, file.record.aliases, self.body(file))

    def _note_external_edits(self, snapshot: Snapshot, touched: frozenset[str] | None) -> None:
        """Keep hand-made versions of records this program published (contract 3, point 28).

        Args:
            snapshot: The scope as it is now.
            touched: Paths that changed since the snapshot before; None when there was none to compare with.
        """
        edits: list[tuple[Event, bytes]] = []
        files = [snapshot.at[path] for path in touched if path in snapshot.at] if touched is not None else []
        records = None if touched is None else {file.id for file in files if file.id is not None}
        for name, (revision, digest) in self.journal.heads(snapshot.scope, records).items():
            file = snapshot.by_id.get(name)
            if file is None or file.hash == digest or file.record is None or file.record.revision < revision:
                continue
            data = self.reader.read_again(file)
            if data is None:
                continue
            at = utc_text(self.clock.now())
            record = file.record
            event = Event(snapshot.scope, name, record.revision, file.hash, "external_edit", at, file.path)
            edits.append((event, data))
        if edits:
            self.journal.note_external_edits(edits)
            self._version = self.state.version()


class EnterLane(Protocol):
    """Called with the store before each operation; `first` when it was just opened."""

    def __call__(self, store: OpenStore, *, first: bool) -> None:
        """Finish what was left unfinished."""
        ...


class StoreLane:
    """Opens the store when it is first needed and lets one operation at a time use it."""

    def __init__(
        self,
        layout: StoreLayout,
        clock: Clock,
        limits: ScanLimits,
        on_enter: EnterLane,
    ) -> None:
        self.layout = layout
        self._clock = clock
        self._limits = limits
        self._on_enter = on_enter
        self._thread_lock = threading.Lock()
        self._store: OpenStore | None = None

    @contextmanager
    def lane(self, *, create: bool = False, recover: bool = True) -> Generator[OpenStore]:
        """Hold the store for one operation.

        Args:
            create: Create the store when there never was one; only writes and `init` ask for it (R155).
            recover: Finish unfinished publications first.

        Raises:
            StoreUnavailable: There is no store, it lost a part, or another process held it too long.
            StoreIdentityMismatch: The database belongs to another store.
            PublicationConflict: An unfinished publication cannot be finished.
        """
        with self._thread_lock:
            if not store_exists(self.layout):
                self._forget()
                if not create:
                    open_store(self.layout)
                self.layout.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._process_lock():
                if create and not store_exists(self.layout):
                    create_store(self.layout, self._clock.now())
                before = self._store
                store = self._open()
                if recover:
                    self._on_enter(store, first=store is not before)
                yield store

    def close(self) -> None:
        """Close the database. The next operation opens it again."""
        with self._thread_lock:
            self._forget()

    @contextmanager
    def _process_lock(self) -> Generator[None]:
        lock = FileLock(self.layout.lock, timeout=LANE_TIMEOUT_S)
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreUnavailable(
                "Another program uses the Knowledge store",
                f"It did not finish within {LANE_TIMEOUT_S:.0f} seconds.",
                "Try again.",
            ) from error
        except OSError as error:
            raise StorageFailure("The Knowledge folder cannot be written", str(error.strerror or "")) from error
        try:
            yield
        finally:
            lock.release()

    def _open(self) -> OpenStore:
        if self._store is not None and self._still_there():
            return self._store
        self._forget()
        manifest, state = open_store(self.layout)
        self._store = OpenStore(self.layout, manifest, state, self._clock, self._limits)
        self._inode = self._identity()
        return self._store

    def _identity(self) -> tuple[int, int, int]:
        manifest, database = self.layout.manifest.stat(), self.layout.database.stat()
        return database.st_ino, manifest.st_ino, manifest.st_mtime_ns

    def _still_there(self) -> bool:
        """Return whether the open database is still the one at the path: a replaced store must be opened anew."""
        try:
            return self._inode == self._identity() and self.layout.vault.is_dir()
        except OSError:
            return False

    def _forget(self) -> None:
        if self._store is not None:
            self._store.state.close()
            self._store = None


def retrying(operation: Callable[[], _T]) -> _T:
    """Run an operation again with a new scan when a file changed under it."""
    for _ in range(_ATTEMPTS):
        try:
            return operation()
        except MovedOn:
            continue
    raise StorageFailure("The vault keeps changing", "Files changed while they were being read.", "Try again.")
