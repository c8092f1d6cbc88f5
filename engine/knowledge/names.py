"""Names and lengths of text: lookup's normal form, UTF-16 counting, safe file names."""

from __future__ import annotations

import re
import unicodedata

_BLANKS = re.compile(r"\s+")
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*#^\[\]%]+')
"""Characters a file name may not hold on some system, or that break Obsidian's links."""
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_CONFLICT_COPY = re.compile(
    r"\((?:[^()]* )?conflicted copy[^()]*\)|\.sync-conflict-[0-9]|\(SyncConflict[^()]*\)",
    re.IGNORECASE,
)
"""Names that Dropbox, Nextcloud, Obsidian Sync and Syncthing give to the losing side of a conflict."""
_NAME_BYTES = 120
"""UTF-8 bytes of a file's stem: short enough below deep folders on Windows (260 characters in all)."""


def normal_name(text: str) -> str:
    """Return the form in which names are compared: NFKC, lower case, trimmed, blanks collapsed (R31).

    Never case folding and never without diacritics: "Straße" and "STRASSE" stay two names (R32).
    """
    return _BLANKS.sub(" ", unicodedata.normalize("NFKC", text).lower()).strip()


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 units, the count of every limit and snippet offset of this room."""
    if text.isascii():
        return len(text)
    return len(text) + sum(ch > "\uffff" for ch in text)


def cut_utf16(text: str, limit: int) -> str:
    """Return the longest opening of the text within a number of UTF-16 units, never half a surrogate pair."""
    if utf16_length(text) <= limit:
        return text
    used = 0
    for index, ch in enumerate(text):
        used += 2 if ch > "\uffff" else 1
        if used > limit:
            return text[:index]
    return text


def is_conflict_copy(name: str) -> bool:
    """Return whether a file's name says that a sync program left it behind."""
    return _CONFLICT_COPY.search(name) is not None


def file_stem(title: str) -> str:
    """Return a title as a file name's stem: readable, legal on three systems, no folder, never one that is skipped."""
    stem = _UNSAFE.sub(" ", title)
    while is_conflict_copy(stem):
        stem = _CONFLICT_COPY.sub(lambda found: re.sub(r"[().]", " ", found[0]), stem)
    stem = _BLANKS.sub(" ", stem).strip(" .")
    while len(stem.encode()) > _NAME_BYTES:
        stem = stem[:-1].rstrip(" .")
    if not stem or _RESERVED.fullmatch(stem):
        return f"record {stem}".strip()
    return stem
