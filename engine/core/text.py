"""Text as the index, SQLite and Qt can hold it, and the words it is searched by.

One place decides what a word is, for the index and for the question alike: SQLite's `unicode61` tokenizer (letters and
digits form words) over text that was folded here (case, diacritics). Chinese, Japanese and Korean characters, and the
letters of scripts that have no spaces between words, are set apart, one word each, so that a phrase of them is a
substring of any length.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Protocol, cast

import snowballstemmer  # pyright: ignore[reportMissingTypeStubs] - it has none

_CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003ffff"
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u1000-\u102a\u103f\u1050-\u1055"
    "\u1780-\u17b3"
)
"""Ranges of the Unicode blocks of Han, Kana, Bopomofo and Hangul that hold letters, and the letters of Thai, Lao,
Burmese and Khmer, which are written without spaces as well (Unicode 15.1, Blocks.txt)."""

_CJK_LETTER = re.compile(f"[{_CJK}]")
DIACRITICS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u20d0-\u20ff\ufe20-\ufe2f"
)
"""Ranges for a pattern: accents of Latin, Greek and Cyrillic, points of Hebrew, harakat of Arabic (Unicode 15.1,
Blocks.txt). Not the punctuation among the points: a maqaf stands between words."""

_DIACRITIC = re.compile(f"[{DIACRITICS}]")
_STROKES = str.maketrans("łøđħŧı", "lodhti")
"""Letters whose mark runs through them, which no decomposition takes off, and the dotless i, which is I in capitals."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_ASCII = re.compile(r"[^\x00-\x7f]+")
_WORD = re.compile(r"[^\W_]+")
_NO_WORD = re.compile(r"[\W_]+")

_CAMEL = re.compile(r"[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*")
_CAMEL_BORDER = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

LONGEST_IDENTIFIER = 64
"""Longer runs of letters and digits are data (base64, hashes), not names with parts."""

STEM_ENGLISH_ONLY_FROM = 4
"""Words shorter than this are left as they are: stems of three letters and fewer match too much."""


def clean(text: str) -> str:
    r"""Return the text without NUL characters and with lone surrogates replaced, composed (NFC).

    `\u0000` is legal in a transcript and ends a string in SQLite; a lone surrogate cannot be encoded (a 2 KB preview
    cut through an emoji, anthropics/claude-code#50019).
    """
    if text.isascii():
        return text.replace("\0", "") if "\0" in text else text
    if "\0" in text:
        text = text.replace("\0", "")
    if _SURROGATE.search(text):
        # Halves of a pair that a careless writer escaped one by one become the character they mean.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    return text


PARTS_END = "\x1f"
"""Stands between the two columns where both are one text; the second one, which comes first, never holds it."""


def index_columns(text: str) -> str:
    """Return what enters both columns of the word index as one text."""
    return f"{index_parts(text)}{PARTS_END}{index_words(text)}"


def index_words(text: str) -> str:
    """Return cleaned text as it enters the column of exact words: folded, and each CJK letter stands alone."""
    if text.isascii():
        return text  # The tokenizer folds and splits ASCII by itself, faster.
    return _NO_ASCII.sub(_indexed_run, text)


def _indexed_run(match: re.Match[str]) -> str:
    run = match[0]
    # One arrow, one dash, one tick: most runs are.
    return _INDEXED[ord(run)] if len(run) == 1 else run.translate(_INDEXED)


