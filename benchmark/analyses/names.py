"""Whether a player's name, or its gender, changes who wins: raw, and among games that are alike but for the name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis, Means, Shares, long, told
from liescope.benchmark.analyses.analysis_figures import DRAWN, Dots, cell_names
from liescope.benchmark.analyses.conditions_of_play import GAME, PLAYERS
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import (
    LEAST,
    Interval,
    Zero,
    adjusted_difference,
    adjusted_omnibus,
)
from liescope.benchmark.capability.counts import schema
from liescope.common.statistics import holm

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FEMALE, MALE, UNSTATED = "female", "male", "not stated"
GENDERS = {
    **dict.fromkeys(("Alice", "Diana", "Erin", "Grace", "Ivy", "Kate"), FEMALE),
    **dict.fromkeys(("Bob", "Charlie", "Frank", "Henry", "Jack", "Liam"), MALE),
}
"""The gender that a default name of `games.table.NAMES` most often has; the first four as in the Mini-Mafia paper."""
ANY = "any role"
RARE = 0.02
"""Share of the games below which a name is left out: in games between people, names hardly recur."""
_SIDE_WON = "share of games that the name's side won"
_ALIKE = (*GAME, "learning", "lineup", "role")


def name_effect(frames: Frames) -> pl.DataFrame:
    """The effect of a name: the win rate of its side, minus that of other names in the same role, with the same models
    in all roles, in the same condition (section 4.1, Eq. 8, on the scale of rates).

    It is the effect of the deal: where Bob is the only deceiver, nobody else is, so what Bob changes there also shows,
    weaker, where Bob holds another role.

    Columns: game, condition, role ("any role", or one), name, difference, lo, hi (errors clustered by game), games (in
    which names are compared).
    """
    return _effects(spoke(frames), "name")


def name_differences(frames: Frames) -> pl.DataFrame:
    """Whether names differ at all in what their sides win, within the same role, models and condition.

    One test for all names (`intervals.adjusted_omnibus`): in any role, and for each role. Columns: game, condition,
    role ("any role", or one), names (compared), games, p, p_holm (corrected for the single roles; null for "any role",
    which asks the whole at once). p is null where too few games compare names.
    """
    found: list[tuple[object, ...]] = []
    for (game, condition), rows in spoke(frames).group_by(GAME, maintain_order=True):
        p, names, games = adjusted_omnibus(rows, "name", "won", _ALIKE)
        tests = [
            (role, *adjusted_omnibus(part, "name", "won", _ALIKE))
            for (role,), part in rows.sort("role").group_by("role", maintain_order=True)
        ]
        corrected = holm([test[1] for test in tests])
        found.append((game, condition, ANY, names, games, p, None))
        found += [
            (game, condition, role, of, count, one, other)
            for (role, one, of, count), other in zip(tests, corrected, strict=True)
        ]
    columns = schema("text game condition role", "count names games", "number p p_holm")
    table = pl.DataFrame(found, columns, orient="row").filter(pl.col("games") > 0)
    return table.with_columns(pl.col("p", "p_holm").clip(LEAST)).sort(*GAME, pl.col("role") != ANY, "role")


def gender_effect(frames: Frames) -> pl.DataFrame:
    """The win rate of sides of male names, minus that of female names in the same role, with the same models in all
    roles, in the same condition. Other names do not count.

    Columns: game, condition, role ("any role", or one), difference, lo, hi (errors clustered by game), games (in which
    genders are compared).
    """
    stated = with_gender(spoke(frames)).filter(pl.col("gender") != UNSTATED)
    return _effects(stated, "gender").drop("gender")


def attributed(frames: Frames) -> pl.DataFrame:
    """Seats of players not killed before anybody spoke, once for each attribute of their name and each measure: whether
    the side won, whether the player was voted out, and the mean suspicion in the other players' ratings.

    Columns: those of `spoke`, attribute, group (the name's value), measure, value.
    """
    rows = [
        (game, name, attribute, group)
        for game, told in frames.games.select("game_id", "attributes").drop_nulls().iter_rows()
        for name, facts in json.loads(told).items()
        for attribute, group in facts.items()
        if group
    ]
    named = pl.DataFrame(rows, schema("text game_id name attribute group"), orient="row")
    rated = frames.ratings.filter(pl.col("rater") == PLAYERS).group_by("game_id", name="speaker")
    seats = spoke(frames, 0.0).join(named, on=["game_id", "name"])
    seats = seats.join(rated.agg(pl.col("suspicion").mean()), on=["game_id", "name"], how="left", maintain_order="left")
    seats = seats.with_columns(pl.col("won").alias("side won"), (pl.col("fate") == "exiled").alias("voted out"))
    return long(seats, ("side won", "voted out", "suspicion"), "measure")


def attribute_effect(frames: Frames) -> pl.DataFrame:
    """What each measure of `attributed` is for names of a value, minus that of names of the other values in the same
    role, with the same models in all roles, in the same condition.

    Columns: game, condition, attribute, measure, role ("any role", or one), group, difference, lo, hi (errors clustered
    by game), games (in which values are compared).
    """
    return _effects(attributed(frames), "group", "value", (*GAME, "attribute", "measure"))


def spoke(frames: Frames, rare: float = RARE) -> pl.DataFrame:
    """Seats of players not killed before anybody spoke, in games with a known winner, with the lineup: those whose
    names others could react to. In Mini-Mafia, all three survivors of the night. Names in a share of games below `rare`
    are left out.
    """
    early = (pl.col("fate") == "killed") & (pl.col("day_out") <= 1)
    share = pl.col("game_id").n_unique().over(*GAME, "name") / pl.col("game_id").n_unique().over(GAME)
    seats = frames.seats.drop_nulls("won").filter(~early.fill_null(False)).filter(share >= rare)
    lineups = frames.games.select("game_id", "lineup")
    return seats.join(lineups, on="game_id", how="left", maintain_order="left").with_columns(pl.col("won").cast(float))


def with_gender(seats: pl.DataFrame) -> pl.DataFrame:
    return seats.with_columns(gender=pl.col("name").replace_strict(GENDERS, default=UNSTATED, return_dtype=pl.String))


def _effects(seats: pl.DataFrame, fact: str, outcome: str = "won", keys: Sequence[str] = GAME) -> pl.DataFrame:
    """The difference that each value of a column makes, of two the last (the other's is its negative), over all roles
    and for each: the keys, role, the column, difference, lo, hi, games.
    """
    roles = pl.concat([seats.with_columns(_of=pl.lit(ANY)), seats.with_columns(_of="role")])
    found = []
    for (*key, role), rows in roles.group_by(*keys, "_of"):
        values = rows[fact].unique().sort().to_list()
        for value in values[1:] if len(values) == 2 else values:
            holds = rows.with_columns(_holds=pl.col(fact) == value)
            found.append((*key, role, value, *adjusted_difference(holds, "_holds", outcome, _ALIKE)))
    columns = schema(f"text {' '.join(keys)} role {fact}", "number difference lo hi", "count games")
    table = pl.DataFrame(found, columns, orient="row").drop_nulls("difference")
    return table.sort(*keys, pl.col("role") != ANY, "role", fact)


def plot_name_effect(table: pl.DataFrame) -> Figure:
    """A row a name around zero, a panel a role, all panels on one scale."""
    table = _most(table)
    furthest = 1.05 * max(table.select(pl.col("difference", "lo", "hi").abs().max()).fill_null(0.0).row(0)) or 1.0
    axis = "win rate, minus that of other names in its place"
    roles = [", ".join(filter(None, pair)) for pair in zip(table["role"], cell_names(table), strict=True)]
    return Dots(axis, "name", roles, reference=0, limits=(-furthest, furthest))(table)


def _most(table: pl.DataFrame) -> pl.DataFrame:
    """Rows of the names with the most games, as many as fit a figure."""
    games = table.group_by("name").agg(pl.col("games").sum()).sort("games", "name", descending=[True, False])
    return table.filter(pl.col("name").is_in(games["name"].head(DRAWN).implode()))


ANALYSES_OF_NAMES: tuple[Analysis, ...] = (
    told(
        "name_wins", Shares(spoke, "won", (*GAME, "name"), "wins"), lambda table: Dots(_SIDE_WON, "name")(_most(table))
    ),
    told("name_effect", name_effect, plot_name_effect, interval=Interval.CLUSTERED, corrections=(Zero(),)),
    told("name_differences", name_differences),
    told(
        "gender_wins",
        Means(
            # Games in which some names have a stated gender; the other names stay among them.
            lambda frames: with_gender(spoke(frames)).filter((pl.col("gender") != UNSTATED).any().over(GAME)),
            "won",
            (*GAME, "gender"),
        ),
        Dots(_SIDE_WON, "gender"),
    ),
    told(
        "gender_effect",
        gender_effect,
        Dots("win rate, male minus female names", "role", reference=0),
        interval=Interval.CLUSTERED,
        corrections=(Zero(),),
    ),
    told("attribute_rates", Means(attributed, "value", (*GAME, "attribute", "measure", "group"))),
    told("attribute_effect", attribute_effect, interval=Interval.CLUSTERED, corrections=(Zero(),)),
)
