"""Hidden states of replies, kept in a folder for probes: one safetensors file for each reply, in a folder for each
game, with `states` (tokens, layers, width) in float16, `tokens` (their ids), and as metadata what was asked of whom, of
which model, and where the answer begins, after any reasoning. A statement of a corpus and the states at its words have
game_id, speaker, day, phase and round in common.

Players in this process write them, and those behind a vLLM server that extracts hidden states: asked with
`kv_transfer_params`, it answers with the path of a safetensors file, `hidden_states` (tokens, layers, width) and
`token_ids` of the prompt and the reply, which it writes while it holds a lock on that path with `.lock` after it.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import quote, unquote_plus

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, model_validator

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import Reading, read_bytes, read_text
from liescope.common.stores import check_not_in_store, local
from liescope.games.core import SPEECH, Ask, Place
from liescope.generate.players.player_registry import SeatOptions

ASKED_FOR = {"kv_transfer_params": {"include_output_tokens": True}}
"""What a request for hidden states holds."""
_NAMED = re.compile(r"[?&]states_to=([^&\"]+)")
_LARGEST = 2**32  # bytes of a server's file
_LOCKED, _PATIENCE, _PAUSE = 60.0, 2.0, 0.05  # seconds to wait for a locked file, for one to appear, and between looks


def _listed(given: object) -> object:
    return given.split(",") if isinstance(given, str) else given


class StatesOptions(SeatOptions):
    """The options of players whose hidden states can be kept."""

    states: Annotated[tuple[int, ...], BeforeValidator(_listed)] = Field(
        default=(), description="layers whose hidden states are kept, such as 12,20"
    )
    states_to: str = Field(default="", description="the folder for them")

    @model_validator(mode="after")
    def _together(self) -> Self:
        check_not_in_store(self.states_to)
        if bool(self.states) != bool(self.states_to):
            raise UsageError("states (layers) and states_to (a folder) go together; give both or neither")
        return self


@dataclass(frozen=True, slots=True, eq=False)
class KeptStates:
    """One reply. kind, phase: values of `AskKind` and `Phase`; answer: the place of the first token after reasoning;
    layers: their numbers, from 1; tokens: (tokens,) their ids; states: (tokens, layers, width) float16; model: whose.
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
    model: str = ""

    @property
    def mean(self) -> NDArray[np.float32]:
        """(layers, width): the average over the tokens of the answer, as the probe reads a statement."""
        found: NDArray[np.float32] = self.states[self.answer :].astype(np.float32).mean(0)
        return found


def keep_states(
    folder: Path, ask: Ask, layers: Sequence[int], tokens: Any, states: Any, answer: int, model: str = ""
) -> None:
    """Write the states of one reply, if it holds an answer. tokens: (tokens,); states: (tokens, layers, width). Raises
    UsageError if the folder cannot be written to.
    """
    from safetensors.numpy import save

    if states is None or answer >= len(tokens):
        return
    asked = {"game_id": ask.game, "speaker": ask.seat, "kind": ask.kind.value, "phase": ask.phase.value}
    place = {"step": ask.step, "day": ask.day, "round": ask.round, "answer": answer}
    path = _path(folder, ask)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    kept = {"states": np.ascontiguousarray(states, np.float16), "tokens": np.array(tokens)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        facts = json.dumps({**asked, **place, "layers": list(layers), "model": model})
        unfinished.write_bytes(save(kept, {"reply": facts}))
        unfinished.replace(path)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"{path.parent} cannot be written ({why}); name another states_to") from error


async def keep_served(folder: Path, ask: Ask, layers: Sequence[int], served: str, prompt: int, model: str) -> None:
    """Keep the states that a server wrote for one reply. served: its file, "" for none; prompt: how many tokens the
    prompt has. Raises UsageError if there are none, or not those of these layers.
    """
    if _path(folder, ask).exists():
        return
    tokens, states = await _served(served)
    if states.ndim != 3 or states.shape[:2] != (len(tokens), len(layers)):
        raise UsageError(
            f"{served} has states of shape {states.shape} for {len(tokens):,} tokens, and states names {len(layers)} "
            "layers; name those that the server extracts, in its order"
        )
    if prompt >= len(tokens):
        raise UsageError(f"{served} has no states of the reply, only of its prompt; update the vLLM that wrote it")
    largest = float(np.finfo(np.float16).max)
    keep_states(folder, ask, layers, tokens[prompt:], states[prompt:].clip(-largest, largest), 0, model)


