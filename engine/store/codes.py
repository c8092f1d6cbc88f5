"""The small integers that stand for enumerations in the tables. Never renumber: databases hold them."""

from __future__ import annotations

from engine.core.models import Kind, Role, Signal

ROLES = {Role.USER: 0, Role.ASSISTANT: 1, Role.TOOL: 2, Role.INJECTED: 3, Role.SUMMARY: 4}
KINDS = {Kind.TEXT: 0, Kind.THINKING: 1, Kind.TOOL_USE: 2, Kind.TOOL_RESULT: 3, Kind.IMAGE: 4, Kind.OTHER: 5}
SIGNALS = {Signal.HIGH: 0, Signal.MEDIUM: 1, Signal.LOW: 2}

ROLE_OF = {code: role for role, code in ROLES.items()}
KIND_OF = {code: kind for kind, code in KINDS.items()}
SIGNAL_OF = {code: signal for signal, code in SIGNALS.items()}
