"""The API call that one transcript line records: who it is, what it used, when.

The rules are section 5.2 of `transcripts.md`; `ledger` decides between the lines of one call.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from engine.store.usage import CallVariant, CostState

if TYPE_CHECKING:
    from collections.abc import Mapping

SYNTHETIC_MODEL = "<synthetic>"
"""Written by Claude Code itself (errors, "No response requested."): no call was made."""

PROMPT_STEPS = (100_000, 200_000)
"""Prompt sizes (tokens) over which some model costs more: Haiku 5.5 and Sonnet 4 / 4.5, Anthropic's pricing page."""

INCOMPLETE_UNTIL = (2, 1, 59)
"""Versions up to this one wrote a snapshot of `output_tokens` at the end of each block, often 1 to 10: the real number
cannot be recovered (`transcripts.md` 5.1: 4 to 7 times too low). Before 1.0.9 a call was one line with its final
number; those few are marked with the others: better a warning too many than a number that is trusted."""

MAX_COUNT = 10**12
"""No call uses as many tokens; a larger number is damage and counts as 0, so that sums stay inside 64 bits."""

MAX_NAME = 200
"""Characters kept of a model's name and of other names a line gives."""

LATEST_MS = 4_102_444_800_000
"""2100-01-01: a later time is damage."""

Json = dict[str, Any]


class ApiCall(NamedTuple):
    """One call to the model, as one line records it. Several lines of a transcript record the same call."""

    key: str
    """`message.id`; where it is missing, the line's uuid or what else the line has."""
    is_global: bool
    """The key means this call in every session. Gateways reuse ids, so an id of theirs counts within its session."""
    time_ms: int
    """Epoch milliseconds UTC of the line."""
    variant: CallVariant
    input: int
    """Tokens, like the next four. Not cached."""
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    web_searches: int
    is_sidechain: bool
    """Said by a sub-agent or aside."""
    is_copy: bool
    """The line says that it was copied from another session."""
    cwd: str | None
    """The line's working directory."""


def call_of(line: Mapping[str, Any], *, undated_ms: int = 0) -> ApiCall | None:
    """Return the call a parsed line records, or None for a line that records none.

    Args:
        line: One JSON object of a transcript.
        undated_ms: The time of a line that has none; the last one seen in its file is a good guess.
    """
    if line.get("type") != "assistant":
        return None
    message = _object(line.get("message"))
    usage = _object(message.get("usage")) if message is not None else None
    if message is None or usage is None or message.get("model") == SYNTHETIC_MODEL:
        return None
    written_5m, written_1h = _cache_writes(usage)
    input_tokens, cache_read = _count(usage.get("input_tokens")), _count(usage.get("cache_read_input_tokens"))
    prompt = input_tokens + written_5m + written_1h + cache_read
    time_ms = time_of(line.get("timestamp"))
    key, is_global = _identity(line, message, usage)
    tools, cwd = _object(usage.get("server_tool_use")), line.get("cwd")
    return ApiCall(
        key=key,
        is_global=is_global,
        time_ms=undated_ms if time_ms is None else time_ms,
        variant=CallVariant(
            model=_name(message.get("model"), "unknown"),
            speed=_name(usage.get("speed"), "standard"),
            service_tier=_name(usage.get("service_tier"), "standard"),
            prompt_over=0 if prompt <= PROMPT_STEPS[0] else max(step for step in PROMPT_STEPS if prompt > step),
            incomplete=int(_is_incomplete(line.get("version"))),
        ),
        input=input_tokens,
        output=_count(usage.get("output_tokens")),
        cache_write_5m=written_5m,
        cache_write_1h=written_1h,
        cache_read=cache_read,
        web_searches=_count(tools.get("web_search_requests")) if tools is not None else 0,
        is_sidechain=line.get("isSidechain") is True,
        is_copy=_is_copy(line),
        cwd=cwd if isinstance(cwd, str) and cwd else None,
    )


