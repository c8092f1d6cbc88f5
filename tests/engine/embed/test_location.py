from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.embed.location import reads_whole

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_word_is_known_when_it_is_a_piece_of_its_own(tmp_path: Path, end: str) -> None:
    (tmp_path / "vocab.txt").write_bytes(end.join(["[PAD]", "career", "##ing", "straße", ""]).encode())
    known = {word for word in ("career", "care", "ing", "straße", "carmen", "") if reads_whole(tmp_path, word)}
    assert known == {"career", "straße"}


def test_a_model_without_a_list_of_pieces_knows_no_word(tmp_path: Path) -> None:
    assert not reads_whole(tmp_path, "career")
