"""What players do besides talking and voting (night acts, bids, silence), how long statements are, and what changes
over the games of a cell, over the days of a game, and within a day.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import (
    Analysis,
    Differences,
    Means,
    Shares,
    in_order,
    long,
    told,
)
from liescope.benchmark.analyses.analysis_figures import (
    SHARE,
    Bars,
    Curves,
    Dots,
    cell_names,
    of_game,
    side_colours,
    spelt,
)
from liescope.benchmark.analyses.conditions_of_play import CELL, GAME, MODEL, RATER, chosen, jester_games
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.outcomes import wins_by
from liescope.common.colours import COLOURS
from liescope.common.figures import whole_numbers
from liescope.common.statistics import POSITIVE
from liescope.games.core import Phase
from liescope.games.werewolf.rules import JESTER
from liescope.labeling.label import LOST_TEXT

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SELF = "self"
_TARGET = (*CELL, "target")


def _of_kinds(acts: pl.DataFrame) -> pl.DataFrame:
    """Night acts, each once for every target that such acts have in its cell: whether it had that target."""
    targets = acts.select(_TARGET).unique()
    rows = acts.rename({"target": "_is"}).join(targets, on=CELL, nulls_equal=True)
    return rows.with_columns(hit=pl.col("_is") == pl.col("target"))


def _protections(frames: Frames) -> pl.DataFrame:
    acts = chosen(frames.nights).filter(pl.col("act") == "protection")
    own = pl.col("actor") == pl.col("target")
    return _of_kinds(acts.with_columns(target=pl.when(own).then(pl.lit(SELF)).otherwise("target_role")))


def _attacks(frames: Frames) -> pl.DataFrame:
    """Attacks by players: victims drawn by the rules, as in Mini-Mafia, do not count."""
    return _of_kinds(chosen(frames.nights).filter(pl.col("act") == "kill").with_columns(target="target_role"))


def _nights_of_doctors(frames: Frames) -> pl.DataFrame:
    """Protections on nights with an attack: whether the one attacked was protected; the doctor itself counts."""
    kills = frames.nights.filter(pl.col("act") == "kill").select("game_id", "day", victim="target")
    acts = chosen(frames.nights).filter(pl.col("act") == "protection").join(kills, on=["game_id", "day"])
    return acts.with_columns(hit=pl.col("target") == pl.col("victim"))


_HITS = pl.col("hit").sum().cast(pl.Int64)
_TARGETS = Bars(
    "mean",
    "share of nights",
    "target",
    lambda table: {SELF: COLOURS["purple"], **side_colours(table.filter(pl.col("target") != SELF), "target")},
)
ANALYSES_OF_NIGHTS: tuple[Analysis, ...] = (
    told(
        "doctor_targets",
        Means(
            _protections, "hit", _TARGET, also={"protections": _HITS}, columns=("protections", "n", "mean", "lo", "hi")
        ),
        _TARGETS,
    ),
    told(
        "victims",
        Means(
            _attacks,
            "hit",
            _TARGET,
            also={"attacks": _HITS, "died": (pl.col("died") & pl.col("hit")).sum().cast(pl.Int64)},
            columns=("attacks", "n", "mean", "lo", "hi", "died"),
        ),
        _TARGETS,
    ),
    told(
        "doctor_prediction",
        Means(_nights_of_doctors, "hit", (*MODEL, "day")),
        Curves("day", ("day", "share of nights"), cell_names, "", "model"),
    ),
)


_BIDS = {
    "average_bid": pl.col("bid").mean(),
    "first_bid": pl.col("bid").first().cast(pl.Float64),
    "highest_bid": pl.col("bid").max().cast(pl.Float64),
}
_WON = {True: "jester won", False: "jester lost"}


def _jester_bids(frames: Frames) -> pl.DataFrame:
    """The jester's bids of each game in which it bid; an unreadable bid counts as 0, as in the rules."""
    won = frames.games.select("game_id", won=pl.col("winner") == JESTER)
    bids = frames.bids.filter(pl.col("role") == JESTER).group_by(*CELL, "game_id", "family", maintain_order=True)
    return long(bids.agg(**_BIDS).join(won, on="game_id"), tuple(_BIDS))


