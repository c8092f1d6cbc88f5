"""Finds real transcripts for the tests that want them; without any those tests are skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def corpus_folder() -> Path:
    """Return the folder of real transcripts (`BACKSCROLL_CORPUS`, else beside the checkout), or skip the test."""
    named = os.environ.get("BACKSCROLL_CORPUS")
    folder = Path(named) if named else ROOT.parent / "shared" / "corpus"
    if not (folder / "projects").is_dir():
        pytest.skip("no corpus of real transcripts beside the checkout")
    return folder
