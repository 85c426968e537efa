"""What a detector's judgement of players is worth, after the whole game."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from liescope.common.statistics import Floats
from liescope.detectors.evaluation.metrics import POOLED, WITHIN
from liescope.detectors.transfer.forms import FORMS, WHOLE_GAME
from liescope.detectors.transfer.plan import no_pairs, why_one_class
from liescope.detectors.transfer.players import named, named_by_villagers
from liescope.detectors.transfer.resamples import Resamples, figure
from liescope.detectors.transfer.table import UNITS, Table

PLAYER_WITHIN, PLAYER_AUROC = "player_auroc_within", "player_auroc"
NAMES, NAMES_HALF = "names_deceiver", "names_deceiver_half"
NAMES_VILLAGER, NAMES_VILLAGER_HALF = "names_deceiver_villager", "names_deceiver_villager_half"
PLAYER_METRICS = {
    PLAYER_WITHIN: "AUROC of players within games",
    PLAYER_AUROC: "AUROC of players, pooled",
    NAMES: "most suspect deceives",
    NAMES_HALF: "the surer half",
    NAMES_VILLAGER: "in a villager's seat",
    NAMES_VILLAGER_HALF: "its surer half",
}
_HALF = 0.5


def player_figures(
    table: Table, measure: Resamples, score: Floats, by: str, unit: str
) -> Iterator[tuple[dict[str, Any], Floats | None, int]]:
    """(the figure, without where it is; its values; of how many games) of each figure of one cell; none where no player
    is scored. Players who were killed at night are not counted: everybody knows what they are. The AUROC is over the
    players of the unit, whether they spoke or not; the names are those given in every game that the unit plays. score:
    of `table.players`.
    """
    mine = pl.Series(table.players[UNITS[by]] == unit).fill_null(value=False)
    seats = table.players.with_columns(
        score=pl.Series(score, nan_to_null=True), number=pl.Series(measure.seated), mine=mine
    ).with_row_index("row")
    seats = seats.filter(pl.col("score").is_not_null() & pl.col("mine").any().over("game_id"))
    told = seats.filter("mine", ~pl.col("killed"), pl.col("deceives").is_not_null())
    if told.height:
        rows, lies = told["row"].to_numpy().astype(np.int64), told["deceives"].to_numpy()
        why = why_one_class(lies, unit, "living players")
        found = {} if why else measure.auroc_of_players(rows, lies, told["score"].to_numpy())
        paired = told.filter(pl.col("deceives").cast(pl.Int8).n_unique().over("game_id") > 1)
        for metric, name, its in ((PLAYER_WITHIN, WITHIN, paired), (PLAYER_AUROC, POOLED, told)):
            reason = why or ("" if its.height else no_pairs(unit, "players"))
            shares = its["deceives"].cast(pl.Float64).mean() if its.height else None
            yield _made(metric, None if reason else found[name], its, its.height, shares, reason)
    pairs = ((NAMES, NAMES_HALF, named(seats)), (NAMES_VILLAGER, NAMES_VILLAGER_HALF, named_by_villagers(seats)))
    for whole, half, tables in pairs:
        if tables.height:
            game, right, sure = (tables[name].to_numpy() for name in ("number", "right", "sure"))
            among, chance = int(tables["candidates"].sum()), tables["chance"].mean()
            yield _made(whole, measure.mean(right, game), tables, among, chance)
            yield _made(half, measure.surest(right, sure, game, _HALF), tables, among, chance)


def _made(
    metric: str, values: Floats | None, of: pl.DataFrame, players: int, prevalence: Any, why: str = ""
) -> tuple[dict[str, Any], Floats | None, int]:
    """of: what it is computed from, with `number` of the game."""
    games = of["number"].n_unique()
    facts = {"players": players, "games": games, "prevalence": prevalence, "why": why}
    where = {"kind": FORMS[WHOLE_GAME][0], "score": WHOLE_GAME, "metric": metric}
    return {**where, **figure(values, games, facts)}, values, games
