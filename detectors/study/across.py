"""The figures of every place across units, computed from the scores: nothing is fitted, all leave the same games out.

A statement's own score uses what was said so far, so it could be shown while the game is played. After the game the
speaker's score is the probability, of all at the table, that the speaker deceives. Of players, too, after the whole
game: how well they are ranked, and whether the most suspect deceives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import polars as pl

from liescope.common.statistics import CHANGE, Floats, Weights, at_share, codes, estimate, game_weights, share, worst
from liescope.common.text import Units
from liescope.detectors.detector import Progress, silent
from liescope.detectors.study.corpora import UNITS, TransferTable
from liescope.detectors.study.figures import Figure, figures_of, measured
from liescope.detectors.study.fits import Scores
from liescope.detectors.study.metrics import DIFFERENCE, METRIC, POOLED, WITHIN, pooled_auroc, within_games
from liescope.detectors.study.plans import LEFT_OUT, PAIR, PROTOCOLS, why_one_class
from liescope.detectors.study.scorers import NO_RIVALS
from liescope.detectors.study.scores import CONTROL, scored

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


@dataclass(frozen=True, slots=True)
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
    each family of corpora; and by how much the mean of detectors is above that of controls. The interval of a worst one
    allows for its having been picked.
    """
    measure = Weighted.of(table, seed)
    found: list[Figure] = []
    places: dict[str, Place] = {}
    means: dict[tuple[Place, str], dict[str, _Cell]] = {}
    off: dict[tuple[str, ...], list[_Cell]] = {}
    for done, part in enumerate(scores):
        progress("figures of each detector", done, len(scores))
        for test in np.unique(table.column(UNITS[part.by])).tolist() if part.protocol == PAIR else [part.unit]:
            cells = list(_of_place(table, measure, part, test))
            found += [cell.figure for cell in cells]
            places |= {cell.place.where: cell.place for cell in cells}
            counts = cells[0].place.train != test and table.frame.filter(_unit(part.by, test))["learn"].any()
            if part.protocol in PROTOCOLS and counts:
                seated = test in table.players[UNITS[part.by]]
                for cell in (one for one in (*cells, *_main(cells, seated)) if not one.place.part):
                    key = (part.by, part.protocol, cell.place.family, part.scorer, cell.figure.metric)
                    off.setdefault((*key, AFTER * cell.place.after), []).append(cell)
    progress("figures of each detector", len(scores), len(scores))
    for cells in off.values():
        for cell in _together(cells):
            found.append(cell.figure)
            places[cell.place.where] = cell.place
            if cell.place.part == MEAN:
                means.setdefault((replace(cell.place, cells=1), cell.figure.metric), {})[cell.figure.scorer] = cell
    for of_mean in means.values():
        found += _ahead(of_mean)
    return found, places


@dataclass(frozen=True, slots=True)
class Weighted:
    """Weighted of a table's games, drawn within each corpus; games that share a beginning are drawn as one. at: the
    column of `weights` by their name.
    """

    at: Mapping[str, int]
    weights: Weights

    @classmethod
    def of(cls, table: TransferTable, seed: int) -> Weighted:
        families = table.frame.select("corpus", "siblings").unique(maintain_order=True)
        sizes = families.group_by("corpus", maintain_order=True).len()["len"]
        weights = np.hstack([game_weights(size, seed + i) for i, size in enumerate(sizes)])
        return cls({name: at for at, name in enumerate(families["siblings"])}, weights)

    def on(self, part: pl.DataFrame) -> Weights:
        """Those of the games of some rows, in the order of `codes`."""
        return self.weights[:, [self.at[name] for name in np.unique(part["siblings"].to_numpy())]]

    def auroc(self, part: pl.DataFrame) -> tuple[Floats, Floats]:
        """Within games, and pooled over them; NaN where there is none. part: y, score, game_id, siblings."""
        data, weights = scored(part), self.on(part)
        return within_games(data, weights), pooled_auroc(data, weights)


def _unit(by: str, test: str) -> pl.Expr:
    return (pl.col(UNITS[by]) == test).fill_null(value=False)


