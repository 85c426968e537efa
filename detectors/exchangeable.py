"""Whether texts could come from the same source as those that verdicts were chosen on.

Conformal sets keep their promise for games that are exchangeable with the calibration games. That can be tested without
any label: by a permutation test on the mean features of games (hashed words, length, scores), with games as units,
which is exact for any number of games. Where it fails, nothing is promised and no verdict given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl

from liescope.common.reading import Reading, read_parquet
from liescope.common.statistics import Bools, Floats, logit
from liescope.detectors.examples import Example
from liescope.detectors.logistic import TRAIN_AGAIN, numbers
from liescope.detectors.text_form import TextConfig, View, textualize
from liescope.detectors.tf_idf import hashed

ALPHA = 0.01
"""How often texts of exchangeable games are taken for others."""
UNLIKE = "{:,} statements are not like the games that verdicts were chosen on: nothing is promised, so they get none"
_WORDS, _WIDTH = 256, 259  # hashed words, plus three numbers
_MOST, _DEALS = 500, 999  # calibration games kept; other games that the test looks at; permutations
_SCHEMA = {"game": pl.List(pl.Float32), "statement": pl.List(pl.Float32)}


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationGames:
    """game, statement: (games, features) of each calibration game, and of one of its statements drawn at random."""

    game: Floats
    statement: Floats

    @classmethod
    def of(cls, examples: Sequence[Example], score: Floats, seed: int, view: View = "words") -> Self:
        """examples: all statements of the calibration games; score: (n,), calibrated; view: what is read of them."""
        draw = np.random.default_rng(seed)
        names = np.array([example.game_id for example in examples], dtype=np.str_)
        own = [np.flatnonzero(names == name) for name in draw.permutation(list(dict.fromkeys(names)))[:_MOST]]
        features = _features(examples, score, view)
        wholes, lone = [features[rows].mean(axis=0) for rows in own], [features[draw.choice(rows)] for rows in own]
        return cls(np.stack(wholes), np.stack(lone))

    def others(self, examples: Sequence[Example], score: Floats, view: View = "words") -> Bools:
        """(n,): statements unlike these, of games beside games, lone ones beside lone ones. score: calibrated."""
        features, found = _features(examples, score, view), np.zeros(len(examples), dtype=bool)
        games = np.array([example.game_id for example in examples], dtype=np.str_)
        for rows, own in ((np.flatnonzero(games != ""), self.game), (np.flatnonzero(games == ""), self.statement)):
            if len(rows):
                _, unit = np.unique(games[rows], return_inverse=True)
                unit = unit if own is self.game else np.arange(len(rows))
                theirs = np.zeros((unit.max() + 1, _WIDTH))
                np.add.at(theirs, unit, features[rows])
                found[rows] = _chance(own, theirs / np.bincount(unit)[:, None]) <= ALPHA
        return found

    def save(self, path: Path) -> None:
        """Write it as Parquet."""
        pl.DataFrame([self.game.tolist(), self.statement.tolist()], schema=_SCHEMA).write_parquet(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Raises BadData for what `save` never writes."""
        table = read_parquet(path, _SCHEMA, _MOST, TRAIN_AGAIN)
        with Reading(path, TRAIN_AGAIN):
            return cls(*(numbers(table[name].to_list(), (table.height, _WIDTH)) for name in _SCHEMA))


def _features(examples: Sequence[Example], score: Floats, view: View) -> Floats:
    """(n, features): the words in view, names masked, hashed to length 1; how many; the score's log-odds and square."""
    if not examples:
        return np.empty((0, _WIDTH))
    texts = [textualize(example, TextConfig(view=view)) for example in examples]
    words = hashed([re.findall(r"\w+", text.lower()) for text in texts], _WORDS)
    odds = logit(score, 1e-6)
    count = np.log1p([len(text.split()) for text in texts])
    # rounded as the saved features are, so that equal games compare as equal
    return np.column_stack([words, odds, odds**2, count]).astype(np.float32).astype(np.float64)


def _chance(own: Floats, theirs: Floats) -> float:
    """The p-value of one common distribution: how often the means of randomly dealt units are as far apart."""
    theirs = theirs[np.random.default_rng(0).permutation(len(theirs))[:_MOST]]
    both = np.vstack([own, theirs])
    both = (both - both.mean(axis=0)) / np.where(both.std(axis=0) > 0, both.std(axis=0), 1.0)
    if len(theirs) == 1:  # every way to deal them, the actual one first
        distance = (both**2).sum(axis=1)[::-1]
    else:  # centred on 0, so that the sum over one side determines both means
        distance = ((_dealt(len(own), len(theirs)) @ both) ** 2).sum(axis=1)
    return float((distance >= distance[0] * (1 - 1e-9)).mean())


@lru_cache(maxsize=2)
def _dealt(own: int, theirs: int) -> Floats:
    """(deals, units): 1 where a unit is dealt to their side; the actual deal first, then random, repeatable ones."""
    side = np.repeat([0.0, 1.0], [own, theirs])
    return np.vstack([side, np.random.default_rng(0).permuted(np.tile(side, (_DEALS, 1)), axis=1)])
