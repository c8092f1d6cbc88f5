"""The identity and layout of a store: `store.yaml`, `state.sqlite`, `vault/`. Created on purpose, never by looking."""

from __future__ import annotations

import os
import re
import secrets
import string
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.core.files import sync_folder
from engine.knowledge.dates import utc_text
from engine.knowledge.errors import StoreIdentityMismatch, StoreUnavailable
from engine.knowledge.files import write_new
from engine.knowledge.scan import read_file
from engine.knowledge.yamltext import MAX_YAML_BYTES, YamlRefused, read_mapping
from engine.store.knowledge_state import KnowledgeState

if TYPE_CHECKING:
    from pathlib import Path

STORE_FORMAT = "knowledge-store-v1"
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_ALPHABET = string.ascii_lowercase + string.digits


@dataclass(frozen=True, slots=True)
class StoreLayout:
    """Where the parts of a store lie."""

    root: Path

    @property
    def manifest(self) -> Path:
        """Identity of the store."""
        return self.root / "store.yaml"

    @property
    def database(self) -> Path:
        """What the files cannot say: receipts, history, safeguards; and the search tables."""
        return self.root / "state.sqlite"

    @property
    def vault(self) -> Path:
        """The folder a person opens in Obsidian."""
        return self.root / "vault"

    @property
    def creating(self) -> Path:
        """There while the store is being created; what lies beside it then was never used."""
        return self.root / "store.creating"

    @property
    def lock(self) -> Path:
        """Serialises the processes that use this store."""
        return self.root / "store.lock"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What `store.yaml` says."""

    store_id: str
    vault_id: str
    created_at: str


def new_id(prefix: str) -> str:
    """Return an id of our own: a prefix and 16 of `[a-z0-9]` (83 bits)."""
    return f"{prefix}_{''.join(secrets.choice(_ALPHABET) for _ in range(16))}"


def store_exists(layout: StoreLayout) -> bool:
    """Return whether there is, or was, a store here. One whose creation was cut short never was."""
    if layout.creating.exists():
        return False
    return layout.manifest.exists() or layout.database.exists() or layout.vault.exists()


def create_store(layout: StoreLayout, now: float) -> Manifest:
    """Create an empty store, also over the remains of a creation that was cut short.

    Raises:
        StoreUnavailable: There is one already, or the remains of one.
    """
    if store_exists(layout):
        raise StoreUnavailable(
            "There is already a Knowledge store, or a part of one",
            "It is never overwritten.",
            "Move the folder away first if a new store is wanted.",
        )
    manifest = Manifest(new_id("store"), new_id("vault"), utc_text(now))
    layout.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    layout.creating.touch()
    layout.manifest.unlink(missing_ok=True)
    for suffix in ("", "-wal", "-shm"):
        layout.database.with_name(layout.database.name + suffix).unlink(missing_ok=True)
    layout.vault.mkdir(mode=0o700, exist_ok=True)
    KnowledgeState.create(layout.database, manifest.store_id, manifest.vault_id).close()
    text = (
        f"format: {STORE_FORMAT}\nstore_id: {manifest.store_id}\nvault_id: {manifest.vault_id}\n"
        f'created_at: "{manifest.created_at}"\n'
    )
    write_new(layout.manifest, text.encode())
    layout.creating.unlink()
    sync_folder(layout.root)
    return manifest


def open_store(layout: StoreLayout) -> tuple[Manifest, KnowledgeState]:
    """Open a store that exists.

    Raises:
        StoreUnavailable: There is none, or it lost its manifest, database or vault.
        StoreIdentityMismatch: `state.sqlite` belongs to another store.
        StorageFailure: The database cannot be opened.
    """
    if not store_exists(layout):
        raise StoreUnavailable(
            "There is no Knowledge store yet",
            "Nothing was ever recorded here.",
            "Run `backscroll knowledge init`, or record something with knowledge_create or knowledge_save_page.",
        )
    missing = [path.name for path in (layout.manifest, layout.database, layout.vault) if not path.exists()]
    if missing:
        raise StoreUnavailable(
            f"The Knowledge store lost {' and '.join(missing)}",
            "It is not re-created, because an empty store would look like an empty memory.",
            "Bring the folder back from a backup.",
        )
    manifest = _read_manifest(layout.manifest)
    state = KnowledgeState.open(layout.database)
    identity = state.identity()
    if identity != {"store_id": manifest.store_id, "vault_id": manifest.vault_id}:
        state.close()
        raise StoreIdentityMismatch(
            "state.sqlite belongs to another Knowledge store",
            f"The manifest names {manifest.store_id}, the database {identity.get('store_id', 'none')}.",
            "Put the state.sqlite that belongs to this store.yaml back.",
        )
    return manifest, state


def _read_manifest(path: Path) -> Manifest:
    try:
        values = read_mapping(read_file(os.fspath(path), MAX_YAML_BYTES).data.decode()).values
    except (OSError, UnicodeDecodeError, YamlRefused) as error:
        raise StoreUnavailable("store.yaml cannot be read", str(error), "Bring it back from a backup.") from error
    store_id, vault_id, created_at = values.get("store_id"), values.get("vault_id"), values.get("created_at")
    ids = [one for one in (store_id, vault_id) if isinstance(one, str) and _ID.fullmatch(one)]
    if values.get("format") != STORE_FORMAT or len(ids) != 2 or not isinstance(created_at, str):
        raise StoreUnavailable(
            "store.yaml is not a manifest this Backscroll knows",
            f"It must have format {STORE_FORMAT}, store_id, vault_id and created_at.",
            "Bring it back from a backup.",
        )
    return Manifest(ids[0], ids[1], created_at)