def _of_place(table: TransferTable, measure: Weighted, part: Scores, test: str) -> Iterator[_Cell]:
    """The figures of one unit: of its statements and slices of them, and of its players."""
    mine = table.frame.filter(_unit(part.by, test))
    target, family = (" and ".join(mine[name].unique().sort()) for name in ("target", "family"))
    place = Place(part.by, part.protocol, test, part.unit if part.protocol == PAIR else "", family)
    seat = table.frame["seat"].fill_null(-1).to_numpy()
    columns = {"score": part.score, "after": np.append(part.players, np.nan)[seat], "unheard": part.unheard}
    every = table.frame.with_columns(pl.Series(name, found, nan_to_null=True) for name, found in columns.items())
    labelled = every.filter(_unit(part.by, test), pl.col("y").is_not_null())
    known = labelled.drop_nulls("score")
    why = why_one_class(labelled["y"].to_numpy(), test)
    if not why and known.is_empty():
        why = "; ".join(part.reasons) or f"{part.unit}: no statement of {test} is scored"
    why = why or why_one_class(known["y"].to_numpy(), f"{test}, as far as scored")
    slices = {"": pl.lit(True)} | (_slices() if part.protocol == LEFT_OUT and part.choices else {})
    for (name, within), after in product(slices.items(), (False, True)):
        its = known.filter(within.fill_null(value=False))
        if after:
            its = its.with_columns(score="after").drop_nulls("score")
        if (its.height and not why) or not (name or after):
            what = SLICES[name] if name else test
            own = replace(place, part=name, after=after)
            yield from _ranked(measure, part.scorer, target, own, its, (WITHIN, POOLED), why, what, table.units)
    yield from _of_players(table, measure, part, target, replace(place, after=True))


def _slices() -> dict[str, pl.Expr]:
    disclosed = pl.col("disclosed")
    found = (pl.col("unheard") & pl.col("models").is_not_null(), pl.col("self_play"), disclosed, ~disclosed)
    return dict(zip(SLICES, (*found, pl.col("silent")), strict=True))


def _ranked(
    measure: Weighted,
    scorer: str,
    target: str,
    place: Place,
    its: pl.DataFrame,
    metrics: tuple[str, str],
    why: str,
    what: str,
    units: Units,
    things: str = "statements",
) -> Iterator[_Cell]:
    """The AUROC within games and pooled, by these names, of rows with y and score; or why there is none."""
    values = measure.auroc(its) if its.height and not why else (np.full(len(measure.weights), np.nan),) * 2
    pairs = units.say(f"no game has both deceptive and honest {things}, so that there is no AUROC within games")
    for figure in measured(scorer, target, place.where, dict(zip(metrics, values, strict=True)), its):
        paired = its.filter(pl.col("y").n_unique().over("game_id") > 1) if METRIC[figure.metric].paired else its
        reason = why or why_one_class(paired["y"].to_numpy(), what, things)
        if paired.is_empty() and not why:
            reason = f"{what}: {pairs}"
        figure = replace(figure, why="" if figure.value is not None else reason)
        yield _Cell(place, figure, values[metrics.index(figure.metric)], paired["siblings"].n_unique())


def _of_players(table: TransferTable, measure: Weighted, part: Scores, target: str, place: Place) -> Iterator[_Cell]:
    """None where no player is scored. Players who were killed at night are not counted: everybody knows what they are.
    The AUROC is over the players of the unit, whether they spoke or not; the names are those given in every game that
    the unit plays.
    """
    players = table.players.with_columns(
        score=pl.Series(part.players, nan_to_null=True), mine=_unit(part.by, place.test), y=pl.col("deceives")
    )
    seats = players.filter(pl.col("score").is_not_null() & pl.col("mine").any().over("game_id"))
    told = seats.filter("mine", ~pl.col("killed"), pl.col("y").is_not_null())
    if told.height:
        why = why_one_class(told["y"].to_numpy(), place.test, "living players")
        metrics = (PLAYER_WITHIN, PLAYER_AUROC)
        yield from _ranked(measure, part.scorer, target, place, told, metrics, why, place.test, table.units, "players")
    for metric, tables in ((NAMES, named(seats)), (NAMES_VILLAGER, named_by_villagers(seats))):
        if tables.is_empty():
            continue
        weights, (game, games) = measure.on(tables), codes(tables["siblings"].to_numpy())
        right, sure = (tables[name].to_numpy() for name in ("right", "sure"))
        shared = (int(tables["candidates"].sum()), games, float(tables["chance"].to_numpy().mean()))
        of_all, of_half = (
            share(right, np.ones(len(right)), game, weights),
            at_share(sure, right, 0.5, weights[:, game]),
        )
        for name, values in ((metric, of_all), (metric + HALF, of_half)):
            (figure,) = figures_of(part.scorer, target, place.where, [(name, estimate(values, games))], shared)
            yield _Cell(place, figure, values, games)


def named(players: pl.DataFrame) -> pl.DataFrame:
    """Whom each table names, where it is known who deceives, and somebody does: the most suspect of those who were not
    killed. players: with `score`. One row a game: siblings, right (the share of those who deceive among the equally
    most suspect), sure (the probability of the most suspect, those of the candidates taken together as who deceives),
    chance (that of naming at random) and candidates (how many).
    """
    known = players.filter(pl.col("deceives").is_null().any().over("game_id").not_())
    return _named(known.filter(~pl.col("killed")).with_columns(by=pl.col("game_id")))