class _IndexedCharacters(dict[int, str]):
    """What a character of a cleaned text is in the index, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        # The tokenizer's tables of Unicode are older than Python's: what is no word (emoji, new symbols) is taken out
        # for it.
        self[code] = _CJK_LETTER.sub(r" \g<0> ", _NO_WORD.sub(" ", fold(chr(code))))
        return self[code]


_INDEXED = _IndexedCharacters()


def index_parts(text: str) -> str:
    """Return what enters the second column: parts of camel-case identifiers in order, then stems of inflected words.

    A word that is its own stem is found in the first column, so it is not repeated here. What a word adds is
    remembered: a history says the same few ten thousand words again and again (0.2 s instead of 1.5 s for 81 MB).
    """
    identifiers: list[str] = []
    stems: set[str] = set()
    # Each word once, in no order. Bytes: a word of ASCII letters is never part of another character in UTF-8.
    words = dict.fromkeys(_LONG_ENOUGH.findall(text.encode("utf-8", "replace")))
    for added in filter(None, map(_ADDITIONS.__getitem__, words)):
        if isinstance(added, str):
            stems.add(added)
        else:
            parts, stemmed = added
            identifiers.append(parts)
            stems.update(stemmed)
    return "\n".join([*sorted(identifiers), *sorted(stems)])


_LONG_ENOUGH = re.compile(rb"[A-Za-z0-9]{%d,}" % STEM_ENGLISH_ONLY_FROM)
_MOST_WORDS = 100_000

_Addition = str | tuple[str, tuple[str, ...]] | None
"""What a word adds: nothing, its stem, or for an identifier its parts as one text and their stems."""


class _Additions(dict[bytes, _Addition]):
    """What words add to the second column, worked out when they are first met."""

    def __missing__(self, word: bytes) -> _Addition:
        if len(word) > LONGEST_IDENTIFIER:
            return None
        if len(self) >= _MOST_WORDS:
            self.clear()
        self[word] = added = _addition(word.decode("ascii"))
        return added


_ADDITIONS = _Additions()


def _addition(word: str) -> _Addition:
    parts = camel_parts(word) if _CAMEL_BORDER.search(word) is not None else []
    if len(parts) > 1:
        return " ".join(parts), tuple(stemmed for each in parts if (stemmed := stem(each)) != each)
    word = word.lower()
    stemmed = stem(word)
    return None if stemmed == word else stemmed


def camel_parts(identifier: str) -> list[str]:
    """Return the lower-case parts of `getUserName`, `HTTPServer`, `utf8Decoder`."""
    return [part.lower() for part in _CAMEL_PART.findall(identifier)]


def is_camel(word: str) -> bool:
    """True when a word has parts of its own (`getUserName`), so that it may also be found by them."""
    return _CAMEL.fullmatch(word) is not None


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the English stem of a lower-case word; the word itself when it is short or not English letters."""
    if len(word) < STEM_ENGLISH_ONLY_FROM or not word.isascii() or not word.isalpha():
        return word
    return _stemmer().stemWord(word)


class _Stemmer(Protocol):
    """The library's stemmer, which has no types of its own."""

    def stemWord(self, word: str) -> str:  # noqa: N802 - the library's name
        """Return the stem of a lower-case word."""
        ...


@lru_cache(maxsize=1)
def _stemmer() -> _Stemmer:
    made = snowballstemmer.stemmer("english")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
    return cast("_Stemmer", made)


def fold(text: str) -> str:
    """Return text as words are compared: lower case, diacritics removed. May change the length.

    Marks that make another letter stay: the voicing marks of kana, the vowel signs of Indic scripts.
    """
    if text.isascii():
        return text.lower()
    bare = _DIACRITIC.sub("", unicodedata.normalize("NFD", text.casefold()))
    return unicodedata.normalize("NFC", bare.translate(_STROKES))


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, folded, as the index sees them (CJK letters one by one)."""
    # Of bytes: ASCII alone. What is not is folded already, and Cherokee's small letters to capitals.
    return _WORD.findall(index_words(clean(text)).encode().lower().decode())


def has_cjk(text: str) -> bool:
    """True when the text holds a letter that is a word of its own: Chinese, Japanese, Korean, Thai and the like."""
    return not text.isascii() and _CJK_LETTER.search(text) is not None


def is_cjk_letter(character: str) -> bool:
    """True for one letter that is a word of its own: Chinese, Japanese, Korean, Thai and the like."""
    return _CJK_LETTER.fullmatch(character) is not None


def shorten(text: str, limit: int) -> str:
    """Return the text on one line, at most `limit` characters, cut at a word where one ends near, with an ellipsis."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    head = flat[: limit - 1]
    space = head.rfind(" ")
    if space > limit * 0.7:
        head = head[:space]
    return head.rstrip() + "…"
