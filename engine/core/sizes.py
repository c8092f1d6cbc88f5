"""How a number of bytes is said, in the command line and by the doctor."""

from __future__ import annotations


def size(count: float) -> str:
    """Return a number of bytes with two or three digits and a unit of 1,000."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 999.5 or unit == "TB":
            return f"{count:.0f} {unit}" if unit == "B" or count >= 99.5 else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError("the loop returns at its last unit")