def cost_state_of(line: Mapping[str, Any]) -> CostState | None:
    """Return Claude Code's own total of a session from a `cost-state` line, or None for another line."""
    if line.get("type") != "cost-state":
        return None
    cost = line.get("totalCostUSD")
    if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0 <= cost < MAX_COUNT:
        return None
    models = _object(line.get("modelUsage")) or {}
    totals = [0] * 6
    for each in models.values():
        used = _object(each)
        if used is None:
            continue
        written_5m = _count(used.get("cacheCreationEphemeral5mInputTokens"))
        written_1h = _count(used.get("cacheCreationEphemeral1hInputTokens"))
        written = max(_count(used.get("cacheCreationInputTokens")), written_5m + written_1h)
        counts = (
            _count(used.get("inputTokens")),
            _count(used.get("outputTokens")),
            written - written_1h,
            written_1h,
            _count(used.get("cacheReadInputTokens")),
            _count(used.get("webSearchRequests")),
        )
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
    return CostState._make([round(cost * 1_000_000_000), *totals, int(line.get("hasUnknownModelCost") is True)])


def time_of(timestamp: object) -> int | None:
    """Return a line's timestamp in epoch milliseconds, or None where there is none that can be meant."""
    if not isinstance(timestamp, str):
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    milliseconds = round(moment.timestamp() * 1000)
    return milliseconds if 0 <= milliseconds < LATEST_MS else None


def _identity(line: Mapping[str, Any], message: Json, usage: Json) -> tuple[str, bool]:
    """Return the key of a call and whether it means the same call in every session (rule 2 of 5.2)."""
    message_id = message.get("id")
    if isinstance(message_id, str) and message_id:
        key = _name(message_id, "")
        return key, key.startswith("msg_") or _is_name(line.get("requestId"))
    uuid = line.get("uuid")
    if isinstance(uuid, str) and uuid:
        return _name(uuid, ""), True
    content = repr((line.get("timestamp"), message.get("model"), sorted(usage.items(), key=str)))
    return "line:" + hashlib.blake2b(content.encode("utf-8", "replace"), digest_size=16).hexdigest(), False


def _is_copy(line: Mapping[str, Any]) -> bool:
    """Return whether a line carries a mark of a copy: SDK fork, background hand-off, CLI fork (section 4)."""
    if "forkedFrom" in line or line.get("sessionKind") == "bg":
        return True
    source = line.get("requestSessionId")
    return isinstance(source, str) and source != line.get("sessionId")


def _cache_writes(usage: Json) -> tuple[int, int]:
    """Return tokens written to the 5-minute and the 1-hour cache.

    `cache_creation_input_tokens` is their sum already. What the split leaves out of it counts as 5-minute, the default.
    """
    total = _count(usage.get("cache_creation_input_tokens"))
    split = _object(usage.get("cache_creation"))
    if split is None:
        return total, 0
    one_hour = _count(split.get("ephemeral_1h_input_tokens"))
    return max(_count(split.get("ephemeral_5m_input_tokens")), total - one_hour), one_hour


def _is_incomplete(version: object) -> bool:
    return isinstance(version, str) and _wrote_snapshots(version)


@lru_cache(maxsize=256)
def _wrote_snapshots(version: str) -> bool:
    try:
        major, minor, patch = version.split(".", 2)
        # A patch may carry a suffix ("59-beta.1").
        number = (int(major), int(minor), int(patch.partition("-")[0]))
    except ValueError:
        return False
    return number <= INCOMPLETE_UNTIL


def _count(value: object) -> int:
    if type(value) is int:  # a bool is none
        return value if 0 <= value <= MAX_COUNT else 0
    return int(value) if isinstance(value, float) and 0 <= value <= MAX_COUNT and value.is_integer() else 0


def _name(value: object, default: str) -> str:
    if not isinstance(value, str) or not value:
        return default
    value = value[:MAX_NAME]
    # A lone surrogate (a damaged line) cannot be stored.
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _object(value: object) -> Json | None:
    return cast("Json", value) if isinstance(value, dict) else None
