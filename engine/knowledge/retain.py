"""Evidence of a write: an existing descriptor, a quote found in a session, or a text handed over."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from engine.knowledge.dates import parse_when, utc_text
from engine.knowledge.emit import key_lines
from engine.knowledge.errors import EvidenceRefused, InvalidArgument
from engine.knowledge.evidence import MAX_RETAINED_BYTES, Descriptor, squeeze
from engine.knowledge.files import TEMPORARY
from engine.knowledge.manifest import new_id
from engine.knowledge.names import file_stem
from engine.knowledge.plan import NewFile, Plan
from engine.knowledge.records import EvidenceCitation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.knowledge.evidence import EvidenceCatalogue
    from engine.knowledge.requests import AttachFile, Caller, JsonObject
    from engine.knowledge.transcripts import TranscriptMessage, TranscriptSource
    from engine.knowledge.yamltext import YamlValue

_CHUNK = 1024 * 1024
_CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Cited:
    """One citation ready to be written."""

    item: dict[str, YamlValue]
    attribution: str | None
    said_at: str | None = None
    """UTC timestamp of the message it was found in."""


@dataclass(frozen=True, slots=True)
class Retainer:
    """Turns evidence items into citations, adding what must be retained to a plan."""

    catalogue: EvidenceCatalogue
    transcripts: TranscriptSource | None
    caller: Caller
    now: float
    redact: Callable[[str], str] | None = None
    """Takes secrets out of quotes and texts before they are kept: the vault is copied by Git, and read by others.
    Messages come without theirs from the transcripts. A file that is attached stays as it is, as announced."""

    def cite(self, items: Sequence[JsonObject], plan: Plan) -> list[Cited]:
        """Return the citations of a record.

        Raises:
            EvidenceRefused: A descriptor, quote or session cannot be found, or not exactly one message holds a quote.
            InvalidArgument: An item is none of the three forms.
        """
        return [self._one(item, plan) for item in items]

    def _one(self, item: JsonObject, plan: Plan) -> Cited:
        if "id" in item:
            return self._existing(item, plan)
        if "text" in item:
            return self._text(item, plan)
        if "quote" in item:
            return self._quote(item, plan)
        raise InvalidArgument(
            "An evidence item has an id, a quote or a text",
            "",
            'Use {"quote": "the exact words", "session": "current"}, {"id": …} or {"text": …, "attribution": …}.',
        )

    def _existing(self, item: JsonObject, plan: Plan) -> Cited:
        name = str(item["id"])
        descriptor = self.catalogue.descriptors.get(name) or plan.descriptors.get(name)
        if descriptor is None:
            raise EvidenceRefused(
                f'There is no evidence "{name[:80]}"',
                "",
                "Retain a file with knowledge_attach_file, or cite a quote or a text.",
            )
        lines = _lines(item.get("lines"))
        quote = str(item["quote"]) if "quote" in item else None
        state = self.catalogue.state_of(EvidenceCitation(name, lines, quote))
        if name in self.catalogue.descriptors and state != "verified":
            raise EvidenceRefused(f'The evidence "{name}" does not verify: {state.replace("_", " ")}')
        cited: dict[str, YamlValue] = {"id": name}
        if lines is not None:
            cited["lines"] = [lines[0], lines[1]]
        if quote is not None:
            cited["quote"] = quote
        if "attribution" in item:
            cited["attribution"] = str(item["attribution"])
        return Cited(cited, descriptor.attribution)

    def _text(self, item: JsonObject, plan: Plan) -> Cited:
        text, attribution = str(item["text"]), item.get("attribution")
        if not text.strip() or not isinstance(attribution, str) or not attribution.strip():
            raise InvalidArgument("A text given as evidence needs the text and an attribution: who said or wrote it")
        text = self._redacted(text)
        data = text.replace("\r\n", "\n").encode("utf-8", "replace")
        filename = file_stem(str(item["filename"])) if "filename" in item else None
        descriptor = _descriptor(data, attribution, self.now, filename=filename)
        self._retain(descriptor, data, plan)
        cited: dict[str, YamlValue] = {"id": descriptor.id}
        passage = data.decode()
        lines = _lines(item.get("lines"))
        if lines is not None:
            rows = passage.removesuffix("\n").split("\n")
            if lines[1] > len(rows):
                raise EvidenceRefused(f"The text given as evidence has {len(rows)} lines", f"You cite {list(lines)}.")
            cited["lines"] = [lines[0], lines[1]]
            passage = "\n".join(rows[lines[0] - 1 : lines[1]])
        if "quote" in item:
            cited["quote"] = self._checked_quote(self._redacted(str(item["quote"])), passage)
        return Cited(cited, attribution)

    def _redacted(self, text: str) -> str:
        return text if self.redact is None else self.redact(text)

    @staticmethod
    def _checked_quote(quote: str, text: str) -> str:
        if squeeze(quote) not in squeeze(text):
            raise EvidenceRefused("The quote does not stand in the text given with it, or not in the lines cited")
        return quote

    def _quote(self, item: JsonObject, plan: Plan) -> Cited:
        quote = self._redacted(str(item["quote"]))
        if not quote.strip():
            raise InvalidArgument("The quote is empty", "", "Quote the words that carry the statement.")
        message = self._message(quote, item)
        data = message.retained()
        known = next(
            (
                one
                for one in (*self.catalogue.descriptors.values(), *plan.descriptors.values())
                if one.message_uuid == message.message_uuid and one.sha256 == message.sha256
            ),
            None,
        )
        attribution = "Claude" if message.role == "assistant" else message.role
        said = parse_when(message.timestamp)
        descriptor = known or _descriptor(
            data,
            attribution,
            self.now,
            session=message.session_id,
            message_uuid=message.message_uuid,
            said_at=message.timestamp if said is not None else None,
        )
        if known is None:
            self._retain(descriptor, data, plan)
        cited: dict[str, YamlValue] = {"id": descriptor.id}
        lines = _lines_of(quote, data.decode())
        if lines is not None:
            cited["lines"] = [lines[0], lines[1]]
        cited["quote"] = quote
        said_at = utc_text(said.start_ns / 1e9) if said is not None and said.precision == "instant" else None
        return Cited(cited, descriptor.attribution, said_at)

    def _message(self, quote: str, item: JsonObject) -> TranscriptMessage:
        if self.transcripts is None:
            raise EvidenceRefused(
                "Sessions cannot be searched here, so a quote cannot be verified",
                "",
                'Pass the words as {"text": …, "attribution": …} instead.',
            )
        session = item.get("session")
        if session == "current" and self.caller.session_id is None:
            raise EvidenceRefused(
                "It is not known which session this call comes from",
                "",
                "Pass the session's id, or leave session out to search all of them.",
            )
        session_id = self.caller.session_id if session in (None, "current") else str(session)
        uuid = str(item["message_uuid"]) if "message_uuid" in item else None
        found = self.transcripts.find_quote(quote, session_id=session_id, message_uuid=uuid, limit=_CANDIDATES)
        where = "this session" if session_id is not None else "any session"
        if not found:
            raise EvidenceRefused(
                f"No message of {where} holds the quote",
                "It must stand in one message, word for word.",
                "Copy the words exactly, or name the session they were said in.",
            )
        message, *others = found
        if others:
            raise EvidenceRefused(
                f"{len(found)} or more messages of {where} hold the quote",
                "; ".join(f"{one.message_uuid} ({one.role}, {one.timestamp})" for one in found),
                "Call again with message_uuid, or with a longer quote.",
                candidates=tuple(one.message_uuid for one in found),
            )
        return message

    def _retain(self, descriptor: Descriptor, data: bytes, plan: Plan) -> None:
        plan.originals.append(NewFile(descriptor.path, None, descriptor.sha256, data))
        plan.originals.append(descriptor_file(descriptor))
        plan.descriptors[descriptor.id] = descriptor


def descriptor_file(descriptor: Descriptor) -> NewFile:
    """Return the immutable YAML file of a descriptor."""
    values: dict[str, YamlValue] = {"id": descriptor.id, "path": descriptor.path, "sha256": descriptor.sha256}
    optional: tuple[tuple[str, YamlValue], ...] = (
        ("attribution", descriptor.attribution),
        ("filename", descriptor.filename),
        ("media_type", descriptor.media_type),
        ("size", descriptor.size),
        ("captured_at", descriptor.captured_at),
        ("session", descriptor.session),
        ("message_uuid", descriptor.message_uuid),
    )
    values.update((key, value) for key, value in optional if value is not None)
    data = "".join(f"{line}\n" for key, value in values.items() for line in key_lines(key, value)).encode()
    path = f"evidence/{descriptor.id}.yaml"
    return NewFile(path, None, hashlib.sha256(data).hexdigest(), data)


def stage_file(vault: Path, request: AttachFile, now: float, plan: Plan) -> Descriptor:
    """Copy a file into the vault under a temporary name and add it to a plan. Reads in chunks.

    Raises:
        EvidenceRefused: It is no plain file with one name, too large, or not the bytes that were announced.
    """
    path = Path(request.file_path)
    if not path.is_absolute():
        raise EvidenceRefused("filePath must be absolute", f"You sent {request.file_path[:120]}.")
    digest = request.sha256.lower()
    folder = vault / "evidence" / "files"
    folder.mkdir(parents=True, exist_ok=True)
    staged = folder / f"{TEMPORARY}{new_id('stage')}.tmp"
    try:
        size = _copy(path, staged, digest)
    except EvidenceRefused:
        staged.unlink(missing_ok=True)
        raise
    suffix = (
        path.suffix.lower() if path.suffix[1:].isalnum() and path.suffix.isascii() and len(path.suffix) <= 17 else ""
    )
    descriptor = Descriptor(
        id=new_id("ev"),
        path=f"evidence/files/{digest[:2]}/{digest}{suffix}",
        sha256=digest,
        attribution=request.attribution,
        filename=request.filename or path.name,
        size=size,
        captured_at=utc_text(now),
    )
    relative = f"evidence/files/{staged.name}"
    plan.originals.append(NewFile(descriptor.path, None, digest, staged=relative))
    plan.originals.append(descriptor_file(descriptor))
    plan.descriptors[descriptor.id] = descriptor
    return descriptor


def _copy(source: Path, staged: Path, sha256: str) -> int:
    digest = hashlib.sha256()
    try:
        descriptor = os.open(source, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as original:
            found = os.fstat(original.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or source.is_symlink():
                raise EvidenceRefused("Only a regular file without links can be retained", f"You sent {source}.")
            if found.st_size > MAX_RETAINED_BYTES:
                raise EvidenceRefused(
                    f"The file has {found.st_size:,} bytes", f"At most {MAX_RETAINED_BYTES:,} are kept."
                )
            with staged.open("xb") as copy:
                while chunk := original.read(_CHUNK):
                    digest.update(chunk)
                    copy.write(chunk)
                copy.flush()
                os.fsync(copy.fileno())
    except OSError as error:
        raise EvidenceRefused("The file cannot be read", f"{source}: {error.strerror}.") from error
    if digest.hexdigest() != sha256:
        raise EvidenceRefused(
            "The file does not have the announced sha256",
            f"Its hash is {digest.hexdigest()}.",
            "Look at the file again before retaining it.",
        )
    return found.st_size


def _descriptor(
    data: bytes,
    attribution: str,
    now: float,
    *,
    filename: str | None = None,
    session: str | None = None,
    message_uuid: str | None = None,
    said_at: str | None = None,
) -> Descriptor:
    digest = hashlib.sha256(data).hexdigest()
    return Descriptor(
        id=new_id("ev"),
        path=f"evidence/files/{digest[:2]}/{digest}.txt",
        sha256=digest,
        attribution=attribution,
        filename=filename,
        media_type="text/plain",
        size=len(data),
        captured_at=said_at or utc_text(now),
        session=session,
        message_uuid=message_uuid,
    )


def _lines(value: object) -> tuple[int, int] | None:
    if value is None:
        return None
    items = cast("list[object]", value) if isinstance(value, list) else []
    numbers = [item for item in items if isinstance(item, int)]
    if len(numbers) != 2 or not 1 <= numbers[0] <= numbers[1]:
        raise InvalidArgument("lines of an evidence item are [first, last], from 1")
    return numbers[0], numbers[1]


def _lines_of(quote: str, text: str) -> tuple[int, int] | None:
    start = text.find(quote)
    if start < 0:
        return None
    first = text.count("\n", 0, start) + 1
    return first, first + quote.rstrip("\n").count("\n")
