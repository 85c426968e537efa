"""The taskset `liescope-games` of verifiers, which looks for plug-ins by the name of a top-level module."""

from liescope.faces.verifiers import *  # noqa: F403
from liescope.faces.verifiers import __all__ as __all__
