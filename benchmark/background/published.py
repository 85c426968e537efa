"""The paper's own figures of the background method."""

from __future__ import annotations

from importlib.resources import files
from io import StringIO

import polars as pl


def published_background() -> pl.DataFrame:
    """The paper's scores against backgrounds (Appendix B): capability, model, z, z_sd, score (exp z), score_sd."""
    return _read("mini_mafia_background.csv")


def published_ablations() -> pl.DataFrame:
    """The paper's scores of deceiving under three conditions (Figure 10): condition, and the columns of
    `published_background`; nine models. Those of the condition "default" are of ten models, the tenth left out.
    """
    return _read("mini_mafia_ablations.csv")


def _read(name: str) -> pl.DataFrame:
    return pl.read_csv(StringIO((files("liescope.benchmark") / "data" / name).read_text(encoding="utf-8")))
