"""The games as tasks of inspect_ai, detectors as its scorer, as a monitor of ControlArena and as a scanner of Scout.

inspect_ai imports this module through the entry point `liescope`.
"""

import sys

from liescope.faces.inspect.games import TASKS, claims, honesty, outcome
from liescope.faces.inspect.suspicion import detector, monitor

if "inspect_scout" in sys.modules:  # slow to load, and only its own commands ask for a scanner
    import liescope.faces.inspect.scout  # noqa: F401

__all__ = ["TASKS", "claims", "detector", "honesty", "monitor", "outcome"]
