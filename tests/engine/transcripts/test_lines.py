"""From bytes to records: every row of the table of damaged lines in docs/transcripts.md, and any bytes at all."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.transcripts.lines import LineSplitter, parse_line

DOCUMENT = Path(__file__).parents[3] / "docs" / "transcripts.md"

RECORD: dict[str, Any] = {"type": "user", "sessionId": "s", "uuid": "u", "message": {"content": "hello"}}
OTHER: dict[str, Any] = {"type": "summary", "summary": "Old", "leafUuid": "l"}
WHOLE = json.dumps(RECORD).encode()
SECOND = json.dumps(OTHER).encode()

SALVAGED: dict[str, list[tuple[bytes, list[dict[str, Any]], str | None]]] = {
    "NUL bytes before or after a record": [
        (b"\0" * 30 + WHOLE, [RECORD], "NUL padding"),
        (WHOLE + b"\0" * 9000, [RECORD], "NUL padding"),
        (WHOLE.replace(b"hello", b"hel\0lo"), [RECORD], "NUL padding"),
    ],
    "NUL bytes only": [(b"\0" * 500, [], "NUL bytes")],
    "invalid UTF-8": [
        (
            WHOLE.replace(b"hello", b"hel\xff"),
            [RECORD | {"message": {"content": "hel\ufffd"}}],
            "invalid UTF-8",
        ),
    ],
    "lone surrogates, escaped or raw": [
        (WHOLE.replace(b"hello", rb"\ud83d"), [RECORD | {"message": {"content": "\ud83d"}}], None),
        (WHOLE.replace(b"hello", b"\xed\xa0\xbd"), [RECORD | {"message": {"content": "\ud83d"}}], None),
    ],
    "a byte order mark, carriage returns, blank lines": [
        (b"\xef\xbb\xbf" + WHOLE, [RECORD], None),
        (WHOLE + b"\r", [RECORD], None),
        (b"", [], None),
        (b" \t\r", [], None),
    ],
    "U+2028, U+2029, U+0085 inside text": [
        (
            WHOLE.replace(b"hello", "a\u2028b\u2029c\u0085d".encode()),
            [RECORD | {"message": {"content": "a\u2028b\u2029c\u0085d"}}],
            None,
        ),
    ],
    "two records in one line": [
        (WHOLE + WHOLE, [RECORD, RECORD], "several records in one line"),
        (WHOLE + b" " + SECOND, [RECORD, OTHER], "several records in one line"),
    ],
    "half a record, then a whole one": [
        (WHOLE[:40] + SECOND, [OTHER], "cut or unreadable"),
        (WHOLE[:40] + WHOLE, [RECORD], "cut or unreadable"),
    ],
    "half a record": [(WHOLE[:40], [], "cut or unreadable")],
    "a record and trailing words": [
        (WHOLE + b" and more", [RECORD], "cut or unreadable"),
        (b'{"no": "known key", "type": "user"}]', [{"no": "known key", "type": "user"}], "cut or unreadable"),
    ],
    "brackets nested without end": [
        (b"[" * 100_000, [], "cut or unreadable"),
        (b'{"type":' * 5_000, [], "cut or unreadable"),
    ],
    "a number of thousands of digits": [(b'{"type": "user", "n": ' + b"9" * 5_000 + b"}x", [], "cut or unreadable")],
    "a key twice": [(WHOLE.replace(b'"user"', b'"x", "type": "user"'), [RECORD], None)],
    "a list, a number, a text instead of an object": [
        (b"[1, 2]", [], "not an object"),
        (b"7", [], "not an object"),
        (b'"text"', [], "not an object"),
        (b"\0[]", [], "not an object"),
    ],
}

ELSEWHERE = {"longer than 64 MiB", "the last line without its line feed"}
"""Rows of the table that need a file: `tests/engine/ingest/test_tail.py`."""


def test_every_row_of_the_documented_damage_has_its_case() -> None:
    section = DOCUMENT.read_text(encoding="utf-8").split("## Damaged lines\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| (.+?) \| .+ \|$", section, re.MULTILINE)[1:]
    assert sorted(rows) == sorted([*SALVAGED, *ELSEWHERE])


@pytest.mark.parametrize(
    ("line", "records", "damage"),
    [pytest.param(*case, id=f"{row} {number}") for row, cases in SALVAGED.items() for number, case in enumerate(cases)],
)
def test_a_damaged_line_becomes_what_the_table_says(
    line: bytes, records: list[dict[str, Any]], damage: str | None
) -> None:
    content = parse_line(line)
    assert list(content.records) == records
    assert content.damage == damage


def test_messages_quoted_inside_a_cut_progress_line_are_not_taken_for_records() -> None:
    quoted = {"type": "assistant", "uuid": "q", "timestamp": "2026-03-02T09:00:00Z", "message": {"content": "x"}}
    progress = {"type": "progress", "sessionId": "s", "data": {"message": quoted}, "more": "x" * 50}
    assert parse_line(json.dumps(progress).encode()[:-30]).records == ()


def test_a_hostile_line_is_given_up_after_reading_it_a_few_times() -> None:
    line = b'{"type":"user","message":"' + b'{\\"type\\":' * 40_000
    content = parse_line(line + b'{"type":"user"' * 40_000)
    assert content.damage == "cut or unreadable"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


AROUND = st.tuples(st.binary(max_size=9), st.just(WHOLE), st.binary(max_size=99)).map(b"".join)


@given(st.binary(max_size=300) | AROUND)
def test_any_bytes_at_all_become_records_or_damage(line: bytes) -> None:
    content = parse_line(line)
    assert all(isinstance(record, dict) for record in content.records)
    assert content.records or content.damage is not None or not line.strip(b" \t\r\n\xef\xbb\xbf")


@given(JSON)
def test_any_json_object_is_one_record(value: object) -> None:
    content = parse_line(json.dumps(value).encode())
    assert (len(content.records) == 1) == isinstance(value, dict)


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.data())
def test_any_pieces_of_a_file_give_the_same_lines(lines: list[bytes], data: st.DataObject) -> None:
    written = b"".join(line + b"\n" for line in lines) + b"unfinished"
    splitter = LineSplitter(7, max_line=1000)
    found: list[tuple[int, bytes | None, int]] = []
    left = written
    while left:
        size = data.draw(st.integers(1, len(left)))
        found += splitter.feed(left[:size])
        left = left[size:]
    assert [line for _, line, _ in found] == lines
    assert [written[offset - 7 : offset - 7 + length] for offset, _, length in found] == [x + b"\n" for x in lines]
    assert splitter.rest() == b"unfinished"
    assert splitter.line_start == 7 + len(written) - len(b"unfinished")


@pytest.mark.parametrize("piece", [1, 5, 100])
def test_a_line_over_the_limit_is_skipped_and_told_once(piece: int) -> None:
    written = b"short\n" + b"x" * 50 + b"\nafter\n" + b"y" * 50
    splitter = LineSplitter(0, max_line=20)
    found = [each for at in range(0, len(written), piece) for each in splitter.feed(written[at : at + piece])]
    assert found == [(0, b"short", 6), (6, None, 51), (57, b"after", 6)]
    assert splitter.rest() is None
    assert splitter.line_start == 63
