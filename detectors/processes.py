"""Training by several processes, as `torchrun` starts them: all of them learn, the first one writes and speaks."""

from __future__ import annotations

import os


def is_first() -> bool:
    """Whether this is the only process of a training, or the first of several."""
    return os.environ.get("RANK", "0") == "0"
