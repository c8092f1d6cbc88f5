"""The small integers that stand for enumerations in the tables. Never renumber: databases hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core.models.kinds import Kind, Role, Signal

if TYPE_CHECKING:
    from engine.transcripts.records import CopyKind

ROLES = {Role.USER: 0, Role.ASSISTANT: 1, Role.TOOL: 2, Role.INJECTED: 3, Role.SUMMARY: 4}
KINDS = {Kind.TEXT: 0, Kind.THINKING: 1, Kind.TOOL_USE: 2, Kind.TOOL_RESULT: 3, Kind.IMAGE: 4, Kind.OTHER: 5}
COPY_KINDS: dict[CopyKind, int] = {"resumed": 0, "forked": 1, "background": 2}
SIGNALS = {Signal.HIGH: 0, Signal.MEDIUM: 1, Signal.LOW: 2}

ROLE_OF = {code: role for role, code in ROLES.items()}
KIND_OF = {code: kind for kind, code in KINDS.items()}
SIGNAL_OF = {code: signal for signal, code in SIGNALS.items()}
COPY_KIND_OF = {code: kind for kind, code in COPY_KINDS.items()}
