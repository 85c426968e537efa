"""Liescope: deception datasets from social-deduction games, lie detectors trained on them, and who deceives best."""

from __future__ import annotations

from importlib.metadata import version

__version__ = version("liescope")
__all__ = ["__version__"]
