"""Publishing a plan: journal the intent, install the files, acknowledge; and finishing what a crash interrupted.

The order is the whole safety: everything needed is in `state.sqlite` before the first file changes, and the receipt is
only complete after the last one did (contract 3, point 29).
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Protocol

from engine.core.errors import StorageFailure
from engine.core.files import sync_folder
from engine.knowledge.dates import utc_text
from engine.knowledge.errors import HashConflict, PublicationConflict, RequestConflict
from engine.knowledge.files import TEMPORARY, remove_leftovers, write_atomic
from engine.knowledge.validation import guard_key
from engine.store.knowledge_journal import Event, HandEdit, PlannedFile, Publication
from engine.store.knowledge_state import GuardRow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from engine.knowledge.plan import NewFile, Plan, RecordChange
    from engine.knowledge.requests import Caller
    from engine.knowledge.store import OpenStore

RETRY_WINDOW_S = 600.0
"""An identical call without a request id within this time is a retry (interface.md)."""


class Steps(Protocol):
    """Told where a publication stands. The tests stop the process there."""

    def reached(self, step: str) -> None:
        """Note that a step was reached: journaled, installing, installed, acknowledged, committed."""
        ...


class NoSteps:
    """Nobody watches."""

    def reached(self, step: str) -> None:
        """Do nothing."""


class Publisher:
    """Writes to one store, inside its lane."""

    def __init__(self, store: OpenStore, steps: Steps) -> None:
        self._store = store
        self._steps = steps

    def publish(
        self,
        tool: str,
        request_id: str | None,
        request: Mapping[str, object],
        *,
        caller: Caller,
        scope: str,
        make: Callable[[str], Plan],
    ) -> Publication:
        """Carry a request out once, however often it is sent.

        Args:
            tool: Name of the tool.
            request_id: The caller's; None derives one from session, tool and arguments.
            request: The arguments without the request id, as they count for "the same request".
            caller: Who asks.
            scope: Partition of the records.
            make: Builds the plan for a request id. Only called when the request is new.

        Raises:
            RequestConflict: The request id was used for something else.
            HashConflict: A file changed while the plan was made.
            StorageFailure: A file could not be written; the publication is finished at the next call.
        """
        canonical = json.dumps([tool, scope, request], sort_keys=True, ensure_ascii=False, default=str)
        digest = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
        now = self._store.clock.now()
        retry_key = None
        if request_id is None:
            retry_key = hashlib.sha256(f"{caller.session_id}\0{digest}".encode()).hexdigest()
            known = self._store.journal.find_retry(retry_key, now - RETRY_WINDOW_S)
            request_id = f"auto_{retry_key[:16]}_{int(now * 1000):x}"
        else:
            known = self._store.journal.find(request_id)
        if known is not None and known.digest != digest:
            raise RequestConflict(
                "This request id was used for another request",
                "",
                "Send a new request id with a new request; repeat an old one unchanged.",
            )
        if known is not None and known.state != "abandoned":
            return known
        plan = make(request_id)
        publication = self._publication(
            tool, request_id, plan, digest=digest, retry_key=retry_key, caller=caller, scope=scope
        )
        ready = self._check_unchanged(publication)
        self._store.journal.begin(publication, _blobs(plan), self._only_in_files(plan, utc_text(now)))
        self._steps.reached("journaled")
        try:
            self._install(publication)
        except (PublicationConflict, StorageFailure) as error:
            if self._new_files(publication) != ready:
                raise
            self._store.journal.abandon(publication.request_id)
            if isinstance(error, StorageFailure):
                raise
            raise HashConflict(
                "A file was changed by another program at the same moment",
                "Nothing was overwritten.",
                "Read the record again, then repeat the change.",
            ) from error
        self._acknowledge(publication)
        return self._again(publication)

    def recover(self) -> int:
        """Finish every unfinished publication and return how many there were.

        Raises:
            PublicationConflict: A file is neither its old nor its new version.
            StorageFailure: A file could not be written.
        """
        pending = self._store.journal.pending()
        for publication in pending:
            self._install(publication)
            self._acknowledge(publication)
        return len(pending)

    def _again(self, publication: Publication) -> Publication:
        return self._store.journal.find(publication.request_id) or publication

    def _acknowledge(self, publication: Publication) -> None:
        self._store.journal.complete(publication)
        self._steps.reached("acknowledged")

    def _publication(
        self,
        tool: str,
        request_id: str,
        plan: Plan,
        *,
        digest: str,
        retry_key: str | None,
        caller: Caller,
        scope: str,
    ) -> Publication:
        now = self._store.clock.now()
        at = utc_text(now)
        records = [_shown(change) for change in plan.changes]
        receipt: dict[str, object] = {"requestId": request_id, "tool": tool, "scope": scope, "at": at}
        if records:
            receipt["records"] = records
        if plan.descriptors:
            receipt["evidence"] = [
                {"id": one.id, "sha256": one.sha256, "path": one.path} for one in plan.descriptors.values()
            ]
        if plan.warnings:
            receipt["warnings"] = list(plan.warnings)
        files = (*plan.originals, *(change.file for change in plan.changes))
        return Publication(
            request_id=request_id,
            digest=digest,
            tool=tool,
            at=now,
            files=tuple(PlannedFile(file.path, file.old, file.new, file.staged) for file in files),
            events=tuple(_event(change, scope, at, caller.actor, request_id) for change in plan.changes),
            guards=tuple(_guard(change, scope, at, request_id) for change in plan.changes if change.guard),
            receipt=receipt,
            message=plan.message,
            retry_key=retry_key,
        )

    def _check_unchanged(self, publication: Publication) -> set[str]:
        """Return the paths that need no writing: originals retained before under the same hash."""
        for file in publication.files:
            if self._hash_at(file) not in (file.old, file.new):
                raise HashConflict(
                    "A file changed since it was read", "", "Read the record again, then repeat the change."
                )
        return self._new_files(publication)

    def _only_in_files(self, plan: Plan, at: str) -> list[HandEdit]:
        """Return the versions about to be replaced that nothing but the vault holds: what a person wrote stays."""
        found: list[HandEdit] = []
        for change in plan.changes:
            path, digest = change.file.path, change.file.old
            if digest is None or self._store.journal.blob(digest) is not None:
                continue
            try:
                data = (self._store.layout.vault / path).read_bytes()
            except FileNotFoundError:
                # Taken away this very moment; what follows refuses to go on.
                continue
            if hashlib.sha256(data).hexdigest() == digest:
                found.append(HandEdit(path, digest, data, at))
        return found

    def _new_files(self, publication: Publication) -> set[str]:
        """Return the paths that already are their new version."""
        return {file.path for file in publication.files if self._hash_at(file) == file.new}

    def _require_known(self, file: PlannedFile, publication: Publication) -> str | None:
        """Return the hash of a file that is its old or its new version."""
        present = self._hash_at(file)
        if present not in (file.old, file.new):
            raise PublicationConflict(
                "An unfinished change cannot be finished",
                f"{file.path} is neither the version before nor the one after request {publication.request_id}.",
                "Put one of the two versions back (knowledge_history has them), or give the request up with "
                f"`backscroll knowledge check --give-up {publication.request_id}`.",
            )
        return present

    def _install(self, publication: Publication) -> None:
        """Bring every file to its new version; files that already are stay untouched."""
        for file in publication.files:
            self._require_known(file, publication)
        for number, file in enumerate(publication.files):
            # Looked at again right before it is replaced: another program may be writing at the same moment.
            if self._require_known(file, publication) == file.new:
                if file.staged is not None:
                    (self._store.layout.vault / file.staged).unlink(missing_ok=True)
                continue
            self._steps.reached(f"installing {number}")
            self._write(file)
            self._steps.reached(f"installed {number}")

    def _write(self, file: PlannedFile) -> None:
        vault = self._store.layout.vault
        try:
            target = safe_target(vault, file.path)
            if file.staged is not None:
                (vault / file.staged).replace(target)
                sync_folder(target.parent)
                return
            data = self._store.journal.blob(file.new)
            if data is None:
                raise PublicationConflict("An unfinished change lost its content", file.path)
            write_atomic(target, data)
        except OSError as error:
            raise StorageFailure(
                f"{file.path} could not be written",
                f"{error.strerror or error}.",
                "Check the disk and the folder's permissions.",
            ) from error

    def _hash_at(self, file: PlannedFile | NewFile) -> str | None:
        path = self._store.layout.vault / file.path
        try:
            if path.is_symlink():
                return "a link"
            digest = hashlib.sha256()
            with path.open("rb") as original:
                while chunk := original.read(1024 * 1024):
                    digest.update(chunk)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return "not readable"
        return digest.hexdigest()


def safe_target(vault: Path, relative: str) -> Path:
    """Return the path of a file to be written, its folders made; never through a link out of the vault.

    Raises:
        OSError: A folder on the way is a link or a file, or cannot be made.
    """
    folder = vault
    for part in relative.split("/")[:-1]:
        folder /= part
        if folder.is_symlink():
            raise NotADirectoryError(f"{part} is a link")
        if not folder.is_dir():
            folder.mkdir()
            sync_folder(folder.parent)
    return folder / relative.rpartition("/")[2]


def clean_up(store: OpenStore) -> int:
    """Delete temporary files of writes that a crash cut short; call it only while nothing is pending."""
    count = 0
    for folder, names, files in os.walk(store.layout.vault):
        names[:] = [name for name in names if name != ".git" and not name.startswith(".")]
        if any(name.startswith(TEMPORARY) for name in files):
            count += remove_leftovers(store.layout.vault / folder)
    return count


def _blobs(plan: Plan) -> dict[str, bytes]:
    files = [*plan.originals, *(change.file for change in plan.changes)]
    return {file.new: file.data for file in files if file.data is not None}


def _shown(change: RecordChange) -> dict[str, object]:
    record = change.parsed.record
    assert record is not None  # noqa: S101 - Plan.add accepts nothing else
    return {
        "id": record.id,
        "kind": record.kind,
        "title": record.title,
        "revision": record.revision,
        "hash": change.file.new,
        "path": change.file.path,
        "lifecycle": record.lifecycle,
    }


def _event(change: RecordChange, scope: str, at: str, actor: str, request_id: str) -> Event:
    record = change.parsed.record
    assert record is not None  # noqa: S101 - Plan.add accepts nothing else
    return Event(
        scope,
        record.id,
        record.revision,
        change.file.new,
        change.event,
        at,
        change.file.path,
        actor,
        change.reason,
        request_id,
    )


def _guard(change: RecordChange, scope: str, at: str, request_id: str) -> GuardRow:
    record = change.parsed.record
    assert record is not None  # noqa: S101 - Plan.add accepts nothing else
    return GuardRow(
        guard_key(scope, record.id),
        record.revision,
        record.lifecycle,
        record.superseded_by,
        change.file.new,
        at,
        request_id,
    )