def named_by_villagers(players: pl.DataFrame) -> pl.DataFrame:
    """The same from the seat of each villager who was not killed, who does not name itself: one row a villager."""
    alive = players.filter(~pl.col("killed"))
    seats = alive.filter("villager").select("game_id", by="player")
    others = alive.join(seats, on="game_id", maintain_order="left").filter(pl.col("player") != pl.col("by"))
    known = others.filter(pl.col("deceives").is_null().any().over("game_id").not_())
    return _named(known)


def _named(candidates: pl.DataFrame) -> pl.DataFrame:
    score, lies = pl.col("score"), pl.col("deceives").cast(pl.Float64)
    found = candidates.group_by("game_id", "by", maintain_order=True).agg(
        siblings=pl.col("siblings").first(),
        right=lies.filter(score == score.max()).mean(),
        sure=(score.max() * lies.sum() / score.sum()).fill_nan(0.0),
        chance=lies.mean(),
        candidates=pl.len(),
    )
    return found.filter((pl.col("chance") > 0) & (pl.col("chance") < 1)).drop("game_id", "by")


def _main(cells: Sequence[_Cell], seated: bool) -> Iterator[_Cell]:
    """Of a unit that is left out, the figures by which scorers are compared on it, so far and after the whole game."""
    found = {(cell.place.after, cell.figure.metric): cell for cell in cells if not cell.place.part}
    if cells[0].place.protocol == LEFT_OUT:
        for after in (False, True):
            cell = found.get(main_figure(found[False, WITHIN].figure, after and seated))
            if cell is not None:
                yield replace(cell, place=replace(cell.place, after=after), figure=replace(cell.figure, metric=MAIN))


def main_figure(within: Figure, seated: bool) -> tuple[bool, str]:
    """Whether after the game, and the metric, of the figure by which scorers are compared on a unit: after the whole
    game, the AUROC of its players within games; that of its statements within games, online and where it has no players
    whose role is the target; over all of them where no game has both classes, as in conversations of one task. within:
    the AUROC of its statements within games.
    """
    return (True, PLAYER_WITHIN) if seated else (False, WITHIN if within.statements else POOLED)


def _together(cells: Sequence[_Cell]) -> Iterator[_Cell]:
    """The worst and the mean of some figures. Those whose value is not defined without some games are left out of that
    mean, which rests on no more games than the one that has fewest.
    """
    full = [cell for cell in cells if cell.figure.value is not None]
    first = cells[0].place
    mean = Place(first.by, first.protocol, "", family=first.family, part=MEAN, after=first.after, cells=len(full))
    what = replace(cells[0].figure, where=mean.where, target=" and ".join(sorted({c.figure.target for c in cells})))
    if not full:
        nothing = replace(what, value=None, lo=None, hi=None, why=cells[0].figure.why)
        yield _Cell(mean, nothing, cells[0].values, 0)
        return
    at, least = worst([(cell.values, cell.games) for cell in full])
    place = replace(full[at].place, part=WORST, after=first.after, cells=len(full))
    figure = replace(full[at].figure, where=place.where, value=least[0], lo=least[1], hi=least[2])
    yield _Cell(place, figure, full[at].values, full[at].games)
    together = np.stack([cell.values for cell in full])
    with np.errstate(invalid="ignore"):
        values = np.nansum(together, axis=0) / np.isfinite(together).sum(axis=0)
    tests = {cell.place.test: cell.figure for cell in full}.values()
    value, lo, hi = estimate(values, fewest := min(cell.games for cell in full))
    counted = (sum(one.statements for one in tests), sum(one.games for one in tests))
    yield _Cell(
        mean, Figure(what.scorer, what.target, mean.where, what.metric, value, lo, hi, *counted), values, fewest
    )


def _ahead(means: Mapping[str, _Cell]) -> Iterator[Figure]:
    """By how much the mean of each detector is above that of each control, where both are of the same places."""
    rivals = [name for name in means if name.startswith(CONTROL) and name.removeprefix(CONTROL) not in NO_RIVALS]
    for name, other in product((name for name in means if not name.startswith(CONTROL)), rivals):
        mine, its = means[name], means[other]
        same = (mine.place.cells, mine.figure.statements) == (its.place.cells, its.figure.statements)
        if same and mine.figure.value is not None:
            value, lo, hi = estimate(mine.values - its.values, min(mine.games, its.games), CHANGE)
            metric = mine.figure.metric + DIFFERENCE
            yield replace(mine.figure, metric=metric, value=value, lo=lo, hi=hi, against=other)
