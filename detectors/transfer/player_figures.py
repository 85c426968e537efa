"""What a detector's judgement of players is worth, after the whole game."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from liescope.detectors.evaluation.metrics import Floats
from liescope.detectors.transfer.forms import FORMS, WHOLE_GAME
from liescope.detectors.transfer.plan import why_one_class
from liescope.detectors.transfer.players import named, named_by_villagers
from liescope.detectors.transfer.resamples import Resamples
from liescope.detectors.transfer.table import UNITS, Table

PLAYER_AUROC = "player_auroc"
NAMES, NAMES_HALF = "names_deceiver", "names_deceiver_half"
NAMES_VILLAGER, NAMES_VILLAGER_HALF = "names_deceiver_villager", "names_deceiver_villager_half"
PLAYER_METRICS = {
    PLAYER_AUROC: "AUROC of players",
    NAMES: "most suspect deceives",
    NAMES_HALF: "the surer half",
    NAMES_VILLAGER: "in a villager's seat",
    NAMES_VILLAGER_HALF: "its surer half",
}
_HALF = 0.5


def player_figures(table: Table, measure: Resamples, score: Floats, by: str, unit: str) -> Iterator[dict[str, Any]]:
    """The figures of one cell, without where it is; none where no player is scored. Players who were killed at night
    are not counted: everybody knows what they are. The AUROC is over the players of the unit, whether they spoke or
    not; the names are those given in every game that the unit plays. score: of `table.players`.
    """
    own = {"kind": FORMS[WHOLE_GAME][0], "score": WHOLE_GAME}
    mine = pl.Series(table.players[UNITS[by]] == unit).fill_null(value=False)
    seats = table.players.with_columns(
        score=pl.Series(score, nan_to_null=True), number=pl.Series(measure.seated), mine=mine
    ).with_row_index("row")
    seats = seats.filter(pl.col("score").is_not_null() & pl.col("mine").any().over("game_id"))
    told = seats.filter("mine", ~pl.col("killed"), pl.col("deceives").is_not_null())
    if told.height:
        rows, lies = told["row"].to_numpy().astype(np.int64), told["deceives"].to_numpy()
        why = why_one_class(lies, unit, "living players")
        values = None if why else measure.auroc_of_players(rows, lies, told["score"].to_numpy())
        found = measure.players(told["number"].to_numpy(), told.height, float(lies.mean()), values, why)
        yield {**own, "metric": PLAYER_AUROC, **found}
    pairs = ((NAMES, NAMES_HALF, named(seats)), (NAMES_VILLAGER, NAMES_VILLAGER_HALF, named_by_villagers(seats)))
    for whole, half, tables in pairs:
        if tables.height:
            game, right, sure = (tables[name].to_numpy() for name in ("number", "right", "sure"))
            facts = (game, int(tables["candidates"].sum()), float(tables["chance"].to_numpy().mean()))
            yield {**own, "metric": whole, **measure.players(*facts, measure.mean(right, game))}
            yield {**own, "metric": half, **measure.players(*facts, measure.surest(right, sure, game, _HALF))}
