"""A checkout with nothing in it but what dev.py reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import dev

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = '[project]\nname = "backscroll"\ndependencies = ["torch>=2.13"]\n'


@pytest.fixture
def checkout(tmp_path: Path) -> dev.Checkout:
    """Give a checkout that was never prepared, on a system where no package is missing."""
    checkout = dev.Checkout(tmp_path / "checkout")
    checkout.apt_list.parent.mkdir(parents=True)
    checkout.apt_list.write_text("# run: nothing\n", encoding="utf-8")
    checkout.constraints.write_text("torch==2.13.0\n", encoding="utf-8")
    checkout.project.write_text(PROJECT, encoding="utf-8")
    return checkout
