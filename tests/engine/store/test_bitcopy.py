from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.store.bitcopy import closest


@given(st.lists(st.integers(0, 384), min_size=1, max_size=200), st.integers(1, 250))
def test_the_closest_are_those_of_a_full_sort_and_equals_come_by_number(distances: list[int], count: int) -> None:
    # Numbers have gaps: passages are deleted.
    ids = np.arange(len(distances), dtype=np.int64) * 3 + 7
    places = closest(ids, np.asarray(distances, np.uint16), count)
    expected = sorted(range(len(distances)), key=lambda place: (distances[place], place))[:count]
    assert places.tolist() == expected