ANALYSES_OF_BIDDING: tuple[Analysis, ...] = (
    told(
        "jester_bids",
        Means(_jester_bids, "value", (*CELL, "won", "metric"), (0.0, 10.0), columns=("mean", "lo", "hi", "games")),
        Dots(
            "bid, from 0 to 10",
            facets=spelt("metric"),
            series=spelt("won", _WON),
            colours={_WON[True]: COLOURS["orange"], _WON[False]: COLOURS["grey"]},
            limits=(-0.3, 10.3),
        ),
    ),
)


_BALLOTS = (Phase.VOTING.value, Phase.REVOTE.value)
_SPOKE = {True: "spoke on day 1", False: "silent on day 1"}


def _heard_jesters(frames: Frames) -> pl.DataFrame:
    """Games in which the jester lived to speak on day 1: whether it spoke.

    The reason of a vote does not count as speaking: everybody gives one.
    """
    jesters = frames.seats.filter(pl.col("role") == JESTER)
    died = jesters.filter((pl.col("fate") == "killed") & (pl.col("day_out") == 1)).select("game_id")
    talk = frames.statements.filter(
        (pl.col("speaker_role") == JESTER) & (pl.col("day") == 1) & ~pl.col("phase").is_in(_BALLOTS)
    )
    games = jester_games(frames).join(died, on="game_id", how="anti")
    return games.with_columns(spoke=pl.col("game_id").is_in(talk["game_id"].implode()))


ANALYSES_OF_SILENCE: tuple[Analysis, ...] = (
    told(
        "jester_silence",
        # The paper calls silence on day 1 a certain sign of a lost game.
        Shares(_heard_jesters, "jester_won", (*CELL, "spoke"), "wins"),
        Dots(
            "share of games that the jester won",
            facets="",
            series=spelt("spoke", _SPOKE),
            colours={_SPOKE[True]: COLOURS["blue"], _SPOKE[False]: COLOURS["orange"]},
            limits=SHARE,
        ),
    ),
)


_SPEAKERS = (*CELL, "speaker_role")
_CHARACTERS = pl.col("text").str.len_chars()
_LOST = pl.col("read_notes").list.contains(LOST_TEXT)


def said(frames: Frames) -> pl.DataFrame:
    """The statements, each once, whoever rated them."""
    return frames.statements.unique("statement_id", keep="first", maintain_order=True)


ANALYSES_OF_LENGTHS: tuple[Analysis, ...] = (
    told(
        "statement_lengths",
        Means(
            lambda frames: said(frames).filter(~_LOST),
            _CHARACTERS,
            _SPEAKERS,
            POSITIVE,
            also={"median": _CHARACTERS.median(), "longest": _CHARACTERS.max().cast(pl.Int64)},
            columns=("mean", "lo", "hi", "median", "longest", "n", "games"),
            alike=True,
        ),
        Dots("characters a statement", facets=of_game("speaker_role"), colours="model"),
    ),
)


FIFTHS = ("first", "second", "third", "fourth", "fifth")
THIRDS = ("early", "mid", "late")


def _in_order(frames: Frames) -> pl.DataFrame:
    """The games whose turn is known, of cells with two or more, with the columns place (of the game in its cell, from
    1; a cell of the plan has one line-up) and of (games in that cell).
    """
    cell = [*CELL, "lineup"]
    place = pl.struct("turn", "game_id").rank("ordinal").over(cell).cast(pl.Int64)
    games = frames.games.drop_nulls("turn").with_columns(place=place, of=pl.len().over(cell))
    return games.filter(pl.col("of") > 1)


def _halves(frames: Frames) -> pl.DataFrame:
    """The games of a cell in two halves; of an odd number, the middle one belongs to the second."""
    late = 2 * pl.col("place") > pl.col("of") - pl.col("of") % 2
    return wins_by(frames, [*CELL, "late"], _in_order(frames).with_columns(late=late))


