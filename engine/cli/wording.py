"""The engine's sentences as the command line says them. They name tools and arguments: most callers are models."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "keyword_search": "search",
        "semantic_search": "search",
        "hybrid_search": "search",
        "get_context": "show --hit",
        "get_session": "show",
        "list_sessions": "sessions",
        "get_period": "period",
        "get_usage": "usage",
        "knowledge_grep": "knowledge grep",
        "knowledge_lookup": "knowledge lookup",
        "knowledge_record": "knowledge show",
        "knowledge_records": "knowledge records",
        "knowledge_timeline": "knowledge timeline",
        "knowledge_chronicle_day": "knowledge day",
        "knowledge_chronicle_since": "knowledge since",
        "knowledge_chronicle_last_seen": "knowledge last-seen",
    }
)
"""The command that does what a tool does."""

OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{name: f"--{name}" for name in ("project", "when", "limit", "offset", "role", "kind", "tool", "session")},
        **{name: f"--{name}" for name in ("read", "full", "by", "before", "after", "snapshot")},
        "roles": "--role",
        "date_from": "--from",
        "date_to": "--to",
        "since": "--from",
        "until": "--to",
        "occurredOnOrBefore": "--to",
        "include_low_signal": "--all",
        "include_sidechains": "--sidechains",
        "include_only_copies": "--include-only-copies",
    }
)
"""The option that sets an argument."""

SWITCHES: Final[Mapping[str, str]] = MappingProxyType({"fix=true": "--fix", "dry_run=false": "--apply"})
"""The option that stands for an argument with a value."""

_TOOLS: Final = "|".join(sorted(COMMANDS, key=len, reverse=True))
_ARGUMENTS: Final = "|".join(OPTIONS)
_UNMISTAKABLE: Final = "|".join(name for name in OPTIONS if "_" in name)
"""Arguments that are no words, so that they need no quotes to be known."""
_NAMED: Final = re.compile(
    rf"""`?\b(?P<tool>{_TOOLS})\b`?
    |"(?P<argument>{_ARGUMENTS})":[ ](?:"(?P<text>[^"]*)"|(?P<number>[\w-]+))
    |["`](?P<quoted>{_ARGUMENTS})["`]
    |\A(?P<subject>{_ARGUMENTS})(?:\[\d+\])?(?=[ ](?:must|is|cannot|does|lies)\b)
    |(?<![-\w])(?P<plain>{_UNMISTAKABLE})\b
    |(?P<switch>fix=true|dry_run=false)
    """,
    re.VERBOSE,
)
_SAME_TWICE: Final = re.compile(r"(`backscroll [\w -]+`) or \1")


def as_commands(sentence: str) -> str:
    """Return a sentence of the engine with commands in place of tools and options in place of arguments."""
    return _SAME_TWICE.sub(r"\1", _NAMED.sub(_said, sentence))


def _said(name: re.Match[str]) -> str:
    if name["tool"]:
        return f"`backscroll {COMMANDS[name['tool']]}`"
    if name["argument"]:
        return f"{OPTIONS[name['argument']]} {name['text'] or name['number']}"
    if name["quoted"]:
        return f"`{OPTIONS[name['quoted']]}`"
    if name["switch"]:
        return SWITCHES[name["switch"]]
    return OPTIONS[name["subject"] or name["plain"]]
