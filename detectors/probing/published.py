"""Checkpoints of probes in the shape in which the UK AI Security Institute publishes them and its `lie-detectors`
(2026) reads them: `probe.pt`, a torch file of `state_dict` and `hyperparams`, and `sweep.json`, which lists it.

Three architectures are published: `dim` (a direction), `lr` and `mlp` (of standardised states). A score above
`threshold` means deceptive; `layer` counts decoder layers from 0, so that it is ours less one.

A stranger's file is opened with torch's reader of weights, which knows tensors and plain values. One global more is
known by name, the enumeration in which the architecture is kept, and stands for a text: no code of the file runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self
from zipfile import ZipFile

import numpy as np
from pydantic import BaseModel, Field, TypeAdapter

from liescope.common.errors import BadData
from liescope.common.reading import Reading, read_json, regular
from liescope.detectors.probing.heads import Head

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
