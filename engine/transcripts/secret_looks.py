"""Tells a secret from what only looks like one: names, placeholders, times, what manuals write."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

PLACEHOLDERS: Final = re.compile(
    r"example|placeholder|your[_-]|[_-]here|change[_-]?me|dummy|sample|redacted|\*{3}|\.{3}|x{4}|0{8}|1234567890|abcdef",
    re.IGNORECASE,
)
PLAIN_PASSWORDS: Final = frozenset(
    {
        "pass", "passwd", "password", "pw", "pwd", "secret", "token", "user", "username", "root", "admin", "guest",
        "test", "postgres", "mysql", "redis", "rabbitmq", "key", "apikey", "x-oauth-basic", "oauth2",
    }
)  # fmt: skip
"""What manuals write where a password goes."""

WORDS: Final = re.compile(r"(?:[A-Za-z]+\d{0,3}|\d{1,4})(?:[-_.:/@](?:[A-Za-z]+\d{0,3}|\d{1,4}))*")
"""Names made of words and small numbers: `bert-base-uncased-v2`, `tokens.page_2`."""

UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def has_digit_and_letter(text: str) -> bool:
    """True when there is at least one of each."""
    return any(each.isdigit() for each in text) and any(each.isalpha() for each in text)


def is_random(text: str) -> bool:
    """True for what nobody would type: digits and letters mixed, and not one character again and again."""
    return has_digit_and_letter(text) and len(set(text)) > 7 and not PLACEHOLDERS.search(text)


def is_named_secret(text: str) -> bool:
    """True for the value of something called a key, a token or a secret that looks like one."""
    return len(text) >= 16 and is_random(text) and not WORDS.fullmatch(text) and not text.startswith(("/", "./", "~"))


def is_named_token(text: str) -> bool:
    """True for the value of something called a token; many things are named by UUIDs, tokens hardly ever."""
    return is_named_secret(text) and not UUID.fullmatch(text)


def is_password(text: str) -> bool:
    """True for the value of something called a password that looks like one: no name of a variable, no placeholder."""
    if text.lower() in PLAIN_PASSWORDS or PLACEHOLDERS.search(text) or text.startswith(("/", "./", "~", "$", "%")):
        return False
    kinds = (
        any(each.islower() for each in text),
        any(each.isupper() for each in text),
        any(each.isdigit() for each in text),
        any(not each.isalnum() and each not in "_-." for each in text),
    )
    return sum(kinds) >= 2 and (kinds[2] or kinds[3]) and len(set(text)) > 4


def mixes_all(text: str) -> bool:
    """True when there are small and capital letters and digits."""
    return any(map(str.islower, text)) and any(map(str.isupper, text)) and any(map(str.isdigit, text))


def is_login_token(text: str) -> bool:
    """True for a token where a name is expected, as SonarQube wants it: no name, address or time looks like that."""
    if re.fullmatch(r"[0-9a-f]{32,128}", text):
        return is_random(text)
    return re.fullmatch(r"[A-Za-z0-9_-]{20,}", text) is not None and mixes_all(text) and is_named_token(text)


def is_strong(text: str) -> bool:
    """True for a password where the name before it is a common word as well."""
    return len(text) >= 8 and mixes_all(text) and is_password(text) and not WORDS.fullmatch(text)


def is_in_url(text: str) -> bool:
    """True for what stands where a password does and is no variable and no word of a manual."""
    return text.lower() not in PLAIN_PASSWORDS and not re.match(r"[${<%*\[]|x{3,}", text, re.IGNORECASE)


def is_basic(text: str) -> bool:
    """True for a user and a password, joined by a colon and written in base64."""
    try:
        return b":" in base64.b64decode(text, validate=True)
    except binascii.Error:
        return False


def mixes_cases(text: str) -> bool:
    """True when there is a capital letter."""
    return text != text.lower()
