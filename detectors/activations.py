"""Hidden states that are computed once: remembered while a model is loaded, and kept in a folder if one is named.

One safetensors file for each statement, under the hash of the model, the text and the layers. A file that is damaged is
computed again: up to rounding, since a pass with other texts beside it, or on another processor, may add up in another
order.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.detectors.language_model import LanguageModel, Passage
from liescope.detectors.protocol import Progress, silent

_AT_ONCE = 256
_MEMORY = 2**30  # bytes remembered of statements that are only scored
_NAME = "states"

States = NDArray[np.float16]
_remembered: WeakKeyDictionary[LanguageModel, dict[str, States]] = WeakKeyDictionary()


class Activations:
    """The states of one model at some layers. longest: tokens of a pass; cache: the folder, None for memory alone."""

    def __init__(self, model: LanguageModel, layers: Sequence[int], longest: int, cache: Path | None = None) -> None:
        self.model, self.layers, self.longest = model, tuple(layers), longest
        self._folder = cache and cache / model.fingerprint[:16]
        self._seen = _remembered.setdefault(model, {})

    def of(self, passages: Sequence[Passage], progress: Progress = silent, remember: bool = False) -> States:
        """(passages, layers, width) float16. remember: keep all of them; otherwise only while there is room.

        Raises UsageError if the cache cannot be written.
        """
        keys = [self._key(one) for one in passages]
        wanted = dict(zip(keys, passages, strict=True))
        found = {key: states for key in wanted if (states := self._find(key)) is not None}
        new = sorted((key for key in wanted if key not in found), key=lambda key: len("".join(wanted[key])))
        for start in range(0, len(new), _AT_ONCE):
            progress("reading hidden states", start, len(new))
            part = new[start : start + _AT_ONCE]
            states = self.model.states([wanted[key] for key in part], self.layers, self.longest)
            for key, one in zip(part, states, strict=True):
                found[key] = one
                self._keep(key, one)
        if new:
            progress("reading hidden states", len(new), len(new))
        held = sum(one.nbytes for one in (*self._seen.values(), *found.values()))
        if remember or held <= _MEMORY:
            self._seen |= found
        return np.stack([found[key] for key in keys])

    def _key(self, passage: Passage) -> str:
        return sha256(json.dumps([self.layers, self.longest, *passage]).encode()).hexdigest()

    def _file(self, key: str) -> Path | None:
        return self._folder and self._folder / key[:2] / f"{key}.safetensors"

    def _find(self, key: str) -> States | None:
        if key in self._seen:
            return self._seen[key]
        path = self._file(key)
        return _read(path, len(self.layers)) if path and path.is_file() else None

    def _keep(self, key: str, states: States) -> None:
        from safetensors.numpy import save

        if (path := self._file(key)) is None:
            return
        unfinished = path.with_name(f".{key}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_bytes(save({_NAME: np.ascontiguousarray(states)}))
            unfinished.replace(path)
        except OSError as error:
            why = error.strerror or error
            raise UsageError(f"{path.parent} cannot be written ({why}); choose another --cache") from error


def _read(path: Path, layers: int) -> States | None:
    """What `_keep` wrote; None for anything else."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        states = load(path.read_bytes())[_NAME]
    except (OSError, KeyError, ValueError, SafetensorError):
        return None
    sound = states.dtype == np.float16 and states.ndim == 2 and len(states) == layers and np.isfinite(states).all()
    return states if sound else None
