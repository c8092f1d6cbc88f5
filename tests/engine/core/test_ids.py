"""Keys of messages and the short ids of chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import NotFound
from engine.core.ids import KEY_BITS, chunk_id, message_key, pack_uuid, parse_chunk_id, unpack_uuid

KEYS = st.integers(0, 2**KEY_BITS - 1)


@given(KEYS, st.integers(0, 1023))
def test_a_chunk_id_tells_its_message_and_block(key: int, block: int) -> None:
    text = chunk_id(key, block)
    assert len(text) == (13 if block < 32 else 14)
    assert parse_chunk_id(text) == (key, block)
    assert parse_chunk_id(f" {text.upper()} ") == (key, block)


def test_the_id_of_a_message_never_changes() -> None:
    """People and Claude keep chunk ids: a new version must make the same ones."""
    assert chunk_id(message_key("11111111-1111-4111-8111-111111111111"), 0) == "06t1ejnjndvj0"


@given(KEYS, st.integers(1024, 10**9))
def test_blocks_beyond_the_last_number_share_it(key: int, block: int) -> None:
    assert chunk_id(key, block) == chunk_id(key, 1023)


@pytest.mark.parametrize(
    "text", ["", "short", "0" * 12, "0" * 15, "000000000000u", "0000 00000000", "日本語0000000000"]
)
def test_other_texts_are_no_chunk_ids(text: str) -> None:
    with pytest.raises(NotFound) as refused:
        parse_chunk_id(text)
    assert "keyword_search" in refused.value.hint


@given(st.uuids().map(str) | st.text(max_size=40))
def test_a_uuid_is_stored_and_read_back(uuid: str) -> None:
    stored = pack_uuid(uuid)
    assert unpack_uuid(stored) == uuid
    assert 0 <= message_key(uuid) < 2**KEY_BITS


def test_only_uuids_written_the_usual_way_are_packed() -> None:
    usual = "0a1b2c3d-1111-4111-8111-00000000000f"
    assert pack_uuid(usual) == bytes.fromhex(usual.replace("-", ""))
    for other in (usual.upper(), usual[:-1], usual.replace("-", ""), f"{{{usual}}}", usual + "\n"):
        assert pack_uuid(other) == other


def test_any_uuid_has_a_key_even_a_damaged_one() -> None:
    assert message_key("\ud800") != message_key("\ud801")
