"""Decides in which precision the model computes: bfloat16 is twice as fast, or three times slower."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Precision = Literal["float32", "bfloat16"]

WORTH = 1.1
"""How much faster bfloat16 must be: two measurements of the same speed on a busy machine differ by as much."""


def chosen_precision(asked: str, *, is_native: Callable[[], bool], speed: Callable[[Precision], float]) -> str:
    """Return the precision to compute in.

    Measured: 105 texts a second against 49 where the processor multiplies bfloat16, 15 against 52 where it does not.

    Args:
        asked: `auto`, or a precision that is taken as it is.
        is_native: Whether the processor says that it multiplies bfloat16 itself; then nothing is measured.
        speed: Measures texts a second in a precision.
    """
    if asked != "auto":
        return asked
    if is_native():
        return "bfloat16"
    usual = speed("float32")
    return "bfloat16" if speed("bfloat16") > WORTH * usual else "float32"
