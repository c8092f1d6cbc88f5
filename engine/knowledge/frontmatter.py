"""The two parts of a record file, and changes of single keys that leave every other byte as it is.

A file is: optional BOM, a `---` line, YAML, a `---` line, the body. Line ends may be LF or CRLF. A file that cannot be
taken apart is refused and never written (contract 5, points 1 and 2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.knowledge.emit import key_lines
from engine.knowledge.yamltext import MAX_YAML_BYTES, KeySpan, YamlRefused, YamlText, read_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.knowledge.yamltext import YamlValue

BOM = "\ufeff"

_FOREIGN_LINE_END = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
"""Line ends to the YAML parser's marks but not to us; counting would go wrong."""

KEY_ORDER = (
    "format", "id", "revision", "kind", "type", "claim_kind", "title", "scope", "lifecycle", "supersedes",
    "superseded_by", "merged_into", "lifecycle_change", "recorded_at", "updated_at", "occurred_at", "valid_until",
    "due_at", "owner", "aliases", "tags", "summary", "fields", "entities", "from", "to", "attribution",
    "assertion_origin", "sources", "source_event", "dependencies", "evidence", "see",
)  # fmt: skip
"""The keys of the format in the order new ones are written (contract 4)."""


class FrontMatterRefused(ValueError):
    """The file has no front matter this program can read or change."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        """One-based line in the file."""
        self.problem = problem


@dataclass(frozen=True, slots=True)
class RecordText:
    """A record file taken apart. `head + front + fence + body` is the file again, character for character."""

    head: str
    """BOM and opening fence, its line end included."""
    front: str
    """The YAML between the fences."""
    fence: str
    """The closing fence, its line end included."""
    body: str

    @property
    def body_line(self) -> int:
        """One-based line of the file on which the body begins."""
        return 2 + self.front.count("\n") + 1

    @property
    def eol(self) -> str:
        """The line end of the file's first line."""
        return "\r\n" if self.head.endswith("\r\n") else "\n"

    def text(self) -> str:
        """Return the file's text."""
        return self.head + self.front + self.fence + self.body


def split_record(data: bytes) -> RecordText:
    """Take a record file apart.

    Raises:
        FrontMatterRefused: Not UTF-8, a NUL character, no closed `---` block at the top.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FrontMatterRefused(data.count(b"\n", 0, error.start) + 1, "not UTF-8") from error
    nul = data.find(b"\0")
    if nul >= 0:
        raise FrontMatterRefused(data.count(b"\n", 0, nul) + 1, "a NUL character")
    start = 1 if text.startswith(BOM) else 0
    first_end = text.find("\n", start)
    if text[start : first_end if first_end >= 0 else len(text)].rstrip() != "---":
        raise FrontMatterRefused(1, "no front matter: the first line must be ---")
    if first_end < 0:
        raise FrontMatterRefused(1, "the front matter is not closed by a line ---")
    position = front_start = first_end + 1
    while position < len(text):
        line_end = text.find("\n", position)
        stop = len(text) if line_end < 0 else line_end + 1
        if text.startswith("---", position) and text[position:stop].rstrip() == "---":
            return RecordText(text[:front_start], text[front_start:position], text[position:stop], text[stop:])
        if stop - front_start > MAX_YAML_BYTES + 4:
            raise FrontMatterRefused(1, f"the front matter is not closed within {MAX_YAML_BYTES} bytes")
        position = stop
    raise FrontMatterRefused(1, "the front matter is not closed by a line ---")


def read_front(parts: RecordText) -> YamlText:
    """Read the YAML of a record file; its lines count from the front matter, so add one for the file.

    Raises:
        FrontMatterRefused: The YAML is not readable, with the file's line.
    """
    try:
        return read_mapping(parts.front)
    except YamlRefused as error:
        raise FrontMatterRefused(error.line + 1, error.problem) from error


def edit_record(
    data: bytes,
    changes: Mapping[str, YamlValue],
    *,
    remove: frozenset[str] = frozenset(),
    body: str | None = None,
) -> bytes:
    """Return the file with these top-level keys set or removed, and with another body when one is given.

    Every byte outside the lines of those keys (and outside a replaced body) stays: unknown keys, order, comments, BOM
    and line ends.

    Raises:
        FrontMatterRefused: The file cannot be read, or its keys do not stand on lines of their own.
    """
    parts = split_record(data)
    front = read_front(parts)
    if not front.block:
        raise FrontMatterRefused(2, "the front matter is written in braces; single keys cannot be changed")
    if _FOREIGN_LINE_END.search(parts.front):
        raise FrontMatterRefused(2, "the front matter holds line ends other than LF and CRLF")
    lines = [f"{line}\n" for line in parts.front.split("\n")[:-1]]
    column = min((span.column for span in front.spans.values()), default=0)
    if any(span.column != column for span in front.spans.values()):
        raise FrontMatterRefused(2, "the keys of the front matter do not stand in one column")
    edits: dict[int, list[str]] = {}
    dropped: set[int] = set()
    for key in remove & front.spans.keys():
        dropped.update(range(front.spans[key].start, front.spans[key].stop))
    for key, value in changes.items():
        written = [f"{' ' * column}{line}{parts.eol}" for line in key_lines(key, value)]
        span = front.spans.get(key)
        if span is None:
            edits.setdefault(_insert_at(key, front), []).extend(written)
        elif front.values[key] != value or type(front.values[key]) is not type(value):
            dropped.update(range(span.start, span.stop))
            edits.setdefault(span.start, [])[:0] = _with_comment(written, lines[span.start], span, parts.eol)
    kept = (edits.get(number, []) + ([line] if number not in dropped else []) for number, line in enumerate(lines))
    out = [line for group in kept for line in group] + edits.get(len(lines), [])
    new_body = parts.body if body is None else with_line_ends(body, parts.eol)
    fence = parts.fence if parts.fence.endswith("\n") or not new_body else parts.fence + parts.eol
    return (parts.head + "".join(out) + fence + new_body).encode("utf-8")


def new_record(values: Mapping[str, YamlValue], body: str) -> bytes:
    """Return a whole new file: keys in the format's order, LF, no BOM, one blank line before the body."""
    ordered = [key for key in KEY_ORDER if key in values]
    ordered += [key for key in values if key not in KEY_ORDER]
    front = "".join(f"{line}\n" for key in ordered for line in key_lines(key, values[key]))
    text = with_line_ends(body, "\n").strip("\n")
    return f"---\n{front}---\n".encode() + (f"\n{text}\n".encode() if text else b"")


def with_line_ends(text: str, eol: str) -> str:
    """Return the text with one kind of line end."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain if eol == "\n" else plain.replace("\n", eol)


def _with_comment(written: list[str], line: str, span: KeySpan, eol: str) -> list[str]:
    """Return the new lines of a key with the comment that stood behind its one-line value."""
    comment = line[span.value_end :].rstrip("\r\n") if span.value_end is not None else ""
    if len(written) == 1 and comment.lstrip().startswith("#"):
        return [written[0][: -len(eol)] + comment + eol]
    return written


def _insert_at(key: str, front: YamlText) -> int:
    """Return the line before which a new key is written: behind its nearest predecessor of the format's order."""
    order = KEY_ORDER.index(key) if key in KEY_ORDER else len(KEY_ORDER)
    before = [front.spans[name].stop for name in KEY_ORDER[:order] if name in front.spans]
    return before[-1] if before else 0