async def _served(served: str) -> tuple[Any, Any]:
    """(tokens, states) of a server's file, once it is written."""
    path, waited = Path(served), 0.0
    advice = "start vLLM with its method extract_hidden_states, and a folder for them that this machine sees"
    while (locked := _is_locked(Path(f"{served}.lock"))) or not (path.suffix == ".safetensors" and path.is_file()):
        if not served or waited > (_LOCKED if locked else _PATIENCE):
            raise UsageError(f"the server keeps no hidden states{f' at {served[:200]}' if served else ''}; {advice}")
        waited += _PAUSE
        await asyncio.sleep(_PAUSE)
    with Reading(path, advice):
        return _tensors(read_bytes(path, _LARGEST))


def _is_locked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _tensors(content: bytes) -> tuple[Any, Any]:
    """The tensors `token_ids` and `hidden_states`; numpy has no bfloat16, which is the upper half of a float32."""
    from safetensors import deserialize

    found = {}
    for name, one in deserialize(content):  # type: ignore[no-untyped-call]
        if name in ("token_ids", "hidden_states"):
            kind = {"BF16": "<u2", "F16": "<f2", "F32": "<f4", "I64": "<i8", "I32": "<i4"}[one["dtype"]]
            values = np.frombuffer(one["data"], kind).reshape(one["shape"])
            if one["dtype"] == "BF16":
                values = (values.astype("<u4") << 16).view("<f4")
            found[name] = values
    return found["token_ids"], found["hidden_states"]


def read_states(folder: str | os.PathLike[str]) -> Iterator[KeptStates]:
    """The replies whose states a folder keeps, game by game and step by step. Raises BadData for a damaged file,
    MissingExtra.
    """
    from safetensors import safe_open

    for path in sorted(Path(folder).glob("*/*.safetensors")):
        with Reading(path, "delete it"), safe_open(path, "numpy") as kept:
            facts = json.loads(kept.metadata()["reply"])
            layers = tuple(map(int, facts.pop("layers")))
            tensors = {name: kept.get_tensor(name) for name in ("tokens", "states")}
            found = KeptStates(**facts, layers=layers, **tensors)
            shaped = found.states.ndim == 3 and found.states.shape[:2] == (len(found.tokens), len(layers))
            if found.states.dtype != np.float16 or not shaped or not 0 <= found.answer < len(found.tokens):
                raise BadData(f"{path} does not hold what its metadata says; delete it")
        yield found


def states_said(
    given: str, model: str, last: bool, layer: int = 0
) -> tuple[tuple[int, ...], dict[Place, NDArray[np.float16]]]:
    """(layers, by statement (layers, width), the mean over its answer's tokens, or the state at the last of them).

    given: a folder that players named in `states_to`, or their run's; model: of which model, where several kept theirs;
    layer: this one alone, 0 for all. Raises UsageError where there are none, BadData for states that are not alike.
    """
    folders = tuple(_folders(given))
    times = [path.stat().st_mtime_ns for folder in folders for path in folder.glob("*/*.safetensors")]
    found = _said(folders, last, (len(times), max(times, default=0)))
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
    at = [layers.index(layer)] if layer else [*range(len(layers))]
    return tuple(layers[one] for one in at), {place: states[at] for place, (_, states) in found[name].items()}


@lru_cache(maxsize=1)
def _said(
    folders: tuple[Path, ...], last: bool, _changed: object
) -> Mapping[str, Mapping[Place, tuple[tuple[int, ...], NDArray[np.float16]]]]:
    """By model and statement, its layers and states."""
    found: dict[str, dict[Place, tuple[tuple[int, ...], NDArray[np.float16]]]] = {}
    for one in (one for folder in folders for one in read_states(folder) if one.kind in SPEECH):
        place = one.game_id, one.speaker, one.day, one.phase, one.round
        found.setdefault(one.model, {})[place] = one.layers, one.states[-1] if last else one.mean.astype(np.float16)
    return found


def _folders(given: str) -> Iterator[Path]:
    """A folder, and those that the seats of its run name in `states_to`."""
    from liescope.generate.runs.run_folder import CONFIG_FILE

    folder = local(given)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {given} with kept states")
    yield folder
    if (config := folder / CONFIG_FILE).is_file():
        yield from {Path(unquote_plus(one)) for one in _NAMED.findall(read_text(config))} - {folder}


def _path(folder: Path, ask: Ask) -> Path:
    return folder / _safe(ask.game) / f"{ask.step:06}-{_safe(ask.seat)}.safetensors"


def _safe(name: str) -> str:
    """A name made safe for a file."""
    return quote(name, safe="").replace(".", "%2E")
