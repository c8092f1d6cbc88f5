"""What each operation may be asked, and the errors that say how to ask it right.

One table of closed JSON schemas serves MCP's `tools/list`, the command line's calls and the validation: a client's own
check cannot be relied on, MCP's toolkit takes `"10"` for 10 and passes unknown names by. A model that reads one of the
errors can repeat its call without looking anything up (interface.md, "Arguments").

Operations of other rooms (Knowledge's tools) are described with `Operation` too and checked by the same code.
"""

from __future__ import annotations

from engine.arguments.check import nearest, validate
from engine.arguments.operation import LIMIT_CAP, MAX_TOKENS_CAP, QUERY_CAP, Operation, Schema
from engine.arguments.operations import OPERATIONS

__all__ = [
    "LIMIT_CAP",
    "MAX_TOKENS_CAP",
    "OPERATIONS",
    "QUERY_CAP",
    "Operation",
    "Schema",
    "nearest",
    "validate",
]
