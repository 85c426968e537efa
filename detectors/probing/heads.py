"""The heads of a probe: what turns a language model's states into the log-odds of deception. All standardise the states
by what they learned on.

    logistic          a logistic regression
    mean-difference   along the difference of the two classes' means, as Marks and Tegmark (2023) do
    lda               the same, in the metric of the covariance, shrunk as Ledoit and Wolf (2004) do
    mlp               one hidden layer of 64 rectified units
    attention         one learned query weighs the tokens of a statement; at first, it is a logistic regression of their
                      mean, and stays one where nothing else does better

The first three are linear. The last two descend with AdamW, for as many epochs as do best on games that are kept aside,
and then anew on all of them.

A `Checkpoint` has the shape in which the UK AI Security Institute publishes probes and its `lie-detectors` (2026) reads
them: `probe.pt`, a torch file of `state_dict` and `hyperparams`, and `sweep.json`, which lists it. Three architectures
are published: `dim` (a direction), `lr` and `mlp` (of standardised states). A score above `threshold` means deceptive;
`layer` counts decoder layers from 0, so that it is ours less one. A stranger's file is opened with torch's reader of
weights, which knows tensors and plain values. One global more is known by name, the enumeration in which the
architecture is kept, and stands for a text: no code of the file runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, TypeAdapter

from liescope.common.errors import BadData
from liescope.common.reading import Reading, read_json, regular
from liescope.common.statistics import Bools, Floats, logit
from liescope.detectors.detector import Groups
from liescope.detectors.folds import Rows, held_out_rows
from liescope.detectors.logistic import TRAIN_AGAIN, ScaledLogistic

HeadName = Literal["logistic", "mean-difference", "lda", "mlp", "attention"]
ATTENTION = "attention"
_HIDDEN, _EPOCHS, _PATIENCE, _RATE = 64, 40, 8, 3e-3
_BATCH, _BATCHES = 32, 64  # the least statements of a step, and the most steps of an epoch
_ASIDE = 0.2  # of the games, to choose the number of epochs on
_AT_ONCE = 256
_RIDGE = 1e-6  # of standardised states, so that those which never vary have an inverse

Arrays = Mapping[str, NDArray[np.floating[Any]]]


States = NDArray[Any]
"""Of n statements: (n, width), or for attention (n, tokens, width), NaN where a statement has no more tokens."""


@dataclass(frozen=True, slots=True)
class Head:
    """A learned head. arrays: `mean` and `spread`, (width,), of what it learned on; `weights` and `offset` of its last
    layer; of an mlp `hidden` (units, width) and `bias` (units,), of attention `query` (width,); `scale`, where scores
    are distances and no log-odds: the arsinh of the distance over it stands for these, so that none is a certainty.
    """

    name: str
    arrays: Arrays

    def odds(self, states: States) -> Floats:
        """(n,): log-odds of deception."""
        import torch

        arrays = {name: torch.from_numpy(one.astype(np.float64)) for name, one in self.arrays.items()}
        with torch.inference_mode():
            parts = [
                _odds(arrays, states[start : start + _AT_ONCE]).numpy() for start in range(0, len(states), _AT_ONCE)
            ]
        return np.concatenate([np.empty(0), *parts])

    def write(self, path: Path) -> None:
        """As safetensors, with the name in its header."""
        from safetensors.numpy import save_file

        save_file(dict(self.arrays), path, {"head": self.name})

    @classmethod
    def read(cls, path: Path, width: int, name: str) -> Self:
        """A head of this name for states of this width. Raises BadData."""
        from safetensors import safe_open

        with Reading(path, TRAIN_AGAIN):
            with safe_open(regular(path), "np") as file:
                arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - it is no mapping
                found = (file.metadata() or {}).get("head")
            if found != name:
                raise ValueError(f"it is no head of the kind {name}")
            return cls(name, arrays).checked(width)

    def checked(self, width: int, called: Mapping[str, str] = MappingProxyType({})) -> Self:
        """Itself, if its arrays are those of its kind for states of this width. called: names of arrays in messages.
        Raises ValueError.
        """
        arrays, name = self.arrays, self.name
        units = arrays["bias"].size if name == "mlp" and "bias" in arrays else width
        shapes: dict[str, tuple[int, ...]] = {"mean": (width,), "spread": (width,), "weights": (units,), "offset": ()}
        shapes |= {"hidden": (units, width), "bias": (units,)} if name == "mlp" else {}
        shapes |= {"query": (width,)} if name == ATTENTION else {}
        shapes |= {"scale": ()} if name == "mean-difference" and "scale" in arrays else {}
        if arrays.keys() != shapes.keys():
            raise ValueError(f"it holds {', '.join(arrays)} where {', '.join(shapes)} belong")
        for key, shape in shapes.items():
            if arrays[key].shape != shape or arrays[key].dtype.kind != "f" or not np.isfinite(arrays[key]).all():
                raise ValueError(f"{called.get(key, key)} is not made of finite numbers of the shape {shape}")
        if not (arrays["spread"] > 0).all() or not (arrays.get("scale", np.ones(())) > 0).all():
            raise ValueError("its states are divided by 0")
        return self


def learn(name: str, states: States, y: Bools, groups: Groups, strength: float, seed: int) -> Head:
    """Learn a head. y: (n,) True for deceptive; groups: (n,) the game of each, for those to keep aside; strength: the
    inverse of the L2 penalty of `logistic`, of the weight decay of `mlp` and `attention`; the others have none. Raises
    UsageError if the regression does not converge.
    """
    values = states[~np.isnan(states[..., 0])]  # every token's
    mean, spread = values.mean(axis=0, dtype=np.float64), values.std(axis=0, dtype=np.float64)
    spread[spread == 0] = 1.0
    found: Mapping[str, Any]
    if name in ("mlp", ATTENTION):
        found = _descended(name, {"mean": mean, "spread": spread}, states, y, groups, strength, seed)
    elif name == "logistic":
        one = ScaledLogistic.learned(states, y, strength)
        found = {"weights": one.weights, "offset": one.offset}
    else:
        found = _along(name, (states - mean) / spread, y)
    made = {"mean": mean, "spread": spread, **found}
    return Head(name, {key: np.array(one, np.float32, order="C") for key, one in made.items()})


def _along(name: str, scaled: Floats, y: Bools) -> dict[str, Any]:
    """Weights and offset of a head that knows the classes by their means. scaled: (n, width)."""
    from scipy.linalg import solve
    from sklearn.covariance import ledoit_wolf

    high, low = scaled[y].mean(axis=0), scaled[~y].mean(axis=0)
    if name == "mean-difference":
        along = high - low
        one = ScaledLogistic.learned((scaled @ along)[:, None], y, 1.0)
        steep = float(one.weights[0] / one.spread[0])
        return {"weights": along * steep, "offset": one.offset - one.mean[0] * steep}
    inside = scaled - np.where(y[:, None], high, low)
    covariance, _ = ledoit_wolf(inside, assume_centered=True)
    covariance[np.diag_indices_from(covariance)] += _RIDGE
    weights = solve(covariance, high - low, assume_a="pos")
    return {"weights": weights, "offset": logit(y.mean()) - weights @ (high + low) / 2}


def _odds(arrays: Mapping[str, Any], states: States) -> Any:
    """(n,): the log-odds, as a tensor."""
    import torch

    given = torch.from_numpy(np.ascontiguousarray(states)).to(arrays["mean"].dtype)
    scaled = (given - arrays["mean"]) / arrays["spread"]
    if "query" in arrays:
        there = ~scaled[..., 0].isnan()
        tokens = scaled.where(there[..., None], 0.0)
        heed = (tokens @ arrays["query"]).where(there, -torch.inf).softmax(1)
        scaled = torch.einsum("nt,ntw->nw", heed, tokens)
    if "hidden" in arrays:
        scaled = torch.relu(scaled @ arrays["hidden"].T + arrays["bias"])
    odds = scaled @ arrays["weights"] + arrays["offset"]
    return torch.asinh(odds / arrays["scale"]) if "scale" in arrays else odds


def _descended(
    name: str, fixed: Arrays, states: States, y: Bools, groups: Groups, strength: float, seed: int
) -> Arrays:
    """The arrays of a head that is learned step by step."""
    import torch
    from threadpoolctl import threadpool_limits

    truth = torch.from_numpy(y.astype(np.float32))

    def epochs(rows: Rows) -> Iterator[Arrays]:
        """As it begins, and after each epoch."""
        order, begun = np.random.default_rng(seed), _begun(name, fixed, states[rows], y[rows], strength, seed)
        moved = {key: torch.tensor(one, dtype=torch.float32, requires_grad=True) for key, one in begun.items()}
        every = {**{key: torch.tensor(one, dtype=torch.float32) for key, one in fixed.items()}, **moved}
        optimizer = torch.optim.AdamW(moved.values(), lr=_RATE, weight_decay=0.01 / strength)
        while True:
            yield {key: one.detach().numpy().copy() for key, one in every.items()}
            for part in np.array_split(order.permutation(rows), -(-len(rows) // max(_BATCH, len(rows) // _BATCHES))):
                optimizer.zero_grad()
                odds = _odds(every, states[part])
                loss = torch.nn.functional.binary_cross_entropy_with_logits(odds, truth[part])
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()

    learn, check = held_out_rows(np.full(len(y), ""), y, groups, _ASIDE, seed)
    losses = list[float]()
    with threadpool_limits(1):  # as of the products in L-BFGS, those of a step are small
        for arrays in islice(epochs(learn), _EPOCHS + 1) if len(check) else ():
            odds = Head(name, arrays).odds(states[check])
            losses.append(float(np.logaddexp(0, np.where(y[check], -odds, odds)).mean()))
            if len(losses) - int(np.argmin(losses)) > _PATIENCE:
                break
        many = int(np.argmin(losses)) if losses else _EPOCHS // 2
        return next(islice(epochs(np.arange(len(y))), many, None))


def _begun(name: str, fixed: Arrays, states: States, y: Bools, strength: float, seed: int) -> dict[str, Any]:
    """What descent begins with: of attention, all tokens weigh the same."""
    if name == ATTENTION:
        one = ScaledLogistic.learned(np.nanmean((states - fixed["mean"]) / fixed["spread"], axis=1), y, strength)
        weights = one.weights / one.spread
        return {"weights": weights, "offset": one.offset - one.mean @ weights, "query": np.zeros_like(weights)}
    width = len(fixed["mean"])
    hidden = np.random.default_rng(seed).normal(0, width**-0.5, (_HIDDEN, width))
    return {"weights": np.zeros(_HIDDEN), "offset": 0.0, "hidden": hidden, "bias": np.zeros(_HIDDEN)}


FILE, SWEEP = "probe.pt", "sweep.json"
Architecture = Literal["dim", "lr", "mlp"]
_SHAPES: Mapping[str, Architecture] = {"mean-difference": "dim", "logistic": "lr", "lda": "lr", "mlp": "mlp"}
_ENUM = "deception.detectors.utils.types.ProbeArchitecture"
_NAMES: Mapping[Architecture, Mapping[str, str]] = {
    "dim": {"weights": "direction"},
    "lr": {"weights": "linear.weight", "offset": "linear.bias", "mean": "dataset_mean", "spread": "dataset_std"},
    "mlp": {
        **{"weights": "net.2.weight", "offset": "net.2.bias", "mean": "dataset_mean", "spread": "dataset_std"},
        **{"hidden": "net.0.weight", "bias": "net.0.bias"},
    },
}
"""Their names of our arrays."""
_LARGEST, _LARGEST_SWEEP = 2**31, 2**24  # bytes
_MOST = 2**29  # numbers of a tensor, which may be spread over few bytes
_ADVICE = "name a probe.pt as lie-detectors reads it, or the folder or repository that holds one"


class _Hyperparameters(BaseModel):
    """What scoring needs of those that stand there."""

    layer: int | None = Field(default=None, ge=0, lt=512)
    probe_architecture: Architecture


class _Sweep(BaseModel):
    default_filename: str = Field(pattern=r"^[\w.-]+$")


class Checkpoint(NamedTuple):
    """A head and where it reads. layer: ours, from 1, 0 where it reads no states; threshold: the log-odds, as of
    `head.odds`, above which it flags.
    """

    head: Head
    layer: int
    threshold: float

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises BadData for what is no such checkpoint, or would run code."""
        import torch

        with Reading(path, _ADVICE):
            with ZipFile(regular(path, _LARGEST)) as archive:
                if sum(one.file_size for one in archive.infolist()) > _LARGEST:
                    raise ValueError("it unpacks to more than 2 GB")
            with torch.serialization.safe_globals([(str, _ENUM)]):
                found = torch.load(path, map_location="cpu", weights_only=True)
            if not isinstance(found, dict) or not {"state_dict", "hyperparams"} <= found.keys():
                raise ValueError("it holds no state_dict with hyperparams")
            told = _Hyperparameters.model_validate(found["hyperparams"])
            head, threshold = _read_head(told.probe_architecture, found["state_dict"])
        return cls(head, 0 if told.layer is None else told.layer + 1, threshold)

    def write(self, folder: Path, trained_on: str) -> bool:
        """Write `probe.pt` and `sweep.json`, which hold tensors and plain values alone; scores there are those of
        `head.odds`, for `dim` but for a number that its threshold has, too. False for a head without such a form.
        """
        import torch

        if (kind := _SHAPES.get(self.head.name)) is None:
            return False
        arrays, threshold, state = self.head.arrays, self.threshold, dict[str, Any]()
        if kind == "dim":
            threshold = float(np.sinh(threshold) * arrays["scale"]) if "scale" in arrays else threshold
            direction = arrays["weights"] / arrays["spread"]
            state = {"direction": direction, "threshold": threshold - arrays["offset"] + arrays["mean"] @ direction}
        else:
            state = {theirs: arrays[ours] for ours, theirs in _NAMES[kind].items()} | {"threshold": threshold}
            state |= {theirs: state[theirs][None] for theirs in (_NAMES[kind]["weights"], _NAMES[kind]["offset"])}
        told = {"layer": self.layer - 1, "train_dataset": trained_on, "probe_architecture": kind}
        tensors = {name: torch.tensor(one, dtype=torch.float32) for name, one in state.items()}
        torch.save({"state_dict": tensors, "hyperparams": told}, folder / FILE)
        name = FILE.removesuffix(".pt")
        sweep = {"default_filename": name, "sweep": [{"safe_name": name, "hyperparams": told}]}
        (folder / SWEEP).write_text(json.dumps(sweep, indent=1) + "\n", encoding="utf-8")
        return True


