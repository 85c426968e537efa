"""The way back from the probabilities of players to their scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from liescope.detectors.view.posterior import Bools, Floats, Tables

_EDGE, _NEAR, _ROUNDS = 1e-6, 1e-6, 100


def logits_of(players: Floats, tables: Tables) -> Floats:
    """(rows,): scores whose `tables.posterior` is this one, up to a constant of each table that changes nothing;
    probabilities of 0 and 1 are moved in by a millionth. Found as Chen, Dempster and Liu (1994, "Weighted finite
    population sampling to maximize entropy", section 4) do, by raising the odds of whoever comes out too improbable;
    here by half the log-odds missing.
    """
    inside = np.clip(players, _EDGE, 1 - _EDGE)
    wanted: Floats = np.asarray(logit(inside))
    alone, several = _rows(tables, tables.deceivers == 1), _rows(tables, tables.deceivers > 1)
    logits = wanted.copy()
    logits[alone] = np.log(inside[alone])
    for _ in range(_ROUNDS if len(several) else 0):
        gap = (wanted - logit(np.clip(tables.posterior(logits), _EDGE, 1 - _EDGE)))[several]
        logits[several] += gap / 2
        if np.abs(gap).max() < _NEAR:
            break
    return logits


def _rows(tables: Tables, which: Bools) -> NDArray[np.int64]:
    """The rows of the players of some tables, without those at which everybody deceives."""
    size = (tables.place >= 0).sum(axis=1)
    place = tables.place[which & (tables.deceivers < size)]
    return np.asarray(place[place >= 0], dtype=np.int64)
