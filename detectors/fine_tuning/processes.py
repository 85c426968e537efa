"""One process of a training, or one of several that `torchrun` started: who writes, and what they share."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from liescope.common.errors import UsageError
from liescope.common.statistics import Floats


def is_first() -> bool:
    """Whether this is the only process of a training, or the first of several."""
    return os.environ.get("RANK", "0") == "0"


def check_started() -> None:
    """Raises UsageError where one process sees several GPUs, which only several processes use well."""
    import torch

    gpus = torch.cuda.device_count()
    if gpus > 1 and "RANK" not in os.environ:
        raise UsageError(
            f"{gpus} GPUs are there, and a process trains on one: torchrun --nproc-per-node {gpus} -m liescope train … "
            "uses all, CUDA_VISIBLE_DEVICES=0 liescope train … the first"
        )


def join() -> None:
    """Find the other processes, if there are any, and the GPU of this one."""
    import torch
    from accelerate import PartialState

    PartialState(cpu=not torch.cuda.is_available())


def place() -> tuple[int, int]:
    """(the number of this process, how many there are that found each other)."""
    torch = sys.modules.get("torch")
    if not (torch and torch.distributed.is_available() and torch.distributed.is_initialized()):
        return 0, 1
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def wait() -> None:
    """Until all processes are here."""
    if place()[1] > 1:
        sys.modules["torch"].distributed.barrier()


def from_first(given: Any) -> Any:
    """What the first process has."""
    from accelerate.utils import broadcast_object_list

    return broadcast_object_list([given])[0]


def summed(own: Floats, there: Any) -> Floats:
    """The sum of all processes' arrays. there: the device of this one."""
    if place()[1] == 1:
        return own
    import torch
    from accelerate.utils import reduce

    return np.asarray(reduce(torch.from_numpy(own).to(there), "sum").cpu())
