"""What a message, a block and a chunk are: the words that filters, replies and the database share."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Who speaks in a message."""

    USER = "user"
    """What a person typed, queued prompts and slash commands with arguments included."""
    ASSISTANT = "assistant"
    TOOL = "tool"
    """Results of tools."""
    INJECTED = "injected"
    """Meta lines, reminders, hooks, command output, task notifications, prompts written by a model for a sub-agent."""
    SUMMARY = "summary"
    """Compaction summaries."""


class Kind(StrEnum):
    """What a block is."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_USE = "tool_use"
    TOOL_RESULT = "tool_result"
    IMAGE = "image"
    OTHER = "other"


class Signal(StrEnum):
    """How much a chunk says about what was meant or decided (the table is in `engine/transcripts/signals.py`)."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
