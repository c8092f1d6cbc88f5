"""Remembers what was added to other programs' files, so that exactly that can be taken out again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from engine.core.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What was added to one file."""

    entry: dict[str, Any] | None = None
    """The server's entry, as it was written."""
    config_dir: str | None = None
    """What `CLAUDE_CONFIG_DIR` named then."""
    rules: tuple[str, ...] = ()
    """Permission rules that were not there before."""
    retention: int | None = None
    retention_before: int | None = None
    made: tuple[str, ...] = ()
    """Tables and lists that were made to hold it, as dotted names, outermost first."""
    made_file: bool = False

    def joined(self, later: Added) -> Added:
        """Return both. What was made first stays made; what stood before the first change is what stood before."""
        return Added(
            entry=later.entry or self.entry,
            config_dir=later.config_dir or self.config_dir,
            rules=tuple(dict.fromkeys(self.rules + later.rules)),
            retention=later.retention or self.retention,
            retention_before=self.retention_before if self.retention else later.retention_before,
            made=tuple(dict.fromkeys(self.made + later.made)),
            made_file=self.made_file or later.made_file,
        )


class Memory:
    """One JSON file in `state/`: what was added, by the file it was added to."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> dict[str, Added]:
        """Return what was added, by file. Nothing when this was never written; a damaged file counts as that."""
        try:
            stored = json.loads(self._file.read_text(encoding="utf-8"))
            return {file: _added(fields) for file, fields in stored.items()}
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError, AttributeError):
            # Then only the present installation's own entry is recognised, and everything else is left alone.
            return {}

    def add(self, file: Path, added: Added) -> None:
        """Remember an addition, beside earlier ones to the same file."""
        stored = self.read()
        before = stored.get(str(file))
        self._write({**stored, str(file): before.joined(added) if before else added})

    def forget(self, file: Path) -> None:
        """Everything added to this file has been taken out."""
        self._write({name: added for name, added in self.read().items() if name != str(file)})

    def _write(self, stored: dict[str, Added]) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        content = {name: asdict(added) for name, added in stored.items()}
        write_atomically(self._file, json.dumps(content, indent=1).encode())


def _added(fields: dict[str, Any]) -> Added:
    added = Added(**fields)
    return replace(added, rules=tuple(added.rules), made=tuple(added.made))