def default_checkpoint(folder: Path) -> str:
    """The name of the default of a folder's sweep.json, without its ending. Raises BadData."""
    if not (folder / SWEEP).is_file():
        raise BadData(f"{folder} holds neither {FILE} nor {SWEEP}; {_ADVICE}")
    return read_json(folder / SWEEP, TypeAdapter(_Sweep), _LARGEST_SWEEP, _ADVICE).default_filename


def _read_head(kind: Architecture, given: Any) -> tuple[Head, float]:
    """(head, threshold in its log-odds). Raises ValueError."""
    names = _NAMES[kind]
    wanted = {*names.values(), "threshold"}
    if not isinstance(given, dict) or given.keys() != wanted:
        held = ", ".join(map(str, given))[:100] if isinstance(given, dict) else "no dictionary"
        raise ValueError(f"the architecture {kind} has {', '.join(sorted(wanted))}, and its state_dict {held}")
    arrays = {ours: _array(theirs, given[theirs]) for ours, theirs in names.items()}
    threshold = _array("threshold", given["threshold"]).ravel()
    if threshold.size != 1 or not np.isfinite(threshold[0]):
        raise ValueError("threshold is no number")
    if kind == "dim":
        along, flat = arrays["weights"], np.ones_like(arrays["weights"])
        scale = np.float32(np.linalg.norm(along))
        arrays |= {"mean": flat * 0, "spread": flat, "offset": -threshold[0], "scale": scale}
    else:
        arrays |= {ours: arrays[ours][0] for ours in ("weights", "offset") if arrays[ours].shape[:1] == (1,)}
    name = next(name for name, one in _SHAPES.items() if one == kind)
    head = Head(name, {key: np.asarray(one) for key, one in arrays.items()})
    return head.checked(arrays["mean"].size, names), 0.0 if kind == "dim" else float(threshold[0])


def _array(name: str, tensor: Any) -> Any:
    import torch

    plain = isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided and tensor.device.type == "cpu"
    if not plain or not tensor.is_floating_point() or tensor.numel() > _MOST:
        raise ValueError(f"{name} is no tensor of as many numbers as it may hold")
    return tensor.detach().float().numpy()
