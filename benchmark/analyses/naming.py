"""Hidden roles as named by a judge from the seats of the survivors."""

from __future__ import annotations

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import GAME, RATER
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.benchmark.analyses.needs import GUESSES
from liescope.benchmark.analyses.sides import united_roles

ALL = "all"


def named_roles(frames: Frames) -> pl.DataFrame:
    """How often the judge names a hidden role correctly, by the role named, by the seat it looked from, by both
    (section 5.4).

    Columns: game, condition, rater (the judge), observer_role, target_role (either may be "all"), mean (accuracy), lo,
    hi (over games), n (guesses), games; even_chance: one in the number of roles dealt, the paper's baseline;
    roster_chance: the accuracy of dealing the roster, without what the observer knows, at random.
    Everybody knows its own role and some roles know each other (`sides`), so their guesses about partners are left out.
    """
    keys = [*GAME, RATER, "observer_role", "target_role"]
    dealt = frames.seats.group_by("game_id").agg(roles=pl.col("role").n_unique(), seats=pl.len())
    of_role = frames.seats.group_by("game_id", target_role="role").agg(of_role=pl.len())
    same = (pl.col("observer_role") == pl.col("target_role")).cast(pl.Int64)
    united = united_roles().rename({"role": "observer_role"}).with_columns(united=True)
    known = pl.when("united").then(pl.col("of_own")).otherwise(1)
    guesses = (
        frames.guesses.drop_nulls("guess")
        .join(united, on=["game", "observer_role"], how="left")
        .with_columns(pl.col("united").fill_null(False))
        .filter(~(pl.col("united") & (pl.col("observer_role") == pl.col("target_role"))))
        .join(dealt, on="game_id")
        .join(of_role, on=["game_id", "target_role"])
        .join(of_role.rename({"target_role": "observer_role", "of_role": "of_own"}), on=["game_id", "observer_role"])
        .select(
            "game_id",
            "family",
            *keys,
            right=pl.col("guess") == pl.col("target_role"),
            even_chance=1 / pl.col("roles"),
            roster_chance=(pl.col("of_role").cast(pl.Int64) - same) / (pl.col("seats") - known),
        )
    )
    everyone = pl.lit(ALL)
    rows = pl.concat(
        [
            guesses.with_columns(observer_role=everyone, target_role=everyone),
            guesses.with_columns(observer_role=everyone),
            guesses.with_columns(target_role=everyone),
            guesses,
        ]
    )
    chance = rows.group_by(keys).agg(pl.col("even_chance", "roster_chance").mean())
    first = [pl.col("observer_role") != ALL, pl.col("target_role") != ALL]
    return game_means(rows, keys, "right").join(chance, on=keys, how="left").sort(*GAME, RATER, *first, *keys[3:])


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "named_roles",
        "Hidden roles named by a judge",
        named_roles,
        needs=(GUESSES,),
        interval=Interval.MEANS,
        source="section 5.4",
        note="At roster_chance, the judge read no more from the transcript than the roster tells that seat.",
        main=True,
    ),
)
