"""Re-reads a message where it stands: in its transcript, else in the archive, else what the index kept of it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from engine.core.models.kinds import Kind
from engine.core.models.sessions import Block
from engine.core.text import clean
from engine.store import reading
from engine.transcripts import chunking
from engine.transcripts.lines import Record, parse_line
from engine.transcripts.parser import attachment_text

if TYPE_CHECKING:
    from engine.store.connection import Connection
    from engine.store.reading import MessageRow

Source = Literal["transcript", "archive", "index"]

MAX_SPILL_BYTES = 4 * 1024 * 1024
"""Of a spilled tool output that are read; Claude Code spills outputs over 30,000 characters."""

_SPILLED = re.compile(r"(?:Full output saved to|saved to|[Pp]ersisted to):?\s*(?P<path>\S*tool-results[\\/]\S+)")

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,119}")


class ArchiveSource(Protocol):
    """The archive, as far as re-reading needs it."""

    def generations(self, label: str, path: str) -> tuple[int, ...]:
        """Return the generations of a file that are stored, newest first."""
        ...

    def length(self, label: str, path: str, generation: int) -> int:
        """Return how many bytes of a generation are stored."""
        ...

    def read(self, label: str, path: str, generation: int, offset: int, length: int) -> bytes | None:
        """Return bytes of a stored file, None when it does not hold them."""
        ...


class Redact(Protocol):
    """Replaces secrets in text; the same text comes back where there are none."""

    def __call__(self, text: str) -> str:
        """Return the text without its secrets."""
        ...


class RawReader:
    """Reads the full content of messages.

    Args:
        archive: The lossless copy, None where there is none.
        redact: Applied to every text that is handed out; None hands out what was written.
    """

    def __init__(self, archive: ArchiveSource | None, redact: Redact | None = None) -> None:
        self._archive = archive
        self._redact = redact

    def blocks(self, connection: Connection, row: MessageRow) -> tuple[Source, tuple[Block, ...]]:
        """Return where a message could be read and its content blocks in full."""
        found = self._record(row)
        if found is None:
            source, blocks = "index", self._from_index(connection, row)
        else:
            source, record, _ = found
            blocks = blocks_of(record, lambda name, session: self._spilled(row, name, session))
        return source, blocks if self._redact is None else tuple(_redacted(block, self._redact) for block in blocks)

    def line(self, row: MessageRow) -> tuple[Source, bytes] | None:
        """Return a message's line as it was written (without its secrets), None when no copy of it is left."""
        found = self._record(row)
        if found is None:
            return None
        source, _, line = found
        if self._redact is not None:
            # In a JSON string a secret stands as it is, but for the line feeds of a private key: its rule knows both.
            text = line.decode("utf-8", "surrogateescape")
            line = self._redact(text).encode("utf-8", "surrogateescape")
        return source, line

    def _record(self, row: MessageRow) -> tuple[Source, Record, bytes] | None:
        """Return the record of a message and its line, from the first place that still holds them."""
        if not (row.gone or row.removed):
            data = _read(Path(row.root) / row.path, row.offset, row.length)
            record = None if data is None else _record_in(data, row)
            if data is not None and record is not None:
                return "transcript", record, data.rstrip(b"\r\n")
        if self._archive is not None:
            for generation in self._archive.generations(row.root_label, row.path):
                data = self._archive.read(row.root_label, row.path, generation, row.offset, row.length)
                record = None if data is None else _record_in(data, row)
                if data is not None and record is not None:
                    return "archive", record, data.rstrip(b"\r\n")
        return None

    def _spilled(self, row: MessageRow, name: str, session: str) -> str | None:
        """Return a tool's whole output that lies in a file beside the transcript, from disk or from the archive."""
        for folder in _spill_folders(row.path, session):
            path = f"{folder}/tool-results/{name}"
            data = _read(Path(row.root) / path, 0, MAX_SPILL_BYTES)
            if data is None and self._archive is not None:
                for generation in self._archive.generations(row.root_label, path)[:1]:
                    length = min(MAX_SPILL_BYTES, self._archive.length(row.root_label, path, generation))
                    data = self._archive.read(row.root_label, path, generation, 0, length)
            if data is not None:
                return data.decode("utf-8", "replace")
        return None

    def _from_index(self, connection: Connection, row: MessageRow) -> tuple[Block, ...]:
        blocks: list[Block] = []
        for kind, tool, text, cut, failed in reading.indexed_blocks(connection, row.id):
            note = None if not cut else f"{cut} characters were not kept: the transcript is gone and was not archived"
            blocks.append(Block(kind=kind, text=text, tool=tool, is_error=failed or None, truncated=note))
        return tuple(blocks)


def _read(path: Path, offset: int, length: int) -> bytes | None:
    """Return bytes of a file, None when it is not there any more (the archive is asked next)."""
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(offset)
            return file.read(length)
    except OSError:
        return None


def _record_in(data: bytes, row: MessageRow) -> Record | None:
    """Return the record of a message from its line, None when the line is not the one that was indexed."""
    records = parse_line(data.rstrip(b"\r\n")).records
    if row.part >= len(records):
        return None
    record = records[row.part]
    uuid = record.get("uuid")
    return record if uuid == row.uuid or (not uuid and row.uuid.startswith("line-")) else None


