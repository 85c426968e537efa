"""The options of a detector, chosen on inner folds that leave units out as the outer ones do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.detectors.evaluation.metrics import Scored
from liescope.detectors.evaluation.ranking import pairs_within, pooled_auroc
from liescope.detectors.folds import by_game, by_unit
from liescope.detectors.protocol import Detector
from liescope.detectors.textualize import TextConfig
from liescope.detectors.transfer.table import UNITS, Rows, Table

_BY_GAME = "games"  # what inner folds leave out where there is but one unit of every kind

Setting = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A kind of detector and its settings. variant: what sets it apart from
    the kind, if anything; fixed: options that are given; grid: values to choose among, by option;
    `context`, in either, is that of the text.
    """

    detector: type[Detector]
    text: TextConfig
    fixed: Setting
    grid: Mapping[str, Sequence[Any]]
    seed: int
    variant: str = ""

    @property
    def name(self) -> str:
        return f"{self.detector.kind}{self.variant}"

    def settings(self) -> list[Setting]:
        """Every combination of the grid, those with equal context next to each other."""
        names = sorted(self.grid, key="context".__ne__)
        return [dict(zip(names, values, strict=True)) for values in product(*(self.grid[name] for name in names))]

    def made(self, setting: Setting) -> Detector:
        """An untrained detector. Raises UsageError."""
        chosen = {**self.fixed, **setting, "seed": self.seed}
        text = self.text.model_copy(update={"context": chosen.pop("context", self.text.context)})
        return self.detector(text, self.detector.options_type.of(self.detector.kind, chosen))

    @property
    def most_context(self) -> int:
        return max((self.made(setting).text.context for setting in self.settings()), default=0)


@dataclass(frozen=True, slots=True)
class Choice:
    """setting: the chosen values; left_out: what the inner folds left out, "" if nothing was chosen; tried: the mean
    AUROC of each setting on what they left out, within games if these have pairs; None where it could not be fitted.
    """

    setting: Setting
    left_out: str
    tried: tuple[tuple[Setting, float | None], ...]


def settings_text(setting: Mapping[str, Any]) -> str:
    """A setting as words: "context 2, strength 4"."""
    return ", ".join(f"{name} {value:g}" for name, value in setting.items())


def choose(table: Table, learn: Rows, by: str, recipe: Recipe) -> Choice:
    """The setting with the best mean AUROC over the inner folds of the rows that are learned from; the first of the
    grid where nothing tells them apart.
    """
    settings = recipe.settings()
    if len(settings) < 2:
        return Choice(settings[0], "", ())
    left_out, folds = inner_folds(table, learn, by, recipe.seed)
    if not folds:
        return Choice(settings[0], "", ())
    found = np.mean([_try(table, recipe, settings, *fold) for fold in folds], axis=0)
    best = int(np.nanargmax(found)) if np.isfinite(found).any() else 0
    tried = zip(settings, (float(value) if np.isfinite(value) else None for value in found), strict=True)
    return Choice(settings[best], left_out, tuple(tried))


def inner_folds(table: Table, learn: Rows, by: str, seed: int) -> tuple[str, list[tuple[Rows, Rows]]]:
    """(what they leave out, folds of rows to fit on and rows to score). Units of the same kind as outside are left out
    where at least two of them can be; else speaking models; else games. No game is on both sides of a fold.
    """
    for kind in dict.fromkeys((by, "model")):
        folds = by_unit(table.column(UNITS[kind]), table.games, table.y, learn)
        if len(folds) >= 2:
            return kind, folds
    return _BY_GAME, by_game(table.games, table.y, learn, seed)


def _try(table: Table, recipe: Recipe, settings: Sequence[Setting], rest: Rows, out: Rows) -> NDArray[np.float64]:
    """(settings,): the AUROC of each on the rows left out, NaN where it cannot be fitted."""
    found: list[float] = []
    for _, group in groupby(settings, key=lambda setting: setting.get("context")):
        made = [recipe.made(setting) for setting in group]
        examples = table.examples(made[0].text.context)
        learn, others = [examples[i] for i in rest], [examples[i] for i in out]
        try:
            scores = recipe.detector.try_each(made, learn, table.y[rest], table.games[rest], others)
        except UsageError:
            found += [np.nan] * len(made)
            continue
        found += [_auroc(table, out, score) for score in scores]
    return np.array(found)


def _auroc(table: Table, out: Rows, score: NDArray[np.float64]) -> float:
    """Within games, as detectors are judged; over all games where none has both classes."""
    own = table.frame["game_id"].gather(out).rank("dense").to_numpy().astype(np.int64)
    data = Scored(table.y[out], score, np.zeros(len(out), np.int64), 1, own)
    (right,), (pairs,) = pairs_within(data)
    return float(right / pairs if pairs else pooled_auroc(data, np.ones((1, 1), np.float32))[0])
