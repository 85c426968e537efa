"""Whether counts of this shape can identify the parameters of the capability model, and if not, which ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_array, hstack

from liescope.benchmark.capability.variants import DEFAULT, FALLBACK, PAPER, Variant
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


def identified_variant(cells: pl.DataFrame) -> Variant:
    """The default model where these counts identify it, else `FALLBACK`, which has fewer parameters. Raises UsageError
    if they identify neither.
    """
    try:
        check_identified(cells, DEFAULT)
    except UsageError:
        check_identified(cells, FALLBACK)
        return FALLBACK
    return DEFAULT


def check_identified(cells: pl.DataFrame, variant: Variant = PAPER) -> None:
    """Raises UsageError if data of this shape, or these counts, cannot identify the parameters of a model."""
    models = _models(cells)
    if len(models) < 2:
        raise UsageError(
            f"a fit compares models, and these counts have {len(models) or 'none'}; play games of at least two models"
        )
    if cells["mafia_wins"].sum() in (0, cells["games"].sum()):
        raise UsageError("one side won every game, which says nothing about how models differ; play more games")
    missing, free = undetermined(cells, variant)
    if missing:
        guilty = [model for model in models if undetermined(leave_out(cells, model), variant)[0] < missing]
        advice = f" (or leave out those who do not: {_options(guilty)})" if 0 < len(guilty) <= len(models) - 2 else ""
        raise UsageError(
            f"{cells.height} cells leave {missing} of {free} parameters undetermined: each model must meet others in "
            f"each role it is judged in; play with --design background or --design full{advice}"
        )


def undetermined(cells: pl.DataFrame, variant: Variant = PAPER) -> tuple[int, int]:
    """(how many of m, d, v and b cannot be determined from these cells, how many there are apart from the symmetries).

    Read from the rank of the derivative of logit p at a point in general position: every parameter must move some cell.
    """
    if cells.is_empty():
        return 0, 0
    names, index = code(cells)
    random = np.random.default_rng(0)
    m, d, v = (random.normal(size=len(names[name])) for name in PARAMETERS)
    v = v if variant.scaled else np.ones_like(v)
    i, j, k = (index[name] for name in PARAMETERS)
    moves = {"m": (i, v[k]), "d": (j, -v[k])}
    if variant.scaled:
        moves["v"] = k, m[i] - d[j]
    if variant.offset:
        moves["b"] = k, np.ones(cells.height)
    size = {**{name: len(names[name]) for name in PARAMETERS}, "b": len(names["v"])}
    rows = np.arange(cells.height)
    slopes = hstack([csr_array((by, (rows, at)), (cells.height, size[name])) for name, (at, by) in moves.items()])
    symmetries = 1 + variant.scaled + variant.offset
    free = max(slopes.shape[1] - symmetries, 0)
    rank = int(np.linalg.matrix_rank((slopes.T @ slopes).toarray(), hermitian=True))
    return free - rank, free


def leave_out(cells: pl.DataFrame, model: str) -> pl.DataFrame:
    """The cells in which a model plays no role."""
    return cells.filter(~pl.any_horizontal(pl.col(PLAYERS) == model))


def _models(cells: pl.DataFrame) -> list[str]:
    return sorted(set().union(*(cells[column] for column in PLAYERS)))


def _options(models: list[str]) -> str:
    return " ".join(f"--without {model!r}" for model in models)
