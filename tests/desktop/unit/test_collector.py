from __future__ import annotations

import gc
import weakref

from desktop.collector import YOUNG, Collector


class Knot:
    def __init__(self) -> None:
        self.me = self


def test_garbage_is_collected_when_it_is_asked_to_and_not_before() -> None:
    was_enabled = gc.isenabled()
    collector = Collector()
    try:
        gc.collect()
        assert collector.step() is None
        knot = weakref.ref(Knot())
        kept: list[list[int]] = [[] for _ in range(2 * YOUNG)]
        assert knot() is not None, "nothing collects by itself"
        assert collector.step() is not None
        assert knot() is None
        assert len(kept) == 2 * YOUNG
    finally:
        collector.close()
    assert gc.isenabled() == was_enabled