def cumulative_wins(frames: Frames) -> pl.DataFrame:
    """Cumulative win rates over the games of a cell (Figure 10c).

    Columns: game, condition, model, learning, faction, place (of the game in its cell, from 1), wins (in the games up
    to this one), games, rate.
    """
    factions = _in_order(frames).join(frames.seats.select("game_id", faction="team").unique(), on="game_id")
    won = (pl.col("winner") == pl.col("faction")).cast(pl.Int64)
    keys = [*CELL, "faction", "place"]
    counts = factions.group_by(keys).agg(wins=won.sum(), games=pl.len().cast(pl.Int64)).sort(keys)
    table = counts.with_columns(pl.col("wins", "games").cum_sum().over([*CELL, "faction"]))
    return table.with_columns(rate=pl.col("wins") / pl.col("games"))


def plot_game_length(table: pl.DataFrame) -> Figure:
    """Mean length with its interval by winner, one panel per cell."""
    longest = float(table["longest"].to_numpy().max())
    figure = Dots("days", "winner", colours="side", limits=(0, longest + 0.5))(table)
    for panel in figure.axes:
        whole_numbers(panel)
    return figure


def plot_survival(table: pl.DataFrame) -> Figure:
    """One curve per role over the fifths of a cell's games, one panel per model."""
    fifth = (pl.col("turn") * 5 // (pl.col("turn").max().over(MODEL) + 1)).cast(pl.Int64)
    seats = table.group_by(*MODEL, "role", fifth=fifth, maintain_order=True).agg(
        mean=(pl.col("mean") * pl.col("n")).sum() / pl.col("n").sum()
    )
    axes = ("fifths of the cell's games, in order", "share that survives")
    return Curves("fifth", axes, "role", ticks=FIFTHS)(seats)


def _thirds(frames: Frames) -> pl.DataFrame:
    """The ratings with the position of the statement among those of its day."""
    place = ((pl.col("position") - 1) * 3 // pl.col("statements_of_day")).clip(0, 2)
    names = place.replace_strict(dict(enumerate(THIRDS)), return_dtype=pl.String)
    return frames.ratings.join(frames.statements.select("statement_id", RATER, third=names), on=["statement_id", RATER])


def plot_position_thirds(table: pl.DataFrame) -> Figure:
    """A curve for each role over the thirds of the day, one panel for each game."""
    axes = ("third of the day's statements", "mean suspicion")
    rows = table.with_columns(place=in_order("third", THIRDS).to_physical())
    return Curves("place", axes, "speaker_role", ticks=THIRDS)(rows)


ANALYSES_OF_GAME_LENGTH: tuple[Analysis, ...] = (
    told(
        "halves",
        Differences(
            _halves, "won", (*CELL, "faction"), "late", "second", "first", also={"overall": pl.col("won").mean()}
        ),
    ),
    told(
        "cumulative_wins",
        cumulative_wins,
        Curves("place", ("game of the cell", "share won so far"), cell_names, of_game("faction"), "model", "rate"),
    ),
    told(
        "game_length",
        Means(
            "games",
            "days",
            (*CELL, "winner"),
            POSITIVE,
            also={"shortest": pl.col("days").min(), "median": pl.col("days").median(), "longest": pl.col("days").max()},
            columns=("mean", "lo", "hi", "shortest", "median", "longest", "games"),
        ),
        plot_game_length,
    ),
    told(
        "survival",
        # Cells with and without learning are pooled, as in the paper.
        Means(lambda frames: frames.seats.drop_nulls("turn"), "survived", (*MODEL, "role", "turn")),
        plot_survival,
    ),
)

ANALYSES_OF_TIMELINE = (
    told(
        "self_tagged_by_day",
        Means("statements", "label_self", (*MODEL, RATER, "speaker_role", "day")),
        Curves("day", ("day", "share reported"), "speaker_role"),
    ),
    told(
        "position_thirds",
        Means(_thirds, "suspicion", (*GAME, RATER, "speaker_role", "third"), order={"third": THIRDS}),
        plot_position_thirds,
    ),
)
