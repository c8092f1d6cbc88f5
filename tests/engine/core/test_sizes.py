from __future__ import annotations

import pytest

from engine.core.sizes import size


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (99_950, "100 kB"),
        (999_600, "1.0 MB"),
        (67_445_700_000, "67.4 GB"),
        (5.2e12, "5.2 TB"),
        (5.2e15, "5200 TB"),
    ],
)
def test_a_size_has_two_or_three_digits_and_a_unit(count: float, said: str) -> None:
    assert size(count) == said
