"""Hidden states at the tokens of replies, kept in a folder for probes.

One safetensors file for each reply, in a folder for each game: `states` (tokens, layers, width) in float16, `tokens`
(their ids), and as metadata what was asked of whom and where the answer begins, after any reasoning. A statement of a
corpus and the states at its words have game_id, speaker, day, phase and round in common.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import Reading
from liescope.games.core import Ask

_FORMAT = "1"
_TEXTS, _NUMBERS = ("game_id", "speaker", "kind", "phase"), ("step", "day", "round", "answer")


@dataclass(frozen=True, slots=True, eq=False)
class KeptStates:
    """One reply. kind, phase: values of `AskKind` and `Phase`; answer: the place of the first token after reasoning;
    tokens: (tokens,) their ids; layers: their numbers, from 1; states: (tokens, layers, width) float16.
    """

    game_id: str
    speaker: str
    kind: str
    phase: str
    step: int
    day: int
    round: int
    answer: int
    layers: tuple[int, ...]
    tokens: NDArray[np.int64]
    states: NDArray[np.float16]

    @property
    def mean(self) -> NDArray[np.float32]:
        """(layers, width): the average over the tokens of the answer, as the probe reads a statement."""
        found: NDArray[np.float32] = self.states[self.answer :].astype(np.float32).mean(0)
        return found


def keep_states(
    folder: Path,
    ask: Ask,
    layers: Sequence[int],
    tokens: NDArray[np.int64],
    states: NDArray[np.float16],
    answer: int = 0,
) -> None:
    """Write the states of one reply, if it holds an answer. Raises UsageError if the folder cannot be written to."""
    from safetensors.numpy import save

    if answer >= len(tokens):
        return
    facts = {
        "format": _FORMAT,
        "game_id": ask.game,
        "speaker": ask.seat,
        "kind": ask.kind.value,
        "phase": ask.phase.value,
        "step": str(ask.step),
        "day": str(ask.day),
        "round": str(ask.round),
        "answer": str(answer),
        "layers": json.dumps(list(layers)),
    }
    path = folder / _safe(ask.game) / f"{ask.step:06}-{_safe(ask.seat)}.safetensors"
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(save({"states": np.ascontiguousarray(states), "tokens": np.array(tokens)}, facts))
        unfinished.replace(path)
    except OSError as error:
        raise UsageError(
            f"{path.parent} cannot be written ({error.strerror or error}); name another states_to"
        ) from error


def read_states(folder: str | os.PathLike[str]) -> Iterator[KeptStates]:
    """The replies whose states a folder keeps, game by game and step by step. Raises BadData for a damaged file,
    MissingExtra.
    """
    from safetensors import safe_open

    for path in sorted(Path(folder).glob("*/*.safetensors")):
        with Reading(path, "delete it"), safe_open(path, "numpy") as kept:
            facts = kept.metadata() or {}
            asked: dict[str, Any] = {name: facts[name] for name in _TEXTS}
            asked |= {name: int(facts[name]) for name in _NUMBERS}
            layers = tuple(map(int, json.loads(facts["layers"])))
            tokens, states = kept.get_tensor("tokens"), kept.get_tensor("states")
            shaped = states.ndim == 3 and states.shape[:2] == (len(tokens), len(layers))
            if states.dtype != np.float16 or not shaped or not 0 <= asked["answer"] < len(tokens):
                raise BadData(f"{path} does not hold what its metadata says; delete it")
        yield KeptStates(**asked, layers=layers, tokens=tokens, states=states)


def _safe(name: str) -> str:
    """A name as that of a file."""
    return quote(name, safe="").replace(".", "%2E")