def _redacted(block: Block, redact: Redact) -> Block:
    text = None if block.text is None else redact(block.text)
    given = block.input if block.input is None else _redacted_json(block.input, redact)
    if text == block.text and given == block.input:
        return block
    return replace(block, text=text, input=given)


def _redacted_json(value: object, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return {key: _redacted_json(item, redact) for key, item in fields.items()}
    if isinstance(value, list):
        return [_redacted_json(item, redact) for item in cast("list[object]", value)]
    return value


Spills = Callable[[str, str], "str | None"]
"""Returns the text of a spilled output from its file's name and its session's folder."""


def blocks_of(record: Record, spills: Spills) -> tuple[Block, ...]:
    """Return the content blocks of a record in full. Images and other binary content are named, not shown.

    Args:
        record: The parsed line.
        spills: Finds the tool output that was too long for the line.
    """
    content: object
    attachment = record.get("attachment")
    if isinstance(attachment, dict):
        fields = cast("dict[str, Any]", attachment)
        kind = str(fields.get("type"))
        content = fields.get("prompt") if kind == "queued_command" else attachment_text(fields, kind)
    elif record.get("type") == "system":
        content = record.get("content")
    else:
        message = record.get("message")
        content = cast("dict[str, Any]", message).get("content") if isinstance(message, dict) else message
    if isinstance(content, str):
        return (Block(kind=Kind.TEXT, text=clean(content)),)
    if not isinstance(content, list):
        return ()
    return tuple(_block(item, record, spills) for item in cast("list[object]", content))


def _block(item: object, record: Record, spills: Spills) -> Block:
    if not isinstance(item, dict):
        return Block(kind=Kind.TEXT, text=clean(str(item)))
    raw = cast("dict[str, Any]", item)
    kind = str(raw.get("type"))
    if kind == "text":
        return Block(kind=Kind.TEXT, text=clean(str(raw.get("text") or "")))
    if kind == "thinking":
        return Block(kind=Kind.THINKING, text=clean(str(raw.get("thinking") or "")) or None)
    if kind.endswith("tool_use"):
        name = clean(str(raw.get("name") or "tool"))
        return Block(kind=Kind.TOOL_USE, tool=name, input=_clean_json(raw.get("input")))
    if kind.endswith("tool_result"):
        return _result(raw, record, spills)
    named = kind in ("image", "document")
    text = _named(raw) if named else chunking.other_text(raw) or f"[{kind}]"
    return Block(kind=Kind.IMAGE if named else Kind.OTHER, text=clean(text))


def _result(raw: dict[str, Any], record: Record, spills: Spills) -> Block:
    text = _result_text(raw.get("content"))
    spilled = _spilled(text, record, spills)
    failed = True if raw.get("is_error") is True else None
    return Block(kind=Kind.TOOL_RESULT, text=clean(text if spilled is None else spilled), is_error=failed)


def _result_text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join([_part_text(part) for part in cast("list[object]", content)])
    return _part_text(content)


def _part_text(part: object) -> str:
    if not isinstance(part, dict):
        return part if isinstance(part, str) else ""
    fields = cast("dict[str, Any]", part)
    if fields.get("type") == "tool_reference":
        return f"[tool {fields.get('tool_name')}]"
    return chunking.result_text(fields) or ("" if fields.get("type") == "text" else _named(fields))


def _named(block: dict[str, Any]) -> str:
    """Say what a binary block is: `[image/png, 12 KB]`."""
    source = block.get("source")
    fields: dict[str, Any] = cast("dict[str, Any]", source) if isinstance(source, dict) else {}
    media = fields.get("media_type") or block.get("type") or "data"
    data = fields.get("data")
    size = f", {max(1, len(data) * 3 // 4 // 1024)} KB" if isinstance(data, str) else ""
    return f"[{media}{size}]"


def _spilled(text: str, record: Record, spills: Spills) -> str | None:
    """Return the whole output of a tool whose transcript line holds only its beginning."""
    if "persisted-output" not in text and "tool-results" not in text:
        return None
    result = record.get("toolUseResult")
    named = cast("dict[str, Any]", result).get("persistedOutputPath") if isinstance(result, dict) else None
    if not isinstance(named, str):
        match = _SPILLED.search(text)
        if match is None:
            return None
        named = match["path"]
    # Only names are taken from the line, never its folder: a transcript must not make us read other files.
    parts = re.split(r"[\\/]", named)
    name, session = parts[-1], parts[-3] if len(parts) >= 3 else ""
    return spills(name, session) if _PLAIN_NAME.fullmatch(name) else None


def _spill_folders(transcript: str, session: str) -> tuple[str, ...]:
    """Return the folders below the root in which a transcript's spilled outputs may lie, likeliest first.

    A fork names the folder of the session it came from; a sub-agent's file lies deeper in its session's folder.
    """
    folders = [posixpath.splitext(transcript)[0]]
    if _PLAIN_NAME.fullmatch(session):
        folders.append(f"{posixpath.dirname(transcript)}/{session}")
    above = posixpath.dirname(transcript)
    while "/" in above:
        folders.append(above)
        above = posixpath.dirname(above)
    return tuple(folders)


def _clean_json(value: object) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _clean_json(item) for key, item in cast("dict[object, object]", value).items()}
    if isinstance(value, list):
        return [_clean_json(item) for item in cast("list[object]", value)]
    return value
