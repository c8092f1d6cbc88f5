"""Cuts what is written without spaces into pairs of letters.

A question in Chinese is otherwise one phrase, found as it stands or not at all.
"""

from __future__ import annotations

import re

from engine.core.text import words_of
from engine.search.query import MAX_TERMS, Term

_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]{3,}")
"""Chinese, Japanese, Korean. Longer than a word of two letters."""

_GRAMMAR = re.compile(r"[\u3040-\u309f]+")
"""Hiragana: endings and particles, the stop words of Japanese."""


def pieces_of(term: Term) -> tuple[Term, ...]:
    """Return the pairs of neighbouring letters of a term, and its other words; the term itself when it has no such run.

    Pairs are what is used where no dictionary is at hand: most words of Chinese and stems of Japanese are two letters
    long, and Korean particles hang on at the end. Of 16 questions in Chinese and Japanese words found one before.
    """
    # A question of more letters than are looked for was shortened to a phrase of them, that nobody quoted.
    is_shortened = len(term.words) == MAX_TERMS and all(len(word) == 1 for word in term.words)
    written = "".join(term.words) if is_shortened else term.text
    if (term.is_phrase and not is_shortened) or term.is_prefix or not _RUN.search(written):
        return (term,)
    pairs: list[str] = []
    others: list[str] = []
    position = 0
    for run in _RUN.finditer(written):
        others.append(written[position : run.start()])
        pairs += [run[0][index : index + 2] for index in range(len(run[0]) - 1)]
        position = run.end()
    others.append(written[position:])
    telling = [pair for pair in pairs if not _GRAMMAR.fullmatch(pair)] or pairs
    return tuple(
        Term(text, found, is_phrase=False)
        for text in dict.fromkeys([*others, *telling])
        if (found := tuple(words_of(text)))
    )
