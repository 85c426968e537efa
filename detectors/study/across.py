"""The figures of every place across units, computed from the scores: nothing is fitted, all leave the same games out.

Three populations of each unit: its statements by their own scores, which use what was said so far, so that they could
be shown while the game is played; its statements after the game, by the probability, of all at the table, that the
speaker deceives; and its players after the game: how well they are ranked, and whether the most suspect deceives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import polars as pl

from liescope.common.statistics import CHANGE, Floats, Weights, at_share, codes, estimate, game_weights, share, worst
from liescope.detectors.detector import Progress, silent
from liescope.detectors.study.corpora import UNITS, TransferTable
from liescope.detectors.study.figures import Figure, Jackknifed, figures_of, measured
from liescope.detectors.study.fits import Scores
from liescope.detectors.study.metrics import DIFFERENCE, METRIC, POOLED, WITHIN, pooled_auroc, within_games
from liescope.detectors.study.plans import LEFT_OUT, PAIR, PROTOCOLS, Trial, why_one_class
from liescope.detectors.study.scorers import NO_RIVALS
from liescope.detectors.study.scores import CONTROL, in_pairs, scored

AFTER, WORST, MEAN = "after the game", "worst", "mean"
PLAYER_WITHIN, PLAYER_AUROC, MAIN = "player_auroc_within", "player_auroc", "auroc_main"
NAMES, NAMES_VILLAGER, HALF = "names_deceiver", "names_deceiver_villager", "_half"
SLICES = {
    "unheard": "tables where every seat is unheard of in training",
    "self-play": "self-play tables, one model in every seat",
    "disclosure": "games in which somebody claims to be the detective or to have investigated",
    "no disclosure": "games in which nobody does",
    "silence": "games in which a player remained silent",
}
"""Parts of the games of a unit that is left out."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was measured. by: the kind of unit; test: the unit, "" for the mean of several; train: what was
    learned from, "" for all the rest; family: of the corpora; part: one of `SLICES`, WORST or MEAN, "" for all; after:
    whether the whole game was known; cells: how many places WORST and MEAN are of.
    """

    by: str
    protocol: str
    test: str
    train: str = ""
    family: str = ""
    part: str = ""
    after: bool = False
    cells: int = 1

    @property
    def where(self) -> str:
        """As figures name it: "left out:model=A", "pair:model=A > B:worst of 6", "left out:task of games:mean of 5"."""
        unit = f"{self.by}={f'{self.train} > ' * bool(self.train)}{self.test}"
        several = f"{self.by} of {self.family}" if self.family else self.by
        part = f"{self.part} of {self.cells}" if self.part in (WORST, MEAN) else self.part
        return ":".join(filter(None, (self.protocol, unit if self.test else several, part, AFTER * self.after)))


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    """A figure with its place, its values with games left out, and how many games it rests on."""

    place: Place
    figure: Figure
    values: Floats
    games: int


def figures(
    table: TransferTable, scores: Sequence[Scores], seed: int, progress: Progress = silent
) -> tuple[list[Figure], dict[str, Place]]:
    """Every figure, and the place of each by its `where`: of each unit; of the worst and the mean off the diagonal, of
    each family of corpora; and by how much the mean of detectors is above that of controls.
    """
    measure = _Measure.of(table, seed)
    found: list[_Cell] = []
    off: dict[tuple[Place, str, str], list[_Cell]] = {}
    for done, one in enumerate(scores, 1):
        by, protocol = one.trial.by, one.trial.protocol
        counted = set(table.frame.filter("learn")[UNITS[by]]) if protocol in PROTOCOLS else set()
        for test in np.unique(table.units(by)).tolist() if protocol == PAIR else [one.trial.unit]:
            for cell in measure.of_unit(one, test):
                found.append(cell)
                if cell.place.train != test and test in counted and not cell.place.part:
                    several = replace(cell.place, test="", train="")
                    off.setdefault((several, cell.figure.scorer, cell.figure.metric), []).append(cell)
        progress("figures of each detector", done, len(scores))
    means: dict[tuple[Place, str], list[_Cell]] = {}
    for (several, _, metric), cells in off.items():
        *least, mean = _together(several, cells)
        found += [*least, mean]
        means.setdefault((several, metric), []).append(mean)
    leads = [lead for of_mean in means.values() for lead in _ahead(of_mean)]
    return [*(cell.figure for cell in found), *leads], {cell.place.where: cell.place for cell in found}


def _together(several: Place, cells: Sequence[_Cell]) -> Iterator[_Cell]:
    """The worst, where any is defined, and the mean of some figures; the interval of the worst allows for its having
    been picked. Those whose value is not defined without some games are left out of that mean, which rests on no more
    games than the one that has fewest.
    """
    full = [cell for cell in cells if cell.figure.value is not None]
    mean = replace(several, part=MEAN, cells=len(full))
    target = " and ".join(sorted({cell.figure.target for cell in cells}))
    what = replace(cells[0].figure, where=mean.where, target=target)
    if not full:
        yield _Cell(mean, what, cells[0].values, 0)
        return
    at, (value, lo, hi) = worst([(cell.values, cell.games) for cell in full])
    place = replace(full[at].place, part=WORST, cells=len(full))
    yield replace(full[at], place=place, figure=replace(full[at].figure, where=place.where, value=value, lo=lo, hi=hi))
    together = np.stack([cell.values for cell in full])
    with np.errstate(invalid="ignore"):
        values = np.nansum(together, axis=0) / np.isfinite(together).sum(axis=0)
    tests = {cell.place.test: cell.figure for cell in full}.values()
    counts = (sum(one.statements for one in tests), sum(one.games for one in tests), None)
    fewest = min(cell.games for cell in full)
    (figure,) = figures_of(what.scorer, target, mean.where, [(what.metric, estimate(values, fewest))], counts)
    yield _Cell(mean, figure, values, fewest)


def _ahead(means: Sequence[_Cell]) -> Iterator[Figure]:
    """By how much the mean of each detector is above that of each control, where both are of the same places."""
    rivals = [cell for cell in means if cell.figure.scorer.startswith(CONTROL)]
    detectors = [cell for cell in means if cell not in rivals]
    for mine, its in product(detectors, rivals):
        if its.figure.scorer.removeprefix(CONTROL) in NO_RIVALS:
            continue
        same = (mine.place.cells, mine.figure.statements) == (its.place.cells, its.figure.statements)
        if same and mine.figure.value is not None:
            value, lo, hi = estimate(mine.values - its.values, min(mine.games, its.games), CHANGE)
            metric, against = mine.figure.metric + DIFFERENCE, its.figure.scorer
            yield replace(mine.figure, metric=metric, value=value, lo=lo, hi=hi, against=against)


@dataclass(frozen=True, slots=True)
class _Measure:
    """Measures on a table. weights: of its games, drawn within each corpus, those that share a beginning as one; at:
    their columns by these names.
    """

    table: TransferTable
    at: Mapping[str, int]
    weights: Weights

    @classmethod
    def of(cls, table: TransferTable, seed: int) -> _Measure:
        families = table.frame.select("corpus", "siblings").unique(maintain_order=True)
        sizes = families.group_by("corpus", maintain_order=True).len()["len"]
        weights = np.hstack([game_weights(size, seed + i) for i, size in enumerate(sizes)])
        return cls(table, {name: at for at, name in enumerate(families["siblings"])}, weights)

    def on(self, part: pl.DataFrame) -> Weights:
        """Those of the games of some rows, in the order of `codes`."""
        return self.weights[:, [self.at[name] for name in np.unique(part["siblings"].to_numpy())]]

    def of_unit(self, scores: Scores, test: str) -> Iterator[_Cell]:
        """The figures of one unit: of its statements and slices of them, and of its players, where any are scored; of a
        unit that is left out also those by which scorers are compared. Players who were killed at night are not
        counted: everybody knows what they are. The AUROC is over the players of the unit, whether they spoke or not;
        the names are those given in every game that the unit plays.
        """
        trial, frame, players = scores.trial, self.table.frame, self.table.players
        mine = pl.col(UNITS[trial.by]).eq(test).fill_null(value=False)
        score = pl.Series(np.append(scores.score, np.nan), nan_to_null=True)
        after = score[frame["seat"].fill_null(players.height) + frame.height]
        every = frame.with_columns(score=score[: frame.height], after=after).filter(mine)
        seats = players.with_columns(score=score[frame.height : -1], y="deceives", mine=mine).drop_nulls("score")
        seats = seats.filter(pl.col("mine").any().over("game_id"))
        target, family = (" and ".join(every[name].unique().sort()) for name in ("target", "family"))
        place = Place(trial.by, trial.protocol, test, trial.unit if trial.protocol == PAIR else "", family)
        labelled = every.drop_nulls("y")
        known = labelled.drop_nulls("score")
        why = why_one_class(labelled["y"].to_numpy(), test)
        if known.is_empty():
            why = why or scores.why or f"{trial.unit}: no statement of {test} is scored"
        slices = self._slices(trial) if trial.protocol == LEFT_OUT and scores.fits else {}
        populations = [(place, known, (WITHIN, POOLED))]
        for name, within in {"": pl.lit(True), **slices}.items() if not why else ():
            part = known.filter(within.fill_null(value=False))
            later = part.with_columns(score="after").drop_nulls("score")
            populations += [(replace(place, part=name), part, (WITHIN, POOLED))] if name else []
            populations += [(replace(place, part=name, after=True), later, (WITHIN, POOLED))]
        told = seats.filter("mine", ~pl.col("killed")).drop_nulls("y")
        populations += [(replace(place, after=True), told, (PLAYER_WITHIN, PLAYER_AUROC))]
        main: dict[str, _Cell] = {}
        for own, its, metrics in (one for one in populations if one[0] == place or one[1].height):
            data, weights = scored(its), self.on(its)
            values = dict(zip(metrics, (within_games(data, weights), pooled_auroc(data, weights)), strict=True))
            for figure in measured(scores.scorer, target, own.where, values, its):
                paired = in_pairs(its) if METRIC[figure.metric].paired else its
                reason = "" if figure.value is not None else why or self._undefined(own, its, metrics)
                cell = _Cell(own, replace(figure, why=reason), values[figure.metric], paired["siblings"].n_unique())
                main.setdefault(figure.metric, cell)
                yield cell
        own = replace(place, after=True)
        for metric, by_villagers in ((NAMES, False), (NAMES_VILLAGER, True)):
            tables = named(seats, by_villagers)
            weights, (game, games) = self.on(tables), codes(tables["siblings"].to_numpy())
            right, sure = (tables[name].to_numpy() for name in ("right", "sure"))
            found = {
                metric: share(right, np.ones(len(right)), game, weights),
                metric + HALF: at_share(sure, right, 0.5, weights[:, game]),
            }
            for name, value in found.items() if games else ():
                mean, counted = float(tables["chance"].to_numpy().mean()), int(tables["candidates"].sum())
                figure = Jackknifed(value, counted, games, mean).figure(scores.scorer, target, own.where, name)
                yield _Cell(own, figure, value, games)
        for own in (place, replace(place, after=True)) if trial.protocol != PAIR else ():
            seated = own.after and test in players[UNITS[trial.by]]
            metric = PLAYER_WITHIN if seated else WITHIN if main[WITHIN].figure.statements else POOLED
            if metric in main:
                figure = replace(main[metric].figure, metric=MAIN, where=own.where)
                yield replace(main[metric], place=own, figure=figure)

    def _slices(self, trial: Trial) -> dict[str, pl.Expr]:
        frame, learned = self.table.frame, np.concatenate([part.learn for part in trial.parts])
        games = frame[learned]["siblings"].unique()
        heard = frame.filter(pl.col("siblings").is_in(games.implode()))["speaker_model"].unique()
        unheard = pl.col("models").list.eval(pl.element().is_in(heard.implode())).list.any().not_()
        disclosed = pl.col("disclosed")
        parts = (unheard, pl.col("self_play"), disclosed, ~disclosed, pl.col("silent"))
        return dict(zip(SLICES, parts, strict=True))

    def _undefined(self, place: Place, its: pl.DataFrame, metrics: tuple[str, str]) -> str:
        things, what = "players" if PLAYER_WITHIN in metrics else "statements", SLICES.get(place.part, place.test)
        no_pair = f"no game has both deceptive and honest {things}, so that there is no AUROC within games"
        return why_one_class(its["y"].to_numpy(), what, things) or f"{what}: {self.table.called.say(no_pair)}"


def named(players: pl.DataFrame, by_villagers: bool = False) -> pl.DataFrame:
    """Whom each table names, where it is known who deceives, and somebody does: the most suspect of those who were not
    killed. players: with `score`. One row a game, or a villager who was not killed and does not name itself: siblings,
    right (the share of those who deceive among the equally most suspect), sure (the probability of the most suspect,
    those of the candidates taken together as who deceives), chance (that of naming at random) and candidates (how
    many).
    """
    known = players.filter(pl.col("deceives").is_null().any().over("game_id").not_())
    alive = known.filter(~pl.col("killed"))
    seats = alive.filter("villager").select("game_id", by="player")
    asked = alive.join(seats, on="game_id", maintain_order="left").filter(pl.col("player") != pl.col("by"))
    candidates = asked if by_villagers else alive.with_columns(by="game_id")
    score, lies = pl.col("score"), pl.col("deceives").cast(pl.Float64)
    found = candidates.group_by("game_id", "by", maintain_order=True).agg(
        siblings=pl.col("siblings").first(),
        right=lies.filter(score == score.max()).mean(),
        sure=(score.max() * lies.sum() / score.sum()).fill_nan(0.0),
        chance=lies.mean(),
        candidates=pl.len(),
    )
    return found.filter((pl.col("chance") > 0) & (pl.col("chance") < 1)).drop("game_id", "by")
