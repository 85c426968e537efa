"""Who wins: by faction, by cell, with and without learning, with and without a jester."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.figures import (
    COLOURS,
    bars_with_intervals,
    canvas,
    cell_names,
    faction_colour,
    literal,
)
from liescope.benchmark.analyses.frames import CELL, Frames
from liescope.benchmark.analyses.intervals import newcombe, with_wilson
from liescope.benchmark.analyses.jester_games import jester_games

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POOLED = "all models"
"""Stands in the column `model` where models and learning are pooled; `learning` is null there."""


def win_rates(frames: Frames) -> pl.DataFrame:
    """How often each faction wins, for each cell and pooled (Table 7, Figure 2).

    Columns: game, model, learning, faction, wins, games, rate, lo, hi (Wilson's interval over games). Games that
    nobody won count against every faction; where there are such games, "nobody" has a row of its own.
    """
    cells = wins_by(frames, CELL)
    pooled = wins_by(frames, ["game"]).with_columns(model=pl.lit(POOLED), learning=pl.lit(None, pl.Boolean))
    order = [*CELL, "faction", "wins", "games"]
    return with_wilson(pl.concat([cells.select(order), pooled.select(order)]), "wins", "games")


def learning_effect(frames: Frames) -> pl.DataFrame:
    """Each faction's win rate with a learning jester minus that without (Figure 13a, section 5.1).

    Columns: game, model, faction, rate_off, games_off, rate_on, games_on, difference, lo, hi (Newcombe's interval);
    and of the games that have the same turn and seed in both cells: pairs, won_only_on, won_only_off.
    """
    keys = ["game", "model"]
    table = against(wins_by(frames, CELL), [*keys, "faction"], "learning", "on", "off")
    return table.join(_paired(frames), on=[*keys, "faction"], how="left", maintain_order="left")


def triadic_against_dyadic(frames: Frames) -> pl.DataFrame:
    """Each faction's win rate with the jester and without, for models that played both (Table 4, section 5.2).

    Only games without learning count, and only those whose way of seating both sides have. Columns: model, faction,
    regime ("triadic", "dyadic", "triadic - dyadic"), wins, games, rate, lo, hi (Wilson's interval; for the
    difference Newcombe's, with null counts).
    """
    games = frames.games.filter(~pl.col("learning") & pl.col("game").str.contains("werewolf"))
    control = games.filter(~pl.col("triadic"))
    seated = ["model", "seating"]
    matched = games.filter("triadic").join(control, on=seated, how="semi", nulls_equal=True)
    both = pl.concat([matched, control.join(matched, on=seated, how="semi", nulls_equal=True)])
    wins = wins_by(frames, ["model", "triadic"], both)
    regime = pl.when("triadic").then(pl.lit("triadic")).otherwise(pl.lit("dyadic"))
    rates = with_wilson(wins.with_columns(regime=regime), "wins", "games")
    change = against(wins, ["model", "faction"], "triadic", "triadic", "dyadic").select(
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
    return pl.concat([rates.select(change.columns), change]).sort("model", "faction", place)


_METRICS = ("jester_won", "villagers_won", "werewolves_won", "wolf_voted_jester", "jester_exiled_first")


def shuffled_runs(frames: Frames) -> pl.DataFrame:
    """The headline figures of the games whose roles were not fixed to names, by learning (Table 5, section 5.3).

    Metrics: jester_won, villagers_won, werewolves_won, wolf_voted_jester (a werewolf voted for the jester on day 1),
    jester_exiled_first (the vote of day 1 exiled the jester). Games whose seating is not known are left out. Columns:
    model, metric, rate_off, games_off, rate_on, games_on, difference, lo, hi (Newcombe's interval). A side without
    games is null.
    """
    games = jester_games(frames).filter(pl.col("seating") != "fixed")
    counts = (
        games.unpivot(_METRICS, index=["model", "learning"], variable_name="metric")
        .drop_nulls("value")
        .group_by("model", "learning", "metric")
        .agg(wins=pl.col("value").sum().cast(pl.Int64), games=pl.len().cast(pl.Int64))
    )
    table = against(counts, ["model", "metric"], "learning", "on", "off", full=True)
    place = pl.col("metric").replace_strict({name: at for at, name in enumerate(_METRICS)}, return_dtype=pl.Int64)
    return table.sort("model", place)


def wins_by(frames: Frames, by: Sequence[str], games: pl.DataFrame | None = None) -> pl.DataFrame:
    """by…, faction, wins, games (that deal the faction): of every faction, and of "nobody" where nobody won.

    by: columns of games. games: those that count, all where None.
    """
    games = frames.games if games is None else games
    group = games.select("game_id", *by, "winner")
    dealt = frames.seats.select("game_id", faction="team").unique()
    of_faction = group.join(dealt, on="game_id").group_by(*by, "faction").agg(games=pl.len().cast(pl.Int64))
    won = group.group_by(*by, faction="winner").agg(wins=pl.len().cast(pl.Int64))
    whole = group.group_by(by).agg(games=pl.len().cast(pl.Int64))
    undealt = won.join(of_faction, on=[*by, "faction"], how="anti", nulls_equal=True).select(*by, "faction")
    table = pl.concat([of_faction, undealt.join(whole, on=by, nulls_equal=True)])
    table = table.join(won, on=[*by, "faction"], how="left", nulls_equal=True)
    return table.with_columns(pl.col("wins").fill_null(0)).sort(*by, "faction")


def against(
    counts: pl.DataFrame, keys: Sequence[str], by: str, one: str, other: str, full: bool = False
) -> pl.DataFrame:
    """Rates where `by` is true against those where it is false: keys…, rate_other, games_other, rate_one, games_one,
    difference, lo, hi. counts: keys…, `by`, wins, games. full: keys that occur on one side only stay, with nulls.
    """

    def side(which: bool, name: str) -> pl.DataFrame:
        part = counts.filter(pl.col(by) == which)
        return part.select(*keys, pl.col("wins").alias(f"wins_{name}"), pl.col("games").alias(f"games_{name}"))

    table = side(False, other).join(side(True, one), on=keys, how="full" if full else "inner", coalesce=True)
    columns = [f"wins_{one}", f"games_{one}", f"wins_{other}", f"games_{other}"]
    bounds = [(None, None) if None in row else newcombe(*row) for row in table.select(columns).iter_rows()]
    rates = {f"rate_{side}": pl.col(f"wins_{side}") / pl.col(f"games_{side}") for side in (one, other)}
    return (
        table.with_columns(**rates)
        .with_columns(
            (pl.col(f"rate_{one}") - pl.col(f"rate_{other}")).alias("difference"),
            pl.Series("lo", [lo for lo, _ in bounds], pl.Float64),
            pl.Series("hi", [hi for _, hi in bounds], pl.Float64),
        )
        .select(*keys, f"rate_{other}", f"games_{other}", f"rate_{one}", f"games_{one}", "difference", "lo", "hi")
        .sort(keys)
    )


def _paired(frames: Frames) -> pl.DataFrame:
    """game, model, faction, pairs, won_only_on, won_only_off: over turns and seeds that both cells have once each."""
    keys = ["game", "model", "turn", "seed"]
    games = frames.games.drop_nulls("turn").filter(pl.len().over(*keys, "learning") == 1)
    sides = [games.filter(pl.col("learning") == on).select(*keys, won="winner") for on in (True, False)]
    pairs = sides[0].join(sides[1], on=keys, suffix="_off", nulls_equal=True)
    factions = wins_by(frames, CELL).select("game", "model", "faction").unique()
    on, off = pl.col("won") == pl.col("faction"), pl.col("won_off") == pl.col("faction")
    return (
        factions.join(pairs, on=["game", "model"])
        .group_by("game", "model", "faction")
        .agg(pairs=pl.len().cast(pl.Int64), won_only_on=(on & ~off).sum(), won_only_off=(off & ~on).sum())
        .with_columns(pl.col("won_only_on", "won_only_off").cast(pl.Int64))
    )


# Figures


def plot_win_rates(table: pl.DataFrame) -> Figure:
    """One panel a faction, one bar a cell."""
    factions = table["faction"].unique(maintain_order=True).to_list()
    named = table.with_columns(cell=pl.Series(cell_names(table), dtype=pl.String))
    figure, panels = canvas(len(factions), height=1.2 + 0.32 * named["cell"].n_unique())
    for faction, panel in zip(factions, panels, strict=True):
        part = named.filter(pl.col("faction") == faction)
        bars_with_intervals(panel, part, part["cell"].to_list(), "rate", faction_colour(faction))
        panel.set(xlim=(0, 1), title=faction, xlabel="share of games won")
    return figure


def plot_learning_effect(table: pl.DataFrame) -> Figure:
    """Bars to either side of zero, one panel a model."""
    models = table.select("game", "model").unique(maintain_order=True)
    figure, panels = canvas(models.height, height=2.6)
    for (game, model), name, panel in zip(models.iter_rows(), cell_names(models), panels, strict=True):
        part = table.filter((pl.col("game") == game) & (pl.col("model") == model))
        colours = [faction_colour(faction) for faction in part["faction"]]
        bars_with_intervals(panel, part, part["faction"].to_list(), "difference", colours)
        panel.axvline(0, color=COLOURS["ink"], linewidth=0.8)
        panel.set(xlim=(-1, 1), title=name, xlabel="win rate, ON minus OFF")
    return figure


def plot_triadic_against_dyadic(table: pl.DataFrame) -> Figure:
    """One panel a model: each faction's rate in both regimes."""
    rates = table.drop_nulls("games")
    models = rates["model"].unique(maintain_order=True).to_list()
    figure, panels = canvas(len(models), height=2.8)
    for model, panel in zip(models, panels, strict=True):
        part = rates.filter(pl.col("model") == model)
        names = [f"{faction}, {regime}" for faction, regime in part.select("faction", "regime").iter_rows()]
        bars_with_intervals(panel, part, names, "rate", [faction_colour(name) for name in part["faction"]])
        panel.set(xlim=(0, 1), title=literal(model), xlabel="share of games won")
    return figure


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "win_rates",
        "Faction win rates",
        "Table 7, Figure 2",
        win_rates,
        plot_win_rates,
        "Share of games that each faction won, with Wilson's 95% interval; a jester's win is a loss for both others.",
    ),
    Analysis(
        "learning_effect",
        "Learning on minus off",
        "Figure 13a",
        learning_effect,
        plot_learning_effect,
        "Above zero the faction wins more where the jester learns; an interval that holds zero leaves the sign open.",
    ),
    Analysis(
        "triadic_dyadic",
        "With the jester and without",
        "Table 4",
        triadic_against_dyadic,
        plot_triadic_against_dyadic,
        "How much of the villagers' success is lost once looking suspicious no longer means one thing only.",
    ),
    Analysis(
        "shuffled_runs",
        "Games with roles shuffled over names",
        "Table 5",
        shuffled_runs,
        note="The headline figures where no name can give a role away.",
    ),
)
