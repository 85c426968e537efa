"""A causal language model from a folder: what it makes of some tokens, layer by layer."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liescope.common.errors import MissingExtra, UsageError
from liescope.common.reading import Reading
from liescope.common.sentence_encoder import read_transformer, transformer_folder
from liescope.detectors.textualize import by_length

_CHOICES = "give the Hub id of a causal language model that you can reach, or its folder"
_FILES = ("*.json", "*.txt", "*.model", "*.safetensors")
_BATCH_TOKENS = {"cpu": 2048, "cuda": 2**14}
_LARGEST = float(np.finfo(np.float16).max)


class Passage(NamedTuple):
    """before: what a model reads first; own: the words that it is read at."""

    before: str
    own: str


class LanguageModel:
    """A tokenizer and a model; made by `language_model`."""

    def __init__(self, folder: Path, tokenizer: Any, model: Any) -> None:
        self.folder = folder
        self.model = model
        self._tokenizer = tokenizer

    @property
    def layers(self) -> int:
        """How many layers there are; the last is number `layers`, and 0 would be the tokens' embeddings."""
        return int(self.model.config.get_text_config().num_hidden_layers)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of its settings, vocabulary and weights, and of the precision it computes with."""
        found = sha256(str(self.model.dtype).encode())
        for path in _files(self.folder):
            with path.open("rb") as stream:
                found.update(path.name.encode() + file_digest(stream, "sha256").digest())
        return found.hexdigest()

    def states(self, passages: Sequence[Passage], layers: Sequence[int], longest: int) -> NDArray[np.float16]:
        """(passages, layers, width): the mean hidden state at the tokens of each passage's own words, of several layers
        from one pass. longest: tokens of a pass. The words before are cut where they do not fit; own words that do not
        fit are read in several passes.
        """
        import torch

        windows = [(at, *window) for at, one in enumerate(passages) for window in self._windows(one, longest)]
        lengths = [len(ids) for _, ids, _ in windows]
        width = self.model.config.get_text_config().hidden_size
        sums, counts = np.zeros((len(passages), len(layers), width), np.float32), np.zeros(len(passages), np.float32)
        for part in by_length(lengths, _BATCH_TOKENS[self.model.device.type]):
            ids, read = self._padded([windows[i][1] for i in part])
            own = read.float()
            for row, i in enumerate(part):
                own[row, : windows[i][2]] = 0
            with torch.inference_mode():
                # The body alone: the probabilities of next words would take more memory than all its layers.
                hidden = self.model.base_model(
                    input_ids=ids, attention_mask=read, output_hidden_states=True, use_cache=False
                ).hidden_states
                pooled = [torch.einsum("bth,bt->bh", hidden[n].float(), own.to(hidden[n].device)) for n in layers]
            found = np.stack([one.cpu().numpy() for one in pooled], axis=1)
            at = [windows[i][0] for i in part]
            np.add.at(sums, at, found)
            np.add.at(counts, at, own.sum(1).cpu().numpy())
        return np.clip(sums / counts[:, None, None], -_LARGEST, _LARGEST).astype(np.float16)

    def copy_to(self, folder: Path) -> None:
        """Copy its files."""
        folder.mkdir(parents=True, exist_ok=True)
        for path in _files(self.folder):
            shutil.copyfile(path, folder / path.name)

    @property
    def _first(self) -> list[int]:
        return [] if self._tokenizer.bos_token_id is None else [self._tokenizer.bos_token_id]

    def _windows(self, passage: Passage, longest: int) -> Iterator[tuple[list[int], int]]:
        """Token ids of each pass, and where the own words begin in it."""
        first = self._first
        own = self._ids(passage.own) or [self._tokenizer.eos_token_id or 0]
        room = min(longest, self._most_tokens) - len(first)
        left = max(room - len(own), 0)
        begin = first + (self._ids(passage.before)[-left:] if left else [])
        yield begin + own[:room], len(begin)
        for start in range(room, len(own), room):
            yield first + own[start : start + room], len(first)

    @property
    def _most_tokens(self) -> int:
        return int(getattr(self.model.config.get_text_config(), "max_position_embeddings", None) or 2**20)

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return found

    def _padded(self, rows: Sequence[list[int]]) -> tuple[Any, Any]:
        """(ids, mask) as tensors; what is padded stands after the words, where no word of a causal model sees it."""
        import torch

        ids = torch.zeros((len(rows), max(map(len, rows))), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row)
            mask[number, : len(row)] = 1
        return ids.to(self.model.device), mask.to(self.model.device)


def language_model(name: str) -> LanguageModel:
    """The causal model of a Hub id or folder, loaded again only if its weights change: safetensors alone, none of its
    code; bf16 and spread over the GPUs where there are any.

    Raises UsageError if there is no such model, BadData if it is more than data or cannot be read, MissingExtra.
    """
    if not name:
        raise UsageError(f"no language model is named; {_CHOICES}, with --model")
    folder = transformer_folder(name, "language model", _CHOICES)
    return _loaded(folder, tuple(path.stat().st_mtime_ns for path in _files(folder)))


@lru_cache(maxsize=1)
def _loaded(folder: Path, _changed: tuple[int, ...]) -> LanguageModel:
    try:
        import torch
    except ImportError as error:
        raise MissingExtra("torch", "train") from error
    gpu = torch.cuda.is_available()
    place: dict[str, Any] = {"dtype": torch.bfloat16, "device_map": "auto"} if gpu else {"dtype": torch.float32}
    with Reading(f"the language model {str(folder)!r}", _CHOICES):
        tokenizer, model, _ = read_transformer("AutoModelForCausalLM", folder, **place)
    return LanguageModel(folder, tokenizer, model.eval())


def _files(folder: Path) -> list[Path]:
    return sorted(path for pattern in _FILES for path in folder.glob(pattern) if path.is_file())
