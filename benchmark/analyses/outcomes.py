"""What was played and who wins: by faction, by cell, with and without learning, with and without a jester."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import (
    Analysis,
    Differences,
    Shares,
    each,
    first_of,
    in_order,
    long,
    pooled,
    told,
)
from liescope.benchmark.analyses.analysis_figures import SHARE, Bars, Dots, of_game
from liescope.benchmark.analyses.conditions_of_play import (
    CELL,
    GAME,
    MODEL,
    NOBODY,
    POOLED,
    RATER,
    UNKNOWN,
    jester_games,
)
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Alike, Interval
from liescope.common.colours import COLOURS
from liescope.games.werewolf.rules import JESTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DECIDED = pl.col("winner") != UNKNOWN


def configuration(frames: Frames) -> pl.DataFrame:
    """Who played and what was measured, for each cell (Table 22, as far as the games show it).

    Columns: game, condition, model, learning, rater (who reported and rated: "players", or who did so afterwards),
    seating, source, roster ("6 villager, 2 werewolf, …"), lineups (different assignments of models to roles), games,
    statements, rated (share of statements with at least one usable rating), longest (days).
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


ANALYSES_OF_CONFIGURATION: tuple[Analysis, ...] = (told("configuration", configuration),)


def wins_by(frames: Frames, by: Sequence[str], games: pl.DataFrame | None = None) -> pl.DataFrame:
    """A row for each game and faction that it deals, and for "nobody" where nobody won a game of the same group:
    game_id, family, by…, faction, won.

    by: columns of games. games: those that count, all if None; games without a known winner never do, nor does a kind
    of game whose players are all on one side, which always wins.
    """
    games = frames.games if games is None else games
    sides = frames.seats.group_by("game_id").agg(
        others=(pl.col("team") != pl.col("team").first()).any(), side=pl.col("team").first()
    )
    decided = games.filter(DECIDED).join(sides, on="game_id", maintain_order="left")
    contested = pl.col("others") | (pl.col("side") != pl.col("winner"))
    group = decided.filter(contested.any().over("game")).select("game_id", "family", *by, "winner")
    dealt = group.join(frames.seats.select("game_id", faction="team").unique(), on="game_id")
    undealt = (
        group.select(*by, faction="winner").unique().join(dealt, on=[*by, "faction"], how="anti", nulls_equal=True)
    )
    rows = pl.concat([dealt, group.join(undealt, on=by, nulls_equal=True).select(dealt.columns)])
    return rows.with_columns(won=pl.col("winner") == pl.col("faction")).drop("winner")


def _by_cell(frames: Frames) -> pl.DataFrame:
    return wins_by(frames, CELL)


def _by_cell_and_pooled(frames: Frames) -> pl.DataFrame:
    cells = _by_cell(frames)
    return pl.concat([cells, pooled(wins_by(frames, GAME)).select(cells.columns)])


_REGIMES = ("triadic", "dyadic", "triadic - dyadic")
_SEATED = ("condition", "model", "faction")


def _both_regimes(frames: Frames) -> pl.DataFrame:
    """Games with and without the jester, of models that played both: only games without learning, under conditions and
    seatings that both sides have.
    """
    games = frames.games.filter(~pl.col("learning") & pl.col("game").str.contains("werewolf"))
    control = games.filter(~pl.col("triadic"))
    seated = ["condition", "model", "seating"]
    matched = games.filter("triadic").join(control, on=seated, how="semi", nulls_equal=True)
    both = pl.concat([matched, control.join(matched, on=seated, how="semi", nulls_equal=True)])
    regime = pl.when("triadic").then(pl.lit("triadic")).otherwise(pl.lit("dyadic"))
    return wins_by(frames, ["condition", "model", "triadic"], both).with_columns(regime=regime)


def triadic_against_dyadic(frames: Frames) -> pl.DataFrame:
    """Each faction's win rate with the jester and without (Table 4, section 5.2).

    Columns: condition, model, faction, regime ("triadic", "dyadic", "triadic - dyadic"), wins, games, rate, lo, hi
    (Wilson's interval; for the difference Newcombe's, with null counts), p_holm (of differences, corrected for all).
    """
    rates = Shares(_both_regimes, "won", (*_SEATED, "regime"), "wins")(frames)
    nothing, changes = (
        pl.lit(None, pl.Int64),
        Differences(_both_regimes, "won", _SEATED, "triadic", "triadic", "dyadic"),
    )
    (zero,) = changes.corrections
    change = zero.added(changes(frames)).select(
        *_SEATED, "lo", "hi", "p_holm", regime=pl.lit(_REGIMES[-1]), wins=nothing, games=nothing, rate="difference"
    )
    rates = rates.with_columns(p_holm=pl.lit(None, pl.Float64))
    return pl.concat([rates, change.select(rates.columns)]).sort(*_SEATED, in_order("regime", _REGIMES))


_HEADLINES = ("jester_won", "villagers_won", "werewolves_won", "wolf_voted_jester", "jester_exiled_first")


