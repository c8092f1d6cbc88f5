from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.text import shorten
from engine.transcripts import chunking
from engine.transcripts.redaction import redact, redacted_text
from engine.transcripts.secret_shapes import KINDS
from tests.helpers.secrets import harmless, secrets

SEEDS = range(5)


def test_well_known_secrets_are_caught() -> None:
    made = [each for seed in SEEDS for each in secrets(seed)]
    missed = [(kind, text) for kind, text, secret in made if secret in redacted_text(text)]

    assert len({kind for kind, _, _ in made}) >= 30
    assert len(missed) <= 0.01 * len(made), missed
    assert {kind for kind, _, _ in made} <= set(KINDS)


def test_what_only_looks_like_a_secret_stays() -> None:
    made = [each for seed in SEEDS for each in harmless(seed)]
    changed = [redacted_text(text) for text in made if redacted_text(text) != text]

    assert len(set(made)) >= 200
    assert len(changed) <= 0.01 * len(made), changed


@pytest.mark.parametrize(
    ("kind", "text", "secret"), secrets(7), ids=lambda value: value[:12] if value in KINDS else "-"
)
def test_the_kind_is_said_and_counted(kind: str, text: str, secret: str) -> None:
    found = redact(text)

    assert secret not in found.text
    assert f"[redacted:{kind}]" in found.text
    assert found.counts[kind] >= 1


def test_what_stands_around_a_secret_stays() -> None:
    url = "postgres://app:" + "s3cr3tW0rd9" + "@db.acme.dev:5432/shop"

    assert redacted_text(f"connect to {url} first") == (
        "connect to postgres://app:[redacted:url_password]@db.acme.dev:5432/shop first"
    )


def test_redacting_again_changes_nothing() -> None:
    for _, text, _ in secrets(3):
        once = redacted_text(text)
        assert redact(once).text == once
        assert sum(redact(once).counts.values()) == 0


def test_several_secrets_in_one_text_are_all_replaced() -> None:
    made = secrets(11)
    text = "\n".join(part for _, part, _ in made)

    left = [secret for _, _, secret in made if secret in redacted_text(text)]

    assert left == []


def test_a_secret_behind_an_escaped_line_feed_is_caught() -> None:
    key = "gh" + "p_" + "aB3" * 12

    assert key not in redacted_text(rf"first line\n{key}\nlast")


def test_half_of_a_secret_beside_a_cut_is_taken_out() -> None:
    key = "sk-" + "ant-api03-" + "aB3_" * 60
    text, removed = chunking.cut("word " * 100 + key + " word" * 100, 800)
    assert removed

    shown = redacted_text(text)

    assert "aB3_aB3_aB3_" not in shown
    assert shown.startswith("word word")


def test_half_of_a_secret_at_the_end_of_a_shortened_text_is_taken_out() -> None:
    key = "do" + "p_v1_" + "a1b2c3d4" * 8
    path = "/home/dev/" + "a-folder-with-a-long-name/" * 4
    for before in range(100, 200):
        assert "a1b2c3d4" * 4 not in redacted_text(shorten(("ab " * 70)[:before] + " " + key, 200))
        assert "[redacted" not in redacted_text(shorten(("ab " * 70)[:before] + " " + path, 200))


def test_half_of_a_private_key_is_taken_out() -> None:
    begin, end = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"
    body = "\n".join("aB3/" * 16 for _ in range(80))
    text, removed = chunking.cut(f"see\n{begin}\n{body}\n{end}\nnext", 2000)
    assert removed

    assert "aB3/" not in redacted_text(text)


def test_letters_that_grow_in_lower_case_move_nothing() -> None:
    assert redacted_text("İİİ access_token = " + "aB3dE5gH7" * 4 + " İ") == "İİİ access_token = [redacted:token] İ"


@given(st.text(max_size=400))
def test_any_text_is_taken(text: str) -> None:
    assert redact(redact(text).text).text == redact(text).text


@given(st.text(alphabet="abc \n", max_size=300))
def test_plain_text_is_left_alone(text: str) -> None:
    assert redact(text).text == text
