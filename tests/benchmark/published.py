"""The figures of the Mini-Mafia paper, as bundled."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import polars as pl

from liescope.benchmark.capability.count_sources import read_counts

DATA = files("liescope.benchmark") / "data"


def bundled(name: str) -> pl.DataFrame:
    """A table of scores. published: model, m, m_sd, d, d_sd, v, v_sd (Figure 2; the mean of v is 1, that of m is 0);
    background, ablations: by capability and model (Appendix B), the latter by condition too (Figure 10).
    """
    return pl.read_csv(str(DATA / f"mini_mafia_{name}.csv"))


def published_counts() -> pl.DataFrame:
    """The 140 cells of Tables 2 to 4."""
    name = "mini_mafia_win_counts.csv"
    return read_counts(Path(str(DATA / name))).cells