def plot_triadic_against_dyadic(table: pl.DataFrame) -> Figure:
    """One panel per model, a row a faction: its rate in both regimes."""
    colours = {"triadic": COLOURS["orange"], "dyadic": COLOURS["blue"]}
    drawn = Dots("share of games won", "faction", series="regime", colours=colours, limits=SHARE)
    return drawn(table.drop_nulls("games").with_columns(game=pl.lit("werewolf")))


_CHANGES = (-1.02, 1.02)
ANALYSES_OF_OUTCOMES: tuple[Analysis, ...] = (
    told(
        "win_rates",
        # Games between different models share one row.
        Shares(
            _by_cell_and_pooled,
            "won",
            (*CELL, "faction"),
            "wins",
            sort=(pl.col("model") == POOLED, *CELL, "faction"),
            alike=True,
        ),
        Dots("share of games won", facets=of_game("faction"), colours="model", limits=SHARE),
    ),
    told(
        "learning_effect",
        Differences(_by_cell, "won", (*MODEL, "faction"), "learning", "on", "off"),
        Dots("win rate, ON minus OFF", "faction", colours="side", reference=0, limits=_CHANGES),
    ),
    told(
        "triadic_dyadic", triadic_against_dyadic, plot_triadic_against_dyadic, interval=Interval.SHARES_AND_DIFFERENCE
    ),
    told(
        "shuffled_runs",
        # A side without games is null. wolf_voted_jester: a werewolf voted for the jester on day 1.
        Differences(
            lambda frames: long(jester_games(frames).filter(pl.col("seating") != "fixed"), _HEADLINES),
            "value",
            ("condition", "model", "metric"),
            "learning",
            "on",
            "off",
            full=True,
            order={"metric": _HEADLINES},
        ),
    ),
)


CATEGORIES = ("A", "B", "C", "D", "W")
_LOSSES = {
    "A": ("A: jester voted out, a wolf voted for it on day 1", "vermillion"),
    "B": ("B: wolves killed the jester, villagers won", "orange"),
    "C": ("C: jester voted out otherwise", "yellow"),
    "D": ("D: villagers won otherwise", "blue"),
    "W": ("W: wolves won", "ink"),
    NOBODY: ("nobody won", "grey"),
}
_FATES = {"alive": COLOURS["blue"], "killed": COLOURS["vermillion"], "exiled": COLOURS["orange"]}


def wolf_losses(frames: Frames) -> pl.DataFrame:
    """How each game with a jester ended for the werewolves (Table 6, section 5.4, Appendix F.4).

    The rule: W the werewolves won. A the jester won, and at least one werewolf voted for it in the revote of day 1. The
    day of its exile does not matter: the printed counts of A are those of Table 8, which needs only that vote and the
    win, and Llama's exceed the games that its jester can have won on day 1 (Appendix F.1). C the jester won otherwise.
    B the villagers won and a jester was killed at night. D the villagers won otherwise. "nobody": the days ran out.
    Each game is counted once; votes drawn by the rules do not count as a werewolf's.

    Columns: game, condition, model (the jester's), learning, A, B, C, D, W, nobody, games (their sum).
    """
    won, wolf = pl.col("jester_won"), pl.col("wolf_voted_jester").fill_null(False)
    villagers = pl.col("villagers_won")
    cases = {"W": pl.col("werewolves_won"), "A": won & wolf, "C": won}
    cases |= {"B": villagers & pl.col("jester_killed"), "D": villagers}
    games = jester_games(frames).with_columns(category=first_of(cases, NOBODY))
    counts = {name: (pl.col("category") == name).sum().cast(pl.Int64) for name in (*CATEGORIES, NOBODY)}
    return games.group_by(CELL).agg(**counts, games=pl.len().cast(pl.Int64)).sort(CELL)


def plot_wolf_losses(table: pl.DataFrame) -> Figure:
    """One stacked bar a cell."""
    counts = [name for name in _LOSSES if table[name].sum()]
    index = [name for name in table.columns if name not in _LOSSES]
    rows = table.unpivot(counts, index=index, variable_name="ending", value_name="count")
    rows = rows.with_columns(pl.col("ending").replace({name: words for name, (words, _) in _LOSSES.items()}))
    shades = {words: COLOURS[colour] for words, colour in _LOSSES.values()}
    return Bars("share", "share of games", "ending", shades)(rows.with_columns(share=pl.col("count") / pl.col("games")))


ANALYSES_OF_ENDINGS: tuple[Analysis, ...] = (
    told("wolf_losses", wolf_losses, plot_wolf_losses),
    told(
        "jester_fate",
        # The fates of several jesters in one game are not independent.
        Shares(
            lambda frames: each(frames.seats.filter(pl.col("role") == JESTER), "fate", _FATES),
            "value",
            (*CELL, "fate"),
            "jesters",
            "n",
            order={"fate": _FATES},
            bounded=pl.len() == pl.col("game_id").n_unique(),
            interval=Interval.UNITS,
        ),
        Bars("rate", "share of jesters", "fate", _FATES),
        corrections=(Alike(("learning", "fate"), "rate", draws=("n",)),),
    ),
)
