"""Who wins: by faction, by cell, with and without learning, with and without a jester."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import (
    MIXED_TABLES,
    WINNERS,
    Analysis,
    both_levels_of_learning,
    dealt,
    two_conditions,
    with_and_without,
)
from liescope.benchmark.analyses.analysis_figures import SHARE, by_model, by_side, cell_names, dots, of_game
from liescope.benchmark.analyses.conditions_of_play import CELL, GAME, MIXED, MODEL, POOLED, RATER, jester_games
from liescope.benchmark.analyses.corrections import Alike, Zero
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, share_difference, shares
from liescope.benchmark.analyses.sides import UNKNOWN
from liescope.common.colours import COLOURS
from liescope.games.werewolf import JESTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DECIDED = pl.col("winner") != UNKNOWN


def win_rates(frames: Frames) -> pl.DataFrame:
    """How often each faction wins, for each cell and pooled (Table 7, Figure 2).

    Columns: game, condition, model, learning, faction, wins, games, rate, lo, hi (Wilson's interval over games). Games
    that nobody won count against every faction and also have their own row, "nobody". Games between different models
    share one row; `model_wins` has them by model and role.
    """
    cells = wins_by(frames, CELL)
    pooled = wins_by(frames, GAME).with_columns(model=pl.lit(POOLED), learning=pl.lit(None, pl.Boolean))
    keys = [*CELL, "faction"]
    return pl.concat([shares(part, keys, "wins", "games") for part in (cells, pooled)])


def model_wins(frames: Frames) -> pl.DataFrame:
    """How often each model wins in each role, over games between different models.

    A win is the role's team's. Columns: game, condition, model, learning, role, wins, games (in which the model holds
    the role), rate, lo, hi (Wilson's interval over games; null if winners of one role may differ within a game).
    """
    mixed = frames.games.filter((pl.col("model") == MIXED) & DECIDED).select("game_id")
    keys = [*CELL, "role"]
    held = (
        frames.seats.join(mixed, on="game_id", how="semi")
        .group_by(*keys, "family", "game_id")
        .agg(wins=pl.col("won").any().cast(pl.Int64), alike=pl.col("won").n_unique() == 1)
        .with_columns(games=pl.lit(1, pl.Int64))
    )
    alike = held.group_by(keys).agg(pl.col("alike").all())
    table = shares(held, keys, "wins", "games").join(alike, on=keys, how="left", maintain_order="left")
    bounded = table.with_columns(pl.when("alike").then(pl.col("lo", "hi"))).drop("alike")
    return bounded.sort("game", "condition", "role", "model", "learning")


CHANGE = pl.Schema(
    {
        "game": pl.String,
        "model": pl.String,
        "learning": pl.Boolean,
        "faction": pl.String,
        "one": pl.String,
        "other": pl.String,
        "rate_other": pl.Float64,
        "games_other": pl.Int64,
        "rate_one": pl.Float64,
        "games_one": pl.Int64,
        "difference": pl.Float64,
        "lo": pl.Float64,
        "hi": pl.Float64,
    }
)


def condition_effect(frames: Frames) -> pl.DataFrame:
    """Each faction's win rate in one condition minus that in another, for every two conditions of a game.

    Only line-ups that both conditions share count, so that different opponents do not look like a difference.
    Columns: game, model, learning, faction, one, other (conditions), rate_other, games_other, rate_one, games_one,
    difference (one minus other), lo, hi (Newcombe's interval).
    """
    keys = ["game", "model", "learning", "faction"]
    lineup = ["game", "learning", "lineup"]
    parts = []
    for one, other in pairs_of_conditions(frames):
        games = frames.games.filter(pl.col("condition").is_in([one, other]))
        both = games.filter(pl.col("condition").n_unique().over(lineup) == 2)
        sides = wins_by(frames, CELL, both).with_columns(first=pl.col("condition") == one)
        change = against(sides, keys, "first", "one", "other")
        parts.append(change.with_columns(one=pl.lit(one), other=pl.lit(other)))
    found = pl.concat(parts) if parts else pl.DataFrame(schema=CHANGE)
    return found.select(*CHANGE).sort(list(CHANGE)[:6])


def pairs_of_conditions(frames: Frames) -> list[tuple[str, str]]:
    """Every pair of conditions of the same game, in alphabetical order."""
    conditions = frames.games.group_by("game").agg(pl.col("condition").unique().sort())["condition"]
    return sorted({pair for names in conditions for pair in combinations(names, 2)})


def learning_effect(frames: Frames) -> pl.DataFrame:
    """Each faction's win rate with a learning jester minus that without (Figure 13a, section 5.1).

    Columns: game, condition, model, faction, rate_off, games_off, rate_on, games_on, difference, lo, hi (Newcombe's
    interval); and of the games that have the same turn and seed in both cells: pairs, won_only_on, won_only_off.
    """
    keys = list(MODEL)
    table = against(wins_by(frames, CELL), [*keys, "faction"], "learning", "on", "off")
    return table.join(_paired(frames), on=[*keys, "faction"], how="left", maintain_order="left")


def triadic_against_dyadic(frames: Frames) -> pl.DataFrame:
    """Each faction's win rate with the jester and without, for models that played both (Table 4, section 5.2).

    Only games without learning count, and only those whose condition and way of seating both sides have. Columns:
    condition, model, faction, regime ("triadic", "dyadic", "triadic - dyadic"), wins, games, rate, lo, hi (Wilson's
    interval; for the difference Newcombe's, with null counts).
    """
    games = frames.games.filter(~pl.col("learning") & pl.col("game").str.contains("werewolf"))
    control = games.filter(~pl.col("triadic"))
    seated = ["condition", "model", "seating"]
    matched = games.filter("triadic").join(control, on=seated, how="semi", nulls_equal=True)
    both = pl.concat([matched, control.join(matched, on=seated, how="semi", nulls_equal=True)])
    wins = wins_by(frames, ["condition", "model", "triadic"], both)
    regime = pl.when("triadic").then(pl.lit("triadic")).otherwise(pl.lit("dyadic"))
    rates = shares(wins.with_columns(regime=regime), ["condition", "model", "faction", "regime"], "wins", "games")
    change = against(wins, ["condition", "model", "faction"], "triadic", "triadic", "dyadic").select(
        "condition",
        "model",
        "faction",
        regime=pl.lit("triadic - dyadic"),
        wins=pl.lit(None, pl.Int64),
        games=pl.lit(None, pl.Int64),
        rate="difference",
        lo="lo",
        hi="hi",
    )
    place = pl.col("regime").replace_strict({"triadic": 0, "dyadic": 1, "triadic - dyadic": 2}, return_dtype=pl.Int64)
    return pl.concat([rates.select(change.columns), change]).sort("condition", "model", "faction", place)


_METRICS = ("jester_won", "villagers_won", "werewolves_won", "wolf_voted_jester", "jester_exiled_first")


def shuffled_runs(frames: Frames) -> pl.DataFrame:
    """The headline figures of games whose roles were not fixed to names, by learning (Table 5, section 5.3).

    Metrics: jester_won, villagers_won, werewolves_won, wolf_voted_jester (a werewolf voted for the jester on day 1),
    jester_exiled_first (the vote of day 1 exiled the jester). Games whose seating is not known are left out. Columns:
    condition, model, metric, rate_off, games_off, rate_on, games_on, difference, lo, hi (Newcombe's interval). A side
    without games is null.
    """
    games = jester_games(frames).filter(pl.col("seating") != "fixed")
    index = ["family", "condition", "model", "learning"]
    long = games.unpivot(_METRICS, index=index, variable_name="metric").drop_nulls("value")
    counts = long.with_columns(wins=pl.col("value").cast(pl.Int64), games=pl.lit(1, pl.Int64))
    table = against(counts, ["condition", "model", "metric"], "learning", "on", "off", full=True)
    place = pl.col("metric").replace_strict({name: at for at, name in enumerate(_METRICS)}, return_dtype=pl.Int64)
    return table.sort("condition", "model", place)


def wins_by(frames: Frames, by: Sequence[str], games: pl.DataFrame | None = None) -> pl.DataFrame:
    """by…, faction, family, wins, games (of the family that deal the faction): of every faction, and of "nobody" where
    nobody won.

    by: columns of games. games: those that count, all where None. Games without a known winner never do.
    """
    games = frames.games if games is None else games
    group = games.filter(DECIDED).select("game_id", "family", *by, "winner")
    dealt = group.join(frames.seats.select("game_id", faction="team").unique(), on="game_id")
    keys = [*by, "faction"]
    undealt = group.select(*by, faction="winner").unique().join(dealt, on=keys, how="anti", nulls_equal=True)
    rows = pl.concat([dealt, group.join(undealt, on=by, nulls_equal=True).select(dealt.columns)])
    won = (pl.col("winner") == pl.col("faction")).sum().cast(pl.Int64)
    return rows.group_by(*keys, "family").agg(wins=won, games=pl.len().cast(pl.Int64)).sort(*keys, "family")


def against(
    counts: pl.DataFrame, keys: Sequence[str], by: str, one: str, other: str, full: bool = False
) -> pl.DataFrame:
    """Rates where `by` is true against those where it is false: keys…, rate_other, games_other, rate_one, games_one,
    difference, lo, hi. counts: keys…, `by`, family, wins, games. full: keys that occur on one side only stay, with
    nulls.
    """
    found = []
    for key, part in counts.group_by(list(keys), maintain_order=True):
        sides = [part.filter(pl.col(by) == which) for which in (False, True)]
        games = [int(side["games"].sum()) or None for side in sides]
        rates = [int(side["wins"].sum()) / n if n else None for side, n in zip(sides, games, strict=True)]
        if full or None not in games:
            gap = share_difference(sides[1], sides[0], "wins", "games")
            found.append((*key, rates[0], games[0], rates[1], games[1], *gap))
    schema = {name: counts.schema[name] for name in keys}
    for side in (other, one):
        schema |= {f"rate_{side}": pl.Float64(), f"games_{side}": pl.Int64()}
    schema |= dict.fromkeys(("difference", "lo", "hi"), pl.Float64())
    return pl.DataFrame(found, schema, orient="row").sort(keys)


def _paired(frames: Frames) -> pl.DataFrame:
    """game, condition, model, faction, pairs, won_only_on, won_only_off: over turns and seeds that both cells have once
    each.
    """
    keys = [*MODEL, "turn", "seed"]
    games = frames.games.drop_nulls("turn").filter(pl.len().over(*keys, "learning") == 1)
    sides = [games.filter(pl.col("learning") == on).select(*keys, won="winner") for on in (True, False)]
    pairs = sides[0].join(sides[1], on=keys, suffix="_off", nulls_equal=True)
    factions = wins_by(frames, CELL).select(*MODEL, "faction").unique()
    on, off = pl.col("won") == pl.col("faction"), pl.col("won_off") == pl.col("faction")
    return (
        factions.join(pairs, on=MODEL)
        .group_by(*MODEL, "faction")
        .agg(pairs=pl.len().cast(pl.Int64), won_only_on=(on & ~off).sum(), won_only_off=(off & ~on).sum())
        .with_columns(pl.col("won_only_on", "won_only_off").cast(pl.Int64))
    )


# Figures


def plot_win_rates(table: pl.DataFrame) -> Figure:
    """One panel per faction of each game, a row a cell."""
    cells = cell_names(table)
    factions = of_game(table, "faction")
    return dots(table, "rate", "share of games won", cells, factions, colours=by_model(table, cells), limits=SHARE)


def plot_model_wins(table: pl.DataFrame) -> Figure:
    """One panel per role of each game, a row a model."""
    cells, roles = cell_names(table), of_game(table, "role")
    return dots(table, "rate", "share of games won", cells, roles, colours=by_model(table, cells), limits=SHARE)


def _plot_differences(table: pl.DataFrame, facets: Sequence[str], axis: str) -> Figure:
    """Dots around zero, a row a faction."""
    colours = by_side(table, "faction")
    return dots(table, "difference", axis, "faction", facets, colours=colours, reference=0, limits=(-1.02, 1.02))


def plot_learning_effect(table: pl.DataFrame) -> Figure:
    """Dots around zero, one panel per model."""
    return _plot_differences(table, cell_names(table), "win rate, ON minus OFF")


def plot_condition_effect(table: pl.DataFrame) -> Figure:
    """Dots around zero, one panel per model and pair of conditions."""
    pairs = table.select("one", "other").rows()
    names = [f"{name}: {one} minus {other}" for name, (one, other) in zip(cell_names(table), pairs, strict=True)]
    return _plot_differences(table, names, "difference of win rates")


def plot_triadic_against_dyadic(table: pl.DataFrame) -> Figure:
    """One panel per model, a row a faction: its rate in both regimes."""
    rates = table.drop_nulls("games").with_columns(game=pl.lit("werewolf"))
    colours = {"triadic": COLOURS["orange"], "dyadic": COLOURS["blue"]}
    axis = "share of games won"
    return dots(rates, "rate", axis, "faction", cell_names(rates), "regime", colours, limits=SHARE)


ANALYSES_OF_OUTCOMES: tuple[Analysis, ...] = (
    Analysis(
        "win_rates",
        "Win rates by faction",
        win_rates,
        plot_win_rates,
        needs=(WINNERS,),
        interval=Interval.SHARES,
        source="Table 7, Figure 2",
        note="Share of games that each faction won; games that nobody won count against all.",
        main=True,
        corrections=(Alike(("learning", "faction"), "rate"),),
    ),
    Analysis(
        "model_wins",
        "Win rates by model and role",
        model_wins,
        plot_model_wins,
        needs=(MIXED_TABLES, WINNERS),
        interval=Interval.SHARES,
        note="Games between different models: how often a role's team wins while the model holds that role. "
        "Who else was at the table differs between the rows; the capability model of liescope fit takes that into "
        "account.",
        main=True,
        corrections=(Alike(("learning", "role"), "rate"),),
    ),
    Analysis(
        "condition_effect",
        "Win rates: one condition against another",
        condition_effect,
        plot_condition_effect,
        needs=(two_conditions, WINNERS),
        otherwise="no model played in two conditions",
        interval=Interval.DIFFERENCE,
        note="Above zero, the faction wins more in the first condition; an interval that contains zero leaves the sign "
        "open.",
        main=True,
        corrections=(Zero(draws=("games_one", "games_other")),),
    ),
    Analysis(
        "learning_effect",
        "Learning on minus off",
        learning_effect,
        plot_learning_effect,
        needs=(both_levels_of_learning,),
        otherwise="no model played with learning on and off",
        interval=Interval.DIFFERENCE,
        source="Figure 13a",
        note="Above zero, the faction wins more when the jester learns; an interval that contains zero leaves the sign "
        "open.",
        main=True,
        corrections=(Zero(draws=("games_on", "games_off")),),
    ),
    Analysis(
        "triadic_dyadic",
        "With the jester and without",
        triadic_against_dyadic,
        plot_triadic_against_dyadic,
        needs=(with_and_without(JESTER),),
        otherwise="no model played both with the jester and without, with equal settings",
        interval=Interval.SHARES_AND_DIFFERENCE,
        source="Table 4",
        note="How much villagers lose once looking suspicious can mean two things.",
        main=True,
    ),
    Analysis(
        "shuffled_runs",
        "Games with roles shuffled over names",
        shuffled_runs,
        needs=(dealt(JESTER),),
        otherwise="roles were fixed to names, or the seating is not known",
        interval=Interval.DIFFERENCE,
        source="Table 5",
        note="The headline figures of games in which a name cannot reveal a role.",
        corrections=(Zero(draws=("games_on", "games_off")),),
    ),
)


def configuration(frames: Frames) -> pl.DataFrame:
    """Who played and what was measured, for each cell (Table 22, as far as the games show it).

    Columns: game, condition, model, learning, rater (who reported and rated: "players" or a judge), seating, source,
    roster ("6 villager, 2 werewolf, …"), lineups (different assignments of models to roles), games, statements,
    rated (share of statements with at least one usable rating), longest (days).
    """
    keys = [*CELL, RATER, "seating", "source", "roster"]
    roster = (
        frames.seats.group_by("game_id", "role")
        .len()
        .sort("game_id", pl.col("len"), "role", descending=[False, True, False])
        .group_by("game_id", maintain_order=True)
        .agg(roster=pl.format("{} {}", "len", "role").str.join(", "))
    )
    said = frames.statements.group_by("game_id", RATER).agg(
        statements=pl.len().cast(pl.Int64), rated=(pl.col("peer_ratings") > 0).sum().cast(pl.Int64)
    )
    games = frames.games.join(roster, on="game_id", how="left").join(said, on="game_id", how="left")
    return (
        games.group_by(keys)
        .agg(
            lineups=pl.col("lineup").n_unique().cast(pl.Int64),
            games=pl.len().cast(pl.Int64),
            statements=pl.col("statements").sum(),
            rated=pl.col("rated").sum() / pl.col("statements").sum(),
            longest=pl.col("days").max(),
        )
        .sort(keys)
    )


ANALYSES_OF_CONFIGURATION: tuple[Analysis, ...] = (
    Analysis(
        "configuration",
        "What was played",
        configuration,
        source="Table 22",
        note="Facts about the games; their settings are at the end of the page.",
    ),
)
