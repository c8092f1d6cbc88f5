from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import Ambiguous, EngineError, InvalidArgument
from engine.mcp.errors import TEXT_CAP, defect_text, error_text

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=50) | st.integers(0, 5_000).map(
    "x".__mul__
)


def test_a_refusal_carries_code_title_message_hint_and_candidates() -> None:
    error = Ambiguous(
        "Two sessions begin with 5d", "Ids may be shortened.", "Give more of it.", candidates=("5d0c", "5d1f")
    )

    assert error_text(error) == (
        "ambiguous: Two sessions begin with 5d. Ids may be shortened. Give more of it.\nCandidates: 5d0c, 5d1f"
    )


def test_what_is_missing_leaves_no_gap() -> None:
    assert error_text(EngineError("Something is off!")) == "engine_error: Something is off!"


@given(title=ANY_TEXT, message=ANY_TEXT, hint=ANY_TEXT, candidates=st.lists(ANY_TEXT, max_size=30))
def test_every_refusal_is_short_printable_and_keeps_its_hint(
    title: str, message: str, hint: str, candidates: list[str]
) -> None:
    text = error_text(InvalidArgument(title, message, hint, candidates=tuple(candidates)))

    text.encode("utf-8")
    assert len(text) < TEXT_CAP
    assert text.startswith("invalid_argument: ")


def test_a_long_message_gives_way_to_the_hint() -> None:
    text = error_text(EngineError("Broken", "x" * 9_000, "Call again."))

    assert text.endswith("… Call again.")


def test_a_defect_says_that_it_is_ours() -> None:
    assert defect_text("status").startswith("internal_error: Backscroll failed while answering status.")
