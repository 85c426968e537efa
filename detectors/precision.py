"""What detectors with a network of others share: the precision that it computes in, what a device has of it and what
scores were made in; and a sign of the network by which it is known again.

Scores in half precision differ from those in fp32, and from another device's, by a few thousandths, so that a threshold
chosen on the one parts the others a little elsewhere.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.errors import BadData, UsageError
from liescope.common.sentence_encoder import BUNDLED
from liescope.detectors.detector import DetectorOptions
from liescope.detectors.logistic import read_numbers, write_numbers

Precision = Literal["fp32", "bf16", "fp16"]
SENTENCE = "speaker: I checked player1 last night and I trust player2."
"""What a network makes of this is its sign."""
_SIGN = "probe.npy"
_APART = 0.05  # of its length; rounding to bf16 moves a state by .014, another model by far more


class NetworkOptions(DetectorOptions):
    """encoder: "" for the bundled all-MiniLM-L6-v2; precision: in a saved detector, that of its scores."""

    encoder: str = Field(default="", description="a Hub id or a folder instead of the bundled all-MiniLM-L6-v2")
    precision: Literal["", Precision] = Field(
        default="", description="fp32, bf16 or fp16 to compute in, instead of the fastest that the device has"
    )


def device() -> Any:
    """The GPU, if there is one."""
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def native(there: Any) -> tuple[Precision, ...]:
    """What a device computes with in hardware, the best first. bf16 came with compute capability 8.0."""
    import torch

    if there.type != "cuda":
        return ("fp32",)
    return ("bf16", "fp32", "fp16") if torch.cuda.is_bf16_supported(including_emulation=False) else ("fp16", "fp32")


def to_learn_in(asked: Literal["", Precision], there: Any) -> Precision:
    """The precision asked for, or the device's best. Raises UsageError for one that it does not have."""
    able = native(there)
    if asked and asked not in able:
        raise UsageError(f"this device does not compute in {asked}; give --precision {able[0]} or leave it out")
    return asked or able[0]


def to_score_in(made: Literal["", Precision], there: Any) -> tuple[Precision, tuple[str, ...]]:
    """(the precision that scores were made in before, or fp32 where the device does not have it; a note then). made: ""
    for one that is not known.
    """
    able = native(there)
    if not made or made in able:
        return made or able[0], ()
    note = (
        f"scores are computed in fp32, but the thresholds were chosen on scores in {made}, which this device does not "
        "compute in: statements within some thousandths of a threshold may fall on its other side"
    )
    return "fp32", (note,)


def computing(precision: Precision, there: Any) -> AbstractContextManager[Any]:
    """Within it, layers compute in this precision; weights in fp32 stay so."""
    import torch

    return torch.autocast(there.type, dtype_of(precision), enabled=precision != "fp32")


def dtype_of(precision: Precision) -> Any:
    """The torch dtype."""
    import torch

    return {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[precision]


def keep_sign(folder: Path, sign: NDArray[Any]) -> None:
    """Write what a network makes of `SENTENCE`."""
    write_numbers(folder / _SIGN, sign)


def check_sign(folder: Path, sign: NDArray[Any], encoder: str) -> None:
    """Raises BadData unless a network makes of `SENTENCE` what the one of `keep_sign` did. encoder: its name."""
    if not np.linalg.norm(sign - read_numbers(folder / _SIGN, sign.shape)) <= _APART * np.linalg.norm(sign):
        raise BadData(
            f"the encoder {encoder or BUNDLED!r} is not the one that {folder} was trained with (it makes something "
            "else of a fixed sentence); get that version, or train again"
        )
