"""Whether counts of this shape can identify the parameters of the capability model, and if not, which ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from liescope.benchmark.counting.counts import PLAYERS
from liescope.common.errors import UsageError

PARAMETERS = ("m", "d", "v")

Index = npt.NDArray[np.int64]


def code(cells: pl.DataFrame) -> tuple[dict[str, tuple[str, ...]], dict[str, Index]]:
    """(names of the models of m, d and v, sorted; for each cell the index of its model among them)."""
    names: dict[str, tuple[str, ...]] = {}
    index: dict[str, Index] = {}
    for parameter, column in zip(PARAMETERS, PLAYERS, strict=True):
        models = tuple(sorted(set(cells[column])))
        place = {model: number for number, model in enumerate(models)}
        names[parameter] = models
        index[parameter] = np.array([place[model] for model in cells[column]], dtype=np.int64)
    return names, index


def check_identified(cells: pl.DataFrame) -> None:
    """Raises UsageError if data of this shape, or these counts, cannot identify the parameters."""
    models = _models(cells)
    if len(models) < 2:
        raise UsageError(
            f"a fit compares models, and these counts have {len(models) or 'none'}; play games of at least two models"
        )
    if cells["mafia_wins"].sum() in (0, cells["games"].sum()):
        raise UsageError("one side won every game, which says nothing about how models differ; play more games")
    missing, free = undetermined(cells)
    if missing:
        guilty = [model for model in models if undetermined(leave_out(cells, model))[0] < missing]
        advice = f" (or leave out those who do not: {_options(guilty)})" if 0 < len(guilty) <= len(models) - 2 else ""
        raise UsageError(
            f"{cells.height} cells leave {missing} of {free} parameters undetermined: each model must meet others in "
            f"each role it is judged in; play with --design background or --design full{advice}"
        )


def undetermined(cells: pl.DataFrame) -> tuple[int, int]:
    """(how many parameters cannot be determined from these cells, how many there are apart from the two symmetries).

    Read from the rank of the derivative of logit p at a point in general position: every parameter must move some cell.
    """
    names, index = code(cells)
    random = np.random.default_rng(0)
    m, d, v = (random.normal(size=len(names[name])) for name in PARAMETERS)
    i, j, k = (index[name] for name in PARAMETERS)
    rows = np.arange(cells.height)
    slopes = {name: np.zeros((cells.height, len(names[name]))) for name in PARAMETERS}
    slopes["m"][rows, i] = v[k]
    slopes["d"][rows, j] = -v[k]
    slopes["v"][rows, k] = m[i] - d[j]
    free = max(len(m) + len(d) + len(v) - 2, 0)
    rank = int(np.linalg.matrix_rank(np.hstack(list(slopes.values())))) if cells.height else 0
    return free - rank, free


def leave_out(cells: pl.DataFrame, model: str) -> pl.DataFrame:
    """The cells in which a model plays no role."""
    return cells.filter(~pl.any_horizontal(pl.col(PLAYERS) == model))


def _models(cells: pl.DataFrame) -> list[str]:
    return sorted(set().union(*(cells[column] for column in PLAYERS)))


def _options(models: list[str]) -> str:
    return " ".join(f"--without {model!r}" for model in models)
