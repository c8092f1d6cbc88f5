from __future__ import annotations

import itertools
import os
import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.ipc.lines import LineWriter, TooLong, read_lines

if TYPE_CHECKING:
    from collections.abc import Sequence


def lines_of(pieces: Sequence[bytes], maximum: int = 1_000_000) -> list[bytes | TooLong]:
    """Read what is written piece by piece into a pipe."""
    reading, writing = os.pipe()

    def write() -> None:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(writing, rest) :]
        os.close(writing)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        return list(read_lines(reading, maximum))
    finally:
        os.close(reading)
        writer.join()


@given(
    lines=st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b""))),
    cuts=st.lists(st.integers(0, 200), max_size=6),
)
def test_lines_are_the_same_however_their_bytes_arrive(lines: list[bytes], cuts: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    marks = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[start:end] for start, end in itertools.pairwise(marks)]
    assert lines_of(pieces) == [line.strip() for line in lines]


def test_what_follows_the_last_newline_counts() -> None:
    assert lines_of([b"one\ntwo"]) == [b"one", b"two"]


def test_a_carriage_return_belongs_to_the_line_end() -> None:
    assert lines_of([b"one\r\n\r\ntwo\r\n"]) == [b"one", b"", b"two"]


def test_a_line_that_is_too_long_is_read_past_and_its_ends_are_told() -> None:
    long = b"{" + b"x" * 100_000 + b"}"
    found = lines_of([b"one\n", long, b"\ntwo\n"], maximum=1000)
    assert found[0] == b"one"
    assert found[2] == b"two"
    assert isinstance(found[1], TooLong)
    assert found[1].size_bytes == len(long)
    assert long.startswith(found[1].head)
    assert found[1].head.startswith(b"{x")
    assert long.endswith(found[1].tail)
    assert found[1].tail.endswith(b"x}")


def test_a_line_of_the_largest_size_is_kept() -> None:
    assert lines_of([b"x" * 1000 + b"\n"], maximum=1000) == [b"x" * 1000]


def test_a_descriptor_that_cannot_be_read_is_an_error() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    os.close(reading)
    with pytest.raises(OSError, match="Bad file descriptor"):
        list(read_lines(reading, 10))


def test_lines_of_several_threads_are_written_whole() -> None:
    reading, writing = os.pipe()
    writer = LineWriter(writing)
    messages = [bytes([letter]) * 100_000 for letter in b"abcd"]
    threads = [threading.Thread(target=writer.write, args=(message,)) for message in messages]
    for thread in threads:
        thread.start()
    closing = threading.Thread(target=lambda: [*(thread.join() for thread in threads), os.close(writing)])
    closing.start()
    found = [line for line in read_lines(reading, 100_000) if isinstance(line, bytes)]
    assert sorted(found) == messages
    closing.join()
    os.close(reading)


def test_writing_to_nobody_is_an_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        LineWriter(writing).write(b"one")
    os.close(writing)
