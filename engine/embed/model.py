"""The one place that touches torch and sentence-transformers, and only inside the worker process.

Importing this module imports neither; `SentenceModel` does, when it is made (4 to 6 s, 490 MB).
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from engine.core.vectors import ModelIdentity
from engine.embed.location import revision_of
from engine.embed.passages import Passage, passages_of
from engine.embed.precision import chosen_precision

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from engine.embed.precision import Precision

    Vectors = npt.NDArray[np.float32]

SELF_TEST_S = 0.4
"""For each precision, where the processor does not say itself that bfloat16 is fast."""


LENGTH_STEP = 16
"""Passages are filled up to a multiple of so many tokens: torch keeps code and buffers for every length it has met, 240
MB after 800 texts, 80 with this, in the same time."""


class Model(Protocol):
    """A model, loaded. Any thread may ask: several compute side by side."""

    @property
    def identity(self) -> ModelIdentity:
        """What its vectors are marked with."""
        ...

    @property
    def precision(self) -> str:
        """`float32` or `bfloat16`."""
        ...

    def passages(self, text: str) -> list[Passage]:
        """Return the passages of a text, in order, at least one."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 for each text."""
        ...


class _Tokenizer(Protocol):
    """What is used of a tokenizer of `transformers`."""

    is_fast: bool

    def __call__(self, text: str, **options: Any) -> dict[str, Any]: ...

    def num_special_tokens_to_add(self) -> int: ...


class _Transformer(Protocol):
    """What is used of `sentence_transformers.SentenceTransformer`."""

    tokenizer: _Tokenizer
    max_seq_length: int | None
    preprocess: Callable[..., dict[str, Any]]

    def encode(self, sentences: list[str], **options: Any) -> npt.NDArray[Any]: ...

    def to(self, dtype: Any) -> object: ...

    def eval(self) -> object: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> object: ...


class SentenceModel:
    """A sentence-transformers model on the CPU, one core for each call.

    Several calls at a time use several cores: each goes its own way from end to end, where the threads of one shared
    call would wait for each other after every product. Measured with two threads on the passages of real transcripts:
    3.5 s of processor time against 5.7, and twice as fast by the clock; more so when others use the cores too.

    Args:
        folder: Of the model. Nothing is ever fetched from a hub.
        precision: `auto`, `float32` or `bfloat16`.

    Raises:
        OSError: The folder holds no model, or a damaged one.
    """

    def __init__(self, folder: str, *, precision: str = "auto") -> None:
        os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        os.environ["TRANSFORMERS_VERBOSITY"] = "error"
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
        os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
        import torch  # noqa: PLC0415 - the heavy half of this program, for the worker only
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - as above

        torch.set_num_threads(1)
        # `cpu`: initialising the Apple GPU from a background process hangs (architecture).
        self._model = cast("_Transformer", SentenceTransformer(folder, device="cpu", local_files_only=True))
        self._model.eval()
        # A tokenizer may be used by one thread at a time; reading is short beside computing.
        self._reading = threading.Lock()
        preprocess = self._model.preprocess

        def one_at_a_time(*inputs: Any, **options: Any) -> dict[str, Any]:
            with self._reading:
                return preprocess(*inputs, **options)

        self._model.preprocess = one_at_a_time
        self._limit = max(8, (self._model.max_seq_length or 512) - self._model.tokenizer.num_special_tokens_to_add())
        dimension = int(self.encode(["dimension"]).shape[1])
        self._identity = ModelIdentity(model_name(folder), revision_of(Path(folder)), dimension, pooling_of(folder))
        self._precision = chosen_precision(
            precision,
            is_native=torch.cpu._is_avx512_bf16_supported,  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - torch has no public name for it
            speed=self._speed,
        )
        if self._precision == "bfloat16":
            self._model.to(torch.bfloat16)

    @property
    def identity(self) -> ModelIdentity:
        """What its vectors are marked with."""
        return self._identity

    @property
    def precision(self) -> str:
        """`float32` or `bfloat16`."""
        return self._precision

    def passages(self, text: str) -> list[Passage]:
        """Return the passages of a text, in order, at least one."""
        with self._reading:
            encoded = self._model.tokenizer(
                text, add_special_tokens=False, return_offsets_mapping=True, return_attention_mask=False, verbose=False
            )
        tokens: list[tuple[int, int]] = encoded["offset_mapping"]
        return passages_of(text, tokens, self._limit)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 for each text."""
        made = self._model.encode(
            list(texts),
            batch_size=max(1, len(texts)),
            show_progress_bar=False,
            convert_to_numpy=True,
            processing_kwargs={"text": {"pad_to_multiple_of": LENGTH_STEP}},
        )
        vectors = np.asarray(made, dtype=np.float32)
        # bfloat16 normalises to 3 digits only.
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.maximum(lengths, np.float32(1e-12))

    def _speed(self, precision: Precision) -> float:
        """Return passages a second in a precision; the weights are what they were afterwards."""
        import torch  # noqa: PLC0415 - loaded already

        # Weights that were rounded stay rounded: back in float32 they would be those of bfloat16, only slower.
        kept = {name: weights.clone() for name, weights in self._model.state_dict().items()}
        self._model.to(getattr(torch, precision))
        try:
            return self._measured()
        finally:
            self._model.to(torch.float32)
            self._model.load_state_dict(kept)

    def _measured(self) -> float:
        sample = ["which command did we use to build it, and why did the first one fail? " * 8] * 4
        self.encode(sample)
        started = time.perf_counter()
        done = 0
        while time.perf_counter() - started < SELF_TEST_S:
            self.encode(sample)
            done += len(sample)
        return done / (time.perf_counter() - started)


def model_name(folder: str) -> str:
    """Return what a model is called: its folder's name, for the bundled one its package's."""
    path = Path(folder)
    return path.parent.name if path.name == "model" else path.name


def pooling_of(folder: str) -> str:
    """Return how a model makes one vector of many, as its folder says it."""
    for config in sorted(Path(folder).glob("*_Pooling/config.json")):
        fields: dict[str, Any] = json.loads(config.read_text(encoding="utf-8"))
        if isinstance(fields.get("pooling_mode"), str):
            return fields["pooling_mode"]
        chosen = sorted(
            name.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
            for name, value in fields.items()
            if value is True
        )
        return "+".join(name for name in chosen if name != "include_prompt") or "mean"
    return "mean"
