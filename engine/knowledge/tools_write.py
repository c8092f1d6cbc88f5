"""The writing tools of Knowledge."""

from __future__ import annotations

from engine.knowledge.tools_spec import ToolSpec

WRITE_TOOLS: tuple[ToolSpec, ...] = ()
