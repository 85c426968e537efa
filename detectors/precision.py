"""The precision that a network computes in: what a device has, and what a detector's scores were made in.

Scores in half precision differ from those in fp32, and from another device's, by a few thousandths, so that a threshold
chosen on the one parts the others a little elsewhere.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Literal

from pydantic import Field

from liescope.common.errors import UsageError
from liescope.detectors.detector import DetectorOptions

Precision = Literal["fp32", "bf16", "fp16"]


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
