from __future__ import annotations

import pytest

from engine.search.exchanges import content_terms
from engine.search.pieces import pieces_of
from engine.search.query import MAX_TERMS, read_query


@pytest.mark.parametrize(
    ("typed", "looked_for"),
    [
        ("首页图片", ["首页", "页图", "图片"]),
        ("경로가", ["경로", "로가"]),
        ("データ", ["デー", "ータ"]),
        ("文字化けする", ["文字", "字化", "化け"]),
        ("すること", ["する", "るこ", "こと"]),
        ("Excelの文字化け", ["Excel", "の文", "文字", "字化", "化け"]),
        ("数据库sqlite-vec", ["sqlite-vec", "数据", "据库"]),
    ],
)
def test_what_is_written_without_spaces_is_looked_for_in_pairs(typed: str, looked_for: list[str]) -> None:
    (term,) = read_query(typed).terms
    assert [piece.text for piece in pieces_of(term)] == looked_for


@pytest.mark.parametrize("typed", ["库存", "getUserName", "Straße", '"首页图片加载"', "ไม่พบไฟล์"])
def test_words_pairs_and_quotations_stay_as_they_are(typed: str) -> None:
    (term,) = read_query(typed).terms
    assert pieces_of(term) == (term,)


def test_pairs_are_looked_for_once_and_not_without_end() -> None:
    assert [term.text for term in content_terms(read_query("测试测试"))] == ["测试", "试测"]
    letters = [chr(0x4E00 + number) for number in range(200)]
    assert len(content_terms(read_query("".join(letters)))) == MAX_TERMS - 1
    assert len(content_terms(read_query("".join(letters[:60]) + " " + "".join(letters[60:120])))) == MAX_TERMS
