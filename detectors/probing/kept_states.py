"""The hidden states that players kept of what they said, for the statements of a corpus."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote_plus

import numpy as np

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import read_text
from liescope.common.stores import local
from liescope.detectors.examples import Place
from liescope.detectors.probing.language_model import States
from liescope.games.core import AskKind

_SPOKEN = (AskKind.SPEAK, AskKind.EXPLAINED_VOTE)
_NAMED = re.compile(r"[?&]states_to=([^&\"]+)")


def kept_states(given: str, model: str, last: bool, layer: int = 0) -> tuple[tuple[int, ...], dict[Place, States]]:
    """(layers, by statement (layers, width), the mean over its answer's tokens, or the state at the last of them).

    given: a folder that players named in `states_to`, or their run's; model: of which model, where several kept theirs;
    layer: this one alone, 0 for all. Raises UsageError where there are none, BadData for states that are not alike.
    """
    folders = tuple(_folders(given))
    times = [path.stat().st_mtime_ns for folder in folders for path in folder.glob("*/*.safetensors")]
    found = _every(folders, last, (len(times), max(times, default=0)))
    if not found:
        raise UsageError(
            f"{given} keeps no states of anything said; name the folder that players were given in states_to, or the "
            "run's"
        )
    name = next(iter(found)) if len(found) == 1 else Path(model).resolve().name if Path(model).is_dir() else model
    if name not in found:
        raise UsageError(f"{given} keeps states of {', '.join(sorted(found))}, not of {name}; name one with --model")
    (layers, _), *others = {(layers, states.shape[1]) for layers, states in found[name].values()}
    if others:
        raise BadData(f"{given} keeps different layers of {name or 'a model'}; learn from runs that keep the same")
    if layer and layer not in layers:
        raise UsageError(f"{given} keeps the layers {', '.join(map(str, layers))}; --layer {layer} is none of them")
    at = slice(layers.index(layer), layers.index(layer) + 1) if layer else slice(None)
    return layers[at], {place: states[at] for place, (_, states) in found[name].items()}


@lru_cache(maxsize=1)
def _every(
    folders: tuple[Path, ...], last: bool, _changed: object
) -> Mapping[str, Mapping[Place, tuple[tuple[int, ...], States]]]:
    """By model and statement, its layers and states."""
    from liescope.generate.players.kept_states import read_states  # with everything that players need

    found: dict[str, dict[Place, tuple[tuple[int, ...], States]]] = {}
    for folder in folders:
        for one in read_states(folder):
            if one.kind in _SPOKEN:
                place = one.game_id, one.speaker, one.day, one.phase, one.round
                state = one.states[-1] if last else one.mean.astype(np.float16)
                found.setdefault(one.model, {})[place] = one.layers, state
    return found


def _folders(given: str) -> Iterator[Path]:
    folder = local(given)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {given} with kept states")
    from liescope.generate.runs.run_folder import CONFIG_FILE

    config = folder / CONFIG_FILE
    yield folder
    if config.is_file():
        yield from {Path(unquote_plus(one)) for one in _NAMED.findall(read_text(config))} - {folder}
