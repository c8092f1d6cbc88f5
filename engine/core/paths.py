"""Where Backscroll's files live: one table for the engine, the shim, the command line and the tests.

`BACKSCROLL_HOME` puts everything below one folder; otherwise each system's own places are used (platformdirs).
Imported by the shim, of which one runs beside every session: `dataclasses`, `hashlib` and `tempfile` would cost it a
megabyte and 15 ms, so values are named tuples here and the others are imported where they are used.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

APP_NAME = "backscroll"

SOCKET_PATH_LIMIT = 100
"""Bytes a Unix socket's path may have: macOS allows 104 with the closing NUL, Linux 108 (sys/un.h)."""


class Paths(NamedTuple):
    """The folders of one installation. Nothing is created by asking; see `ensure`."""

    data: Path
    """Database, archive and Knowledge: what must not be lost."""
    config: Path
    """The person's settings."""
    state: Path
    """The machine's memory: window places, counts, catalogues for the shim."""
    logs: Path
    run: Path
    """Socket, lock and key; only its owner may enter (0700)."""
    home: Path | None = None
    """The folder `BACKSCROLL_HOME` named, when it did."""

    @classmethod
    def resolve(cls, env: Mapping[str, str] | None = None) -> Paths:
        """Return the places for this environment (`os.environ` when none is given)."""
        env = os.environ if env is None else env
        named = env.get("BACKSCROLL_HOME", "").strip()
        if named:
            return cls.below(Path(named).expanduser())
        import platformdirs  # noqa: PLC0415 - 3 ms that a start with BACKSCROLL_HOME need not pay

        state = platformdirs.user_state_path(APP_NAME, appauthor=False)
        return cls(
            data=platformdirs.user_data_path(APP_NAME, appauthor=False) / "data",
            config=platformdirs.user_config_path(APP_NAME, appauthor=False) / "config",
            state=state / "state",
            logs=platformdirs.user_log_path(APP_NAME, appauthor=False),
            run=state / "run",
        )

    @classmethod
    def below(cls, home: Path) -> Paths:
        """Return the places below one folder, as `BACKSCROLL_HOME` has it."""
        home = Path(os.path.abspath(home))  # noqa: PTH100 - Path.resolve() would follow links the person chose
        return cls(
            data=home / "data",
            config=home / "config",
            state=home / "state",
            logs=home / "logs",
            run=home / "run",
            home=home,
        )

    @property
    def database(self) -> Path:
        """The index. Rebuildable from transcripts and archive."""
        return self.data / "index.db"

    @property
    def archive(self) -> Path:
        """The lossless copy of transcripts. Not rebuildable; no rebuild touches it."""
        return self.data / "archive"

    @property
    def knowledge(self) -> Path:
        """The Knowledge store: `store.yaml`, `state.sqlite`, `vault/`."""
        return self.data / "knowledge"

    @property
    def settings_file(self) -> Path:
        """The person's settings (TOML)."""
        return self.config / "settings.toml"

    @property
    def log_file(self) -> Path:
        """The rotating log: ids, sizes and durations, never message text."""
        return self.logs / "backscroll.log"

    @property
    def lock_file(self) -> Path:
        """Held by the one engine of this data directory."""
        return self.run / "engine.lock"

    @property
    def key_file(self) -> Path:
        """The random key of the socket's challenge (0600)."""
        return self.run / "key"

    @property
    def socket_file(self) -> Path:
        """The Unix socket; in the temporary folder under a hashed name where the usual path is too long."""
        usual = self.run / "engine.sock"
        if len(os.fsencode(usual)) <= SOCKET_PATH_LIMIT:
            return usual
        import tempfile  # noqa: PLC0415 - only where the path is too long

        return Path(tempfile.gettempdir()) / f"backscroll-{self.token}" / "engine.sock"

    @property
    def token(self) -> str:
        """Sixteen hex digits that name this installation (pipe names, hashed folders)."""
        import hashlib  # noqa: PLC0415 - a megabyte that a shim with a short socket path need not hold

        return hashlib.sha256(os.fsencode(self.run)).hexdigest()[:16]

    def catalogue_file(self, toolset: str) -> Path:
        """What the shim answers about tools while no engine runs, written by the engine for each toolset."""
        return self.state / f"catalogue-{toolset}.json"

    def ensure(self) -> None:
        """Create the folders, closed to other users.

        Raises:
            OSError: A folder cannot be created or its permissions cannot be set.
        """
        for folder in (self.data, self.config, self.state, self.logs, self.run, self.socket_file.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for private in (self.data, self.run, self.socket_file.parent):
            if os.name == "posix" and private.stat().st_mode & 0o777 != 0o700:
                private.chmod(0o700)


def lasting_folder(executable: Path) -> Path:
    """Return the folder to start bundled programs from, by a path that the next update does not change.

    Windows and macOS replace the programs in their place. On Linux each version has a folder of its own, and the link
    `current` beside them leads to the one that was installed last (packaging/linux/install.sh).

    Args:
        executable: A bundled program, links resolved.
    """
    current = executable.parent.parent / "current"
    if (
        current.is_symlink()
        and (current / executable.name).is_file()
        and current.resolve().parent == current.parent.resolve()
    ):
        return current
    return executable.parent
