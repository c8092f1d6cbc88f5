"""Retained originals: immutable descriptors under `evidence/`, and the proof that a citation holds.

A citation is verified when descriptor and file are there, hash and size agree, the lines exist and the quote stands
inside them (contract 4). Descriptors are read when the folder changes; files only when a citation is shown.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from engine.knowledge.front_values import ID
from engine.knowledge.records import EvidenceCitation, Issue
from engine.knowledge.scan import StatKey, is_racy, read_file, stat_key
from engine.knowledge.yamltext import MAX_YAML_BYTES, YamlRefused, read_mapping

if TYPE_CHECKING:
    from pathlib import Path

    from engine.knowledge.yamltext import YamlValue

FOLDER = "evidence"
MAX_RETAINED_BYTES = 64 * 1024 * 1024
"""Largest original read to verify a citation."""

_FILE_PATH = re.compile(r"evidence/files/[0-9a-f]{2}/[0-9a-f]{64}(\.[A-Za-z0-9]{1,16})?")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_BLANKS = re.compile(r"\s+")

State = Literal["verified", "no_descriptor", "no_file", "changed", "no_lines", "no_quote"]


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What is known about one retained original."""

    id: str
    path: str
    """Relative to the vault."""
    sha256: str
    attribution: str | None = None
    filename: str | None = None
    media_type: str | None = None
    size: int | None = None
    captured_at: str | None = None
    url: str | None = None
    session: str | None = None
    """Session id of the message this text was taken from."""
    message_uuid: str | None = None

    def to_json(self) -> dict[str, object]:
        """Return it as `knowledge_record` shows it."""
        shown: dict[str, object] = {"id": self.id, "path": self.path, "sha256": self.sha256}
        optional = (
            ("attribution", self.attribution),
            ("filename", self.filename),
            ("mediaType", self.media_type),
            ("size", self.size),
            ("capturedAt", self.captured_at),
            ("url", self.url),
            ("session", self.session),
            ("messageUuid", self.message_uuid),
        )
        return shown | {key: value for key, value in optional if value is not None}


@dataclass(frozen=True, slots=True)
class VerifiedText:
    """A retained original whose hash agrees."""

    lines: tuple[str, ...]


@dataclass(slots=True)
class EvidenceCatalogue:
    """The descriptors of a vault, and a memory of originals verified since they last changed."""

    vault: Path
    descriptors: dict[str, Descriptor] = field(default_factory=dict[str, Descriptor])
    issues: tuple[Issue, ...] = ()
    _key: StatKey | None = None
    _racy: bool = True
    _files: dict[str, tuple[StatKey, Descriptor | None, tuple[Issue, ...]]] = field(
        default_factory=dict[str, tuple[StatKey, "Descriptor | None", tuple[Issue, ...]]],
    )
    _originals: dict[str, tuple[StatKey, VerifiedText | None]] = field(
        default_factory=dict[str, tuple[StatKey, "VerifiedText | None"]],
    )

    def refresh(self) -> bool:
        """Read the folder again when it changed; return whether any descriptor did."""
        folder = os.path.join(self.vault, FOLDER)  # noqa: PTH118 - see scan
        try:
            found = os.lstat(folder)
        except FileNotFoundError:
            changed = bool(self.descriptors)
            self.descriptors, self.issues, self._key, self._files = {}, (), None, {}
            return changed
        if not stat.S_ISDIR(found.st_mode):
            self.descriptors, self._key, self._files = {}, None, {}
            self.issues = (Issue("symlink", "evidence must be a folder of the vault itself", FOLDER),)
            return True
        key = stat_key(found)
        if key == self._key and not self._racy:
            return False
        racy = is_racy(key)
        files: dict[str, tuple[StatKey, Descriptor | None, tuple[Issue, ...]]] = {}
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.startswith(".") or not entry.name.endswith(".yaml"):
                    continue
                entry_key = stat_key(entry.stat(follow_symlinks=False))
                known = self._files.get(entry.name)
                if known is not None and known[0] == entry_key and not is_racy(entry_key):
                    files[entry.name] = known
                else:
                    files[entry.name] = (entry_key, *_read_descriptor(folder, entry.name))
        descriptors = {one.id: one for _, one, _ in files.values() if one is not None}
        issues = tuple(issue for _, _, found_issues in files.values() for issue in found_issues)
        changed = descriptors != self.descriptors or issues != self.issues
        self.descriptors, self.issues, self._files = descriptors, issues, files
        self._key, self._racy = key, racy
        return changed

    def state_of(self, citation: EvidenceCitation) -> State:
        """Return whether a citation holds, or the first reason why not."""
        descriptor = self.descriptors.get(citation.id)
        if descriptor is None:
            return "no_descriptor"
        text = self._original(descriptor)
        if isinstance(text, str):
            return text
        first, last = citation.lines or (1, len(text.lines))
        if citation.lines is not None and last > len(text.lines):
            return "no_lines"
        if citation.quote is not None:
            cited = "\n".join(text.lines[first - 1 : last])
            if citation.quote not in cited and squeeze(citation.quote) not in squeeze(cited):
                return "no_quote"
        return "verified"

    def text_of(self, citation: EvidenceCitation) -> str | None:
        """Return the cited lines of a retained original, None when it does not verify or is not text."""
        descriptor = self.descriptors.get(citation.id)
        text = self._original(descriptor) if descriptor is not None else None
        if not isinstance(text, VerifiedText):
            return None
        first, last = citation.lines or (1, len(text.lines))
        return "\n".join(text.lines[first - 1 : last])

    def _original(self, descriptor: Descriptor) -> VerifiedText | Literal["no_file", "changed"]:
        path = os.path.join(self.vault, descriptor.path)  # noqa: PTH118 - see scan
        try:
            key = stat_key(os.lstat(path))
            known = self._originals.get(descriptor.id)
            if known is None or known[0] != key or is_racy(key):
                inside = os.path.realpath(path) == os.fspath(self.vault.resolve() / descriptor.path)
                known = (key, _verify(path, descriptor) if inside else None)
                self._originals[descriptor.id] = known
        except OSError:
            return "no_file"
        return known[1] or "changed"


