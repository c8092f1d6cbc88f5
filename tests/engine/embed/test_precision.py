from __future__ import annotations

import subprocess
import sys

import pytest

from engine.embed.location import find_model
from engine.embed.precision import Precision, chosen_precision


class Processor:
    """Computes at given speeds and remembers what was measured."""

    def __init__(self, *, usual: float = 50.0, short: float = 50.0, is_native: bool = False) -> None:
        self._speeds: dict[Precision, float] = {"float32": usual, "bfloat16": short}
        self._is_native = is_native
        self.measured: list[Precision] = []

    def choose(self, asked: str = "auto") -> str:
        return chosen_precision(asked, is_native=lambda: self._is_native, speed=self._speed)

    def _speed(self, precision: Precision) -> float:
        self.measured.append(precision)
        return self._speeds[precision]


@pytest.mark.parametrize("asked", ["float32", "bfloat16"])
def test_what_was_asked_for_is_taken_without_measuring(asked: str) -> None:
    processor = Processor(usual=1, short=100, is_native=True)
    assert processor.choose(asked) == asked
    assert processor.measured == []


def test_a_processor_that_multiplies_bfloat16_is_believed() -> None:
    processor = Processor(usual=52, short=15, is_native=True)
    assert processor.choose() == "bfloat16"
    assert processor.measured == []


@pytest.mark.parametrize(
    ("usual", "short", "chosen"),
    [(49, 105, "bfloat16"), (52, 15, "float32"), (50, 50, "float32"), (50, 55, "float32"), (50, 55.5, "bfloat16")],
)
def test_otherwise_what_is_measured_to_be_clearly_faster_wins(usual: float, short: float, chosen: str) -> None:
    processor = Processor(usual=usual, short=short)
    assert processor.choose() == chosen
    assert processor.measured == ["float32", "bfloat16"]


SELF_TEST = """
import sys
from engine.embed import model as room
room.SELF_TEST_S = 0.01
model = room.SentenceModel(sys.argv[1], precision="float32")
before = model.encode(["which port does the broker use"])
assert model._speed("float32") > 0 and model._speed("bfloat16") > 0
assert (model.encode(["which port does the broker use"]) == before).all(), "the weights have changed"
"""


@pytest.mark.slow
@pytest.mark.integration
def test_measuring_bfloat16_leaves_the_weights_as_they_were() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SELF_TEST, str(find_model("bundled"))],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
