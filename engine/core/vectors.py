"""What names an embedding model, and a question as a vector: what those who embed and those who search pass on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """A model, as vectors remember it: two vectors may be compared only when one model made both."""

    name: str
    revision: str
    """Of its files."""
    dimension: int
    pooling: str
    """How token vectors become one: `mean`, `cls`, …"""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A question as a vector."""

    vector: bytes
    """float32, length 1."""


@dataclass(frozen=True, slots=True)
class NoVector:
    """Why there is none."""

    reason: str
    """One sentence for the reply."""
