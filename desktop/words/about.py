"""The window about Backscroll: what it is, its version and what it is made of."""

from __future__ import annotations

from typing import Final

TITLE: Final = "About Backscroll"
WHAT: Final = "A memory for Claude Code, on your own machine."
NEW: Final = (
    "New versions are published where you got this one. Backscroll itself never goes on the network: it neither looks "
    "for updates nor reports anything."
)
LICENCE: Final = "Backscroll is free software under the MIT licence. It uses:"
PARTS: Final = (
    "Qt and PySide6 (LGPL 3)", "SQLite and APSW", "sqlite-vec (MIT or Apache 2)", "PyTorch (BSD 3-Clause)",
    "sentence-transformers (Apache 2)", "all-MiniLM-L6-v2 (Apache 2)", "MCP SDK (MIT)", "Python (PSF)",
)  # fmt: skip
COPY_VERSION: Final = "Copy version"


def version(number: str) -> str:
    return f"Version {number}"
