"""Re-reads a message where it stands: in its transcript, else in the archive, else what the index kept of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from engine.core.models import Block, Kind
from engine.core.text import clean
from engine.store import reading
from engine.transcripts.lines import Record, parse_line

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

    def read(self, root_label: str, path: str, generation: int | None, offset: int, length: int) -> bytes | None:
        """Return bytes of a transcript's archived copy, None when it does not hold them."""
        ...


class RawReader:
    """Reads the full content of messages.

    Args:
        archive: The lossless copy, None while there is none.
    """

    def __init__(self, archive: ArchiveSource | None) -> None:
        self._archive = archive

    def blocks(self, connection: Connection, row: MessageRow) -> tuple[Source, tuple[Block, ...]]:
        """Return where a message could be read and its content blocks in full."""
        record = None if row.gone or row.removed else self._from_transcript(row)
        if record is not None:
            return "transcript", blocks_of(record, Path(row.root) / row.path)
        record = self._from_archive(row)
        if record is not None:
            return "archive", blocks_of(record, None)
        return "index", self._from_index(connection, row)

    def line(self, row: MessageRow) -> tuple[Source, bytes] | None:
        """Return a message's line as it was written, None when no copy of it is left."""
        if not (row.gone or row.removed):
            data = _read(Path(row.root) / row.path, row.offset, row.length)
            if data is not None and _record_in(data, row) is not None:
                return "transcript", data.rstrip(b"\r\n")
        if self._archive is not None:
            data = self._archive.read(row.root_label, row.path, None, row.offset, row.length)
            if data is not None and _record_in(data, row) is not None:
                return "archive", data.rstrip(b"\r\n")
        return None

    def _from_transcript(self, row: MessageRow) -> Record | None:
        data = _read(Path(row.root) / row.path, row.offset, row.length)
        return None if data is None else _record_in(data, row)

    def _from_archive(self, row: MessageRow) -> Record | None:
        if self._archive is None:
            return None
        data = self._archive.read(row.root_label, row.path, None, row.offset, row.length)
        return None if data is None else _record_in(data, row)

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


def blocks_of(record: Record, transcript: Path | None) -> tuple[Block, ...]:
    """Return the content blocks of a record in full. Images and other binary content are named, not shown.

    Args:
        record: The parsed line.
        transcript: The file it stands in, to find spilled tool output beside it; None when it is gone.
    """
    content: object
    attachment = record.get("attachment")
    if isinstance(attachment, dict):
        fields = cast("dict[str, Any]", attachment)
        content = fields.get("prompt", fields.get("content", fields.get("stdout", fields.get("snippet"))))
    elif record.get("type") == "system":
        content = record.get("content")
    else:
        message = record.get("message")
        content = cast("dict[str, Any]", message).get("content") if isinstance(message, dict) else message
    if isinstance(content, str):
        return (Block(kind=Kind.TEXT, text=clean(content)),)
    if not isinstance(content, list):
        return ()
    return tuple(_block(item, record, transcript) for item in cast("list[object]", content))


def _block(item: object, record: Record, transcript: Path | None) -> Block:
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
        return _result(raw, record, transcript)
    named = kind in ("image", "document")
    return Block(kind=Kind.IMAGE, text=_named(raw)) if named else Block(kind=Kind.OTHER, text=f"[{kind}]")


def _result(raw: dict[str, Any], record: Record, transcript: Path | None) -> Block:
    text = _result_text(raw.get("content"))
    spilled = None if transcript is None else _spilled(text, record, transcript)
    failed = True if raw.get("is_error") is True else None
    return Block(kind=Kind.TOOL_RESULT, text=clean(text if spilled is None else spilled), is_error=failed)


def _result_text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts: list[str] = []
    for item in cast("list[object]", content):
        if isinstance(item, str):
            parts.append(item)
        elif isinstance(item, dict):
            part = cast("dict[str, Any]", item)
            kind = part.get("type")
            if kind == "text":
                parts.append(str(part.get("text") or ""))
            elif kind == "tool_reference":
                parts.append(f"[tool {part.get('tool_name')}]")
            else:
                parts.append(_named(part))
    return "\n".join(parts)


def _named(block: dict[str, Any]) -> str:
    """Say what a binary block is: `[image/png, 12 KB]`."""
    source = block.get("source")
    fields: dict[str, Any] = cast("dict[str, Any]", source) if isinstance(source, dict) else {}
    media = fields.get("media_type") or block.get("type") or "data"
    data = fields.get("data")
    size = f", {max(1, len(data) * 3 // 4 // 1024)} KB" if isinstance(data, str) else ""
    return f"[{media}{size}]"


def _spilled(text: str, record: Record, transcript: Path) -> str | None:
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
    if not _PLAIN_NAME.fullmatch(name):
        return None
    # A fork names the folder of the session it came from; a sub-agent's file lies deeper in its session's folder.
    beside = [transcript.with_suffix("")]
    if _PLAIN_NAME.fullmatch(session):
        beside.append(transcript.parent / session)
    beside += transcript.parents[1:4]
    for folder in beside:
        data = _read(folder / "tool-results" / name, 0, MAX_SPILL_BYTES)
        if data is not None:
            return data.decode("utf-8", "replace")
    return None


def _clean_json(value: object) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _clean_json(item) for key, item in cast("dict[object, object]", value).items()}
    if isinstance(value, list):
        return [_clean_json(item) for item in cast("list[object]", value)]
    return value
