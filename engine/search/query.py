"""Reads what a person typed. Nothing in it is ever executed as FTS5 syntax: every word goes in quoted.

`"two words"` is a phrase. Everything else is words that must all match; a word that holds punctuation
(`sqlite-vec`, `/etc/hosts`, `foo.bar_baz`) is the phrase of its parts, so it is found as typed and inside longer paths.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.core.errors import InvalidArgument
from engine.core.text import (
    DIACRITICS,
    LONGEST_IDENTIFIER,
    camel_parts,
    clean,
    fold,
    index_words,
    is_camel,
    is_cjk_letter,
    stem,
    words_of,
)

MAX_QUERY_CHARACTERS = 10_000
MAX_TERMS = 64
"""Words beyond these are ignored: FTS5 joins posting lists word by word, and no question needs more. The same holds
inside a phrase: one of 2,500 common words took 2.4 s of processor time over 13,673 messages, one of 64 takes 0.04 s."""

_PHRASE = re.compile(r'"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that must match."""

    text: str
    """As typed, cleaned."""
    words: tuple[str, ...]
    """Its words, folded, as the index has them."""
    is_phrase: bool
    """Quoted by the person: exact words in this order, no stems."""
    is_prefix: bool = False
    """Still being typed."""

    @property
    def expression(self) -> str:
        """FTS5 text that matches the term."""
        exact = f"words : {_quoted(self.text)}"
        if self.is_prefix:
            return f"{exact} *"
        if self.is_phrase or len(self.words) != 1:
            return f"{exact} OR parts : {_quoted(self._parts)}" if self._parts else exact
        word = self.words[0]
        alternatives = [exact, f"parts : {_quoted(word)}"]
        stemmed = stem(word)
        if stemmed != word:
            alternatives += [f"words : {_quoted(stemmed)}", f"parts : {_quoted(stemmed)}"]
        if self._parts:
            alternatives.append(f"parts : {_quoted(self._parts)}")
        return " OR ".join(alternatives)

    @property
    def _parts(self) -> str:
        """The parts of a camel-case word, to find it inside a longer identifier."""
        if self.is_phrase or len(self.text) > LONGEST_IDENTIFIER or not is_camel(self.text):
            return ""
        return " ".join(camel_parts(self.text))


@dataclass(frozen=True, slots=True)
class Query:
    """A question, read."""

    text: str
    terms: tuple[Term, ...]
    ignored: int = 0
    """Words that are not looked for: beyond `MAX_TERMS`, of the question or of one phrase in it."""

    @property
    def strict(self) -> str:
        """FTS5 text in which every term must match; empty when there is nothing to look for."""
        return " AND ".join(f"({term.expression})" for term in self.terms)

    @property
    def any(self) -> str:
        """FTS5 text in which one term is enough; empty when there is nothing to look for."""
        return " OR ".join(f"({term.expression})" for term in self.terms)


def read_query(text: str, *, prefix_last: bool = False) -> Query:
    """Return the terms of a question.

    Args:
        text: As typed. May hold anything.
        prefix_last: The last word is still being typed, unless a space or a quote follows it.

    Raises:
        InvalidArgument: It is longer than 10,000 characters.
    """
    if len(text) > MAX_QUERY_CHARACTERS:
        raise InvalidArgument(
            "query is too long",
            f"It has {len(text):,} characters; at most {MAX_QUERY_CHARACTERS:,} are searched.",
            "Call again with the few words that matter.",
        )
    text = clean(text)
    terms: list[Term] = []
    position = 0
    for match in _PHRASE.finditer(text):
        terms += _plain_terms(text[position : match.start()])
        terms += _term(match[1], is_phrase=True)
        position = match.end()
    rest = text[position:]
    terms += _plain_terms(rest)
    unique = list(dict.fromkeys(terms))
    if prefix_last and unique and rest and not rest[-1].isspace() and not unique[-1].is_phrase:
        last = unique[-1]
        unique[-1] = Term(last.text, last.words, is_phrase=False, is_prefix=True)
    searched = tuple(_shortened(term) for term in unique[:MAX_TERMS])
    ignored = sum(len(term.words) - MAX_TERMS for term in unique[:MAX_TERMS] if len(term.words) > MAX_TERMS)
    return Query(text, searched, ignored + max(0, len(unique) - MAX_TERMS))


def _plain_terms(text: str) -> list[Term]:
    return [term for raw in text.replace('"', " ").split() for term in _term(raw, is_phrase=False)]


def _term(text: str, *, is_phrase: bool) -> tuple[Term, ...]:
    words = tuple(words_of(text))
    return (Term(text, words, is_phrase=is_phrase),) if words else ()


def _shortened(term: Term) -> Term:
    """Return a term with no more words than are looked for: what holds the phrase holds its beginning."""
    if len(term.words) <= MAX_TERMS:
        return term
    words = term.words[:MAX_TERMS]
    return Term(" ".join(words), words, is_phrase=True)


def _quoted(text: str) -> str:
    return '"' + index_words(text).replace('"', '""') + '"'


_TOKEN = re.compile(rf"[^\W_](?:[^\W_]|[{DIACRITICS}])*")
"""Points and accents that stand as characters of their own belong to their word, as they do in the index."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text, with its place (code points)."""

    word: str
    start: int
    end: int
    raw: str


def tokens_of(text: str) -> list[Token]:
    """Return the words of a text with their places, CJK letters one by one, folded as the index folds them."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        raw = match.group()
        if raw.isascii():
            found.append(Token(raw.lower(), match.start(), match.end(), raw))
            continue
        start = match.start()
        piece_start = start
        for index, character in enumerate(raw):
            if is_cjk_letter(character):
                _add(found, raw[piece_start - start : index], piece_start)
                found.append(Token(fold(character), start + index, start + index + 1, character))
                piece_start = start + index + 1
        _add(found, raw[piece_start - start :], piece_start)
    return found


def _add(found: list[Token], raw: str, start: int) -> None:
    if folded := fold(raw):
        found.append(Token(folded, start, start + len(raw), raw))
