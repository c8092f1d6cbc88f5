"""What names an embedding model: two vectors may be compared only when one model made both."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """A model, as vectors remember it."""

    name: str
    revision: str
    """Of its files."""
    dimension: int
    pooling: str
    """How token vectors become one: `mean`, `cls`, …"""