def squeeze(text: str) -> str:
    """Return the text with every run of blanks as one: a quote may be wrapped differently than its original."""
    return _BLANKS.sub(" ", text).strip()


def _verify(path: str, descriptor: Descriptor) -> VerifiedText | None:
    data = read_file(path, MAX_RETAINED_BYTES).data
    if hashlib.sha256(data).hexdigest() != descriptor.sha256:
        return None
    if descriptor.size is not None and descriptor.size != len(data):
        return None
    lines = data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    return VerifiedText(tuple(lines[:-1] if lines[-1] == "" else lines))


def _read_descriptor(  # noqa: PLR0911 - one return for each way it can be wrong
    folder: str, name: str
) -> tuple[Descriptor | None, tuple[Issue, ...]]:
    path = f"{FOLDER}/{name}"
    try:
        data = read_file(os.path.join(folder, name), MAX_YAML_BYTES).data  # noqa: PTH118 - see scan
        yaml = read_mapping(data.decode("utf-8"))
    except YamlRefused as error:
        return None, (Issue("evidence_unreadable", error.problem, path, error.line),)
    except UnicodeDecodeError:
        return None, (Issue("evidence_unreadable", "not UTF-8", path, 1),)
    except OSError as error:
        return None, (Issue("evidence_unreadable", error.strerror or "cannot be read", path),)
    values = yaml.values

    def refuse(key: str, problem: str) -> tuple[None, tuple[Issue, ...]]:
        return None, (Issue("evidence_invalid", problem, path, yaml.lines.get(key, 1)),)

    identity, file_path, digest = values.get("id"), values.get("path"), values.get("sha256")
    if not isinstance(identity, str) or not ID.fullmatch(identity) or f"{identity}.yaml" != name:
        return refuse("id", "a descriptor's id is the name of its file")
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        return refuse("sha256", "sha256 must be 64 hexadecimal digits")
    if not isinstance(file_path, str) or not _FILE_PATH.fullmatch(file_path) or digest not in file_path:
        return refuse("path", "path must be evidence/files/<two digits>/<sha256> inside the vault")
    size = values.get("size")
    return Descriptor(
        id=identity,
        path=file_path,
        sha256=digest,
        attribution=_text(values.get("attribution")),
        filename=_text(values.get("filename")),
        media_type=_text(values.get("media_type")),
        size=size if isinstance(size, int) else None,
        captured_at=_text(values.get("captured_at")),
        url=_text(values.get("url")),
        session=_text(values.get("session")),
        message_uuid=_text(values.get("message_uuid")),
    ), ()


def _text(value: YamlValue) -> str | None:
    return value if isinstance(value, str) and value else None
