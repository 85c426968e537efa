"""The figures of every cell, recomputed from the scores: nothing is fitted here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from liescope.common.statistics import PROPORTION, Bools, Floats, estimate, worst
from liescope.detectors.evaluation.metrics import POOLED, WITHIN
from liescope.detectors.protocol import Progress, silent
from liescope.detectors.transfer.fitting import Scores
from liescope.detectors.transfer.forms import FORMS, MAIN, STATEMENT, forms
from liescope.detectors.transfer.plan import PAIR, names_of, no_pairs, why_one_class
from liescope.detectors.transfer.player_figures import player_figures
from liescope.detectors.transfer.resamples import FIGURE, Resamples, in_pairs
from liescope.detectors.transfer.table import UNITS, Rows, Table

WHERE = ("by", "protocol", "train", "test", "detector", "target")
CELLS = {**dict.fromkeys((*WHERE, "kind", "score", "metric"), pl.String), **FIGURE}
SLICES = {**dict.fromkeys((*WHERE, "slice", "kind", "score", "metric"), pl.String), **FIGURE}
HEADLINE = {
    **dict.fromkeys(("by", "protocol", "detector", "kind", "metric", "train", "test"), pl.String),
    **dict.fromkeys(("worst", "worst_lo", "worst_hi", "mean", "mean_lo", "mean_hi"), pl.Float64),
    **dict.fromkeys(("cells", "empty"), pl.Int64),
}

WITHIN_ROLE, OVER_ROLE = "auroc_within_role", "auroc_minus_role_oracle"
_PARTS = {WITHIN_ROLE: ", within deceptive roles", OVER_ROLE: ", where roles are known"}
SLICE_WORDS = {
    "unheard": "tables where every seat is unheard of in training",
    "self-play": "self-play tables, one model in every seat",
    "disclosure": "games in which somebody claims to be the detective or to have investigated",
    "no disclosure": "games in which nobody does",
    "silence": "games in which a player remained silent",
}
EVERYTHING = "all the rest"

_Cell = tuple[str, str, Floats | None, int]  # train, test, its values and the number of games that they rest on


@dataclass(frozen=True, slots=True)
class Figures:
    """cells: every cell with its figures; slices: parts of the games of units at home and left out; headline: the worst
    cell off the diagonal and the mean of those cells, by unit, protocol, detector, kind of score (`MAIN`) and metric,
    the AUROC within games first. The interval of a worst cell allows for its having been picked. The columns are
    `CELLS`, `SLICES` and `HEADLINE`.
    """

    cells: pl.DataFrame
    slices: pl.DataFrame
    headline: pl.DataFrame


def figures(table: Table, scores: Sequence[Scores], draws: int, seed: int, progress: Progress = silent) -> Figures:
    """Every figure with its 95% interval. All cells share the same resamples of games, drawn within each corpus."""
    measure = Resamples.of(table, draws, seed)
    cells: list[dict[str, Any]] = []
    slices: list[dict[str, Any]] = []
    off: dict[tuple[str, ...], list[_Cell]] = {}
    for done, part in enumerate(scores):
        progress("figures of each detector", done, len(scores))
        units = table.column(UNITS[part.by])
        made = forms(table, part.score, part.players)
        for test in names_of(units) if part.protocol == PAIR else [part.unit]:
            train = part.unit if part.protocol == PAIR else EVERYTHING
            mine = units == test
            why = _why(table, part, mine, train, test)
            target = " and ".join(table.frame.filter(mine)["target"].unique().sort())
            where = dict(zip(WHERE, (part.by, part.protocol, train, test, part.detector, target), strict=True))
            rows = np.flatnonzero(mine & table.labelled & ~np.isnan(part.score))
            main: dict[tuple[str, str], tuple[Floats | None, int]] = {}
            here = (part.by, part.protocol, part.detector)
            for name, metric, its, values in _figures_of(table, measure, made, rows, why):
                own = {"kind": FORMS[name][0], "score": name, "metric": metric}
                reason = why or _undefined(table.y[its], f"{test}{_PARTS.get(metric, '')}", metric)
                values = None if reason else values
                span = (-1.0, 1.0) if metric == OVER_ROLE else PROPORTION
                cells.append({**where, **own, **measure.statements(its, values, reason, span)})
                main[name, metric] = values, len(np.unique(measure.game[its]))
            for kind, form in MAIN.items() if train != test else ():
                for metric in (WITHIN, POOLED):
                    cell = (train, test, *main.get((form, metric), (None, 0)))
                    off.setdefault((*here, kind, metric), []).append(cell)
            for found, values, games in player_figures(table, measure, part.players, part.by, test):
                cells.append({**where, **found})
                if train != test:
                    off.setdefault((*here, found["kind"], found["metric"]), []).append((train, test, values, games))
            for name, within in _slices(table, part.unheard) if part.protocol != PAIR or train == test else ():
                for kind, form in MAIN.items():
                    its = _defined(rows[within[rows]], made[form])
                    for metric, resting, values in _auroc(measure, its, made[form], table.y):
                        reason = why or _undefined(table.y[resting], SLICE_WORDS[name], metric)
                        own = {"slice": name, "kind": kind, "score": form, "metric": metric}
                        found = measure.statements(resting, None if reason else values, reason)
                        slices.append({**where, **own, **found})
    progress("figures of each detector", len(scores), len(scores))
    headline = [dict(zip(HEADLINE, (*key, *_headline(found)), strict=True)) for key, found in off.items()]
    frames = ((cells, CELLS), (slices, SLICES), (headline, HEADLINE))
    return Figures(*(pl.DataFrame(rows, schema=schema) for rows, schema in frames))


def _why(table: Table, part: Scores, mine: Bools, train: str, test: str) -> str:
    """Why a cell is empty, or ""."""
    labelled = mine & table.labelled
    if why := why_one_class(table.y[labelled], test):
        return why
    scored = labelled & ~np.isnan(part.score)
    if not scored.any():
        return "; ".join(part.reasons) or f"{train}: no statement of {test} is scored"
    return why_one_class(table.y[scored], f"{test}, as far as scored")


def _figures_of(
    table: Table, measure: Resamples, made: Mapping[str, Floats], rows: Rows, why: str
) -> Iterator[tuple[str, str, Rows, Floats | None]]:
    """(form of the score, metric, rows, values by resample; None for an empty cell)."""
    if why:
        yield from ((STATEMENT, metric, rows, None) for metric in (WITHIN, POOLED))
        return
    for name in FORMS:
        if len(its := _defined(rows, made[name])):
            yield from ((name, *found) for found in _auroc(measure, its, made[name], table.y))
    yield STATEMENT, "average_precision", rows, measure.average_precision(rows, made[STATEMENT])
    role = table.frame["label_role"]
    other = rows[(table.column("target")[rows] != "role") & role.is_not_null().to_numpy()[rows]]
    if len(other):
        deceives = role.fill_null(value=False).to_numpy()
        lying = other[deceives[other]]
        yield STATEMENT, WITHIN_ROLE, lying, measure.auroc(lying, made[STATEMENT])[POOLED]
        own, oracle = (measure.auroc(other, score)[POOLED] for score in (made[STATEMENT], deceives.astype(np.float64)))
        yield STATEMENT, OVER_ROLE, other, own - oracle


def _auroc(measure: Resamples, rows: Rows, score: Floats, y: Bools) -> Iterator[tuple[str, Rows, Floats]]:
    """(metric, rows that it rests on, values): within games, and pooled."""
    found = measure.auroc(rows, score)
    yield WITHIN, in_pairs(rows, y[rows], measure.own[rows]), found[WITHIN]
    yield POOLED, rows, found[POOLED]


def _undefined(y: Bools, what: str, metric: str) -> str:
    return no_pairs(what) if metric == WITHIN and not len(y) else why_one_class(y, what)


def _defined(rows: Rows, score: Floats) -> Rows:
    return rows[~np.isnan(score[rows])]


def _slices(table: Table, unheard: Bools) -> Iterator[tuple[str, Bools]]:
    frame = table.frame
    yield "unheard", unheard & frame["models"].is_not_null().to_numpy()
    for name, flag in (
        ("self-play", pl.col("self_play")),
        ("disclosure", pl.col("disclosed")),
        ("no disclosure", ~pl.col("disclosed")),
        ("silence", pl.col("silent")),
    ):
        yield name, frame.select(flag.fill_null(value=False)).to_series().to_numpy()


def _headline(found: Sequence[_Cell]) -> tuple[Any, ...]:
    """(train, test, worst, its interval, mean, its interval, cells, empty cells). Cells whose value is not defined in a
    resample are left out of that resample's mean, which rests on no more games than the cell that has fewest.
    """
    full = [(train, test, values, games) for train, test, values, games in found if values is not None]
    empty = len(found) - len(full)
    if not full:
        return (*(None,) * 8, 0, empty)
    at, least = worst([(values, games) for *_, values, games in full])
    together = np.stack([values for *_, values, _ in full])
    with np.errstate(invalid="ignore"):
        mean = np.nansum(together, axis=0) / np.isfinite(together).sum(axis=0)
    fewest = min(games for *_, games in full)
    return *full[at][:2], *least, *estimate(mean, fewest), len(full), empty
