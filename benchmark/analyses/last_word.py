"""Whether it helps to speak last before the vote that ends a game."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import MINI_MAFIA, Analysis
from liescope.benchmark.analyses.cells import GAME
from liescope.benchmark.analyses.figures import cell_names, dots
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, share_difference, shares
from liescope.benchmark.analyses.jester_games import last_ballots
from liescope.benchmark.analyses.needs import BALLOTS, SAID, WINNERS
from liescope.common.colours import COLOURS
from liescope.games.core import Phase

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LAST, NOT_LAST, ALL = "last", "not last", "all games"
GAIN, ADVANTAGE = "last - not last", "last - all games"
_MEASURES = (LAST, NOT_LAST, ALL, GAIN, ADVANTAGE)


def last_word(frames: Frames) -> pl.DataFrame:
    """How often a role's side wins where the role spoke last before the last ballot of the game (section 4.2).

    A role counts in the games in which it has a voter in that ballot. Columns: game, condition, role, measure ("last",
    "not last", "all games", "last - not last", and "last - all games", the advantage of the paper), wins, games, rate,
    lo, hi (Wilson's interval; of a difference Newcombe's). The second difference is the first times the share of games
    in which the role was not last, and so are its bounds.
    """
    sides = last_words(frames)
    keys = [*GAME, "role"]
    last = pl.col("last")
    counts = sides.with_columns(wins=pl.col("won").cast(pl.Int64), games=pl.lit(1, pl.Int64))
    each = ((LAST, last), (NOT_LAST, ~last), (ALL, pl.lit(True)))
    parts = [counts.filter(where).with_columns(measure=pl.lit(name)) for name, where in each]
    rates = shares(pl.concat(parts), [*keys, "measure"], "wins", "games")
    found = []
    for key, part in counts.group_by(keys, maintain_order=True):
        one, other = part.filter(last), part.filter(~last)
        if one.height and other.height:
            gain = share_difference(one, other, "wins", "games")
            rest = other.height / part.height
            found.append((*key, GAIN, None, None, *gain))
            found.append((*key, ADVANTAGE, None, None, *(None if one is None else one * rest for one in gain)))
    place = pl.col("measure").replace_strict({name: at for at, name in enumerate(_MEASURES)}, return_dtype=pl.Int64)
    return pl.concat([rates, pl.DataFrame(found, rates.schema, orient="row")]).sort(*keys, place)


def last_words(frames: Frames) -> pl.DataFrame:
    """One row for each role with a voter in the last ballot of a game with a known winner: game_id, family, game,
    condition, role, won (the role's side), last (the role had the last word).

    The last word is the last turn to speak before the ballot, used or not: rules may draw turns, but who is heard last
    also depends on who is silent. In games that speak at other times than in discussion, it is the last statement of
    that day's discussion.
    """
    ballots = last_ballots(frames).filter(pl.col("day") == pl.col("day").max().over("game_id"))
    voters = ballots.select("game_id", "day", role="voter_role").unique()
    talk = frames.statements.unique("statement_id", maintain_order=True)
    in_discussion = pl.col("phase") == Phase.DISCUSSION.value
    elsewhere = talk.filter(~in_discussion).select("game_id").unique()
    turns = frames.games.drop_nulls("last_speaker").join(elsewhere, on="game_id", how="anti")
    said = talk.filter(in_discussion).join(ballots.select("game_id", "day").unique(), on=["game_id", "day"])
    heard = said.group_by("game_id").agg(pl.col("speaker").sort_by("position").last())
    speakers = heard.join(turns.select("game_id", "last_speaker"), on="game_id", how="left").select(
        "game_id", name=pl.coalesce("last_speaker", "speaker")
    )
    seats = frames.seats.drop_nulls("won")
    last = seats.join(speakers, on=["game_id", "name"]).select("game_id", _last="role")
    sides = seats.group_by("game_id", "family", *GAME, "role").agg(pl.col("won").any())
    return (
        sides.join(voters, on=["game_id", "role"], how="semi")
        .join(last, on="game_id")
        .select("game_id", "family", *GAME, "role", "won", last=pl.col("role") == pl.col("_last"))
        .sort("game_id", "role")
    )


def plot_last_word(table: pl.DataFrame) -> Figure:
    """A row a role: its rate with the last word, and without."""
    rates = table.filter(pl.col("measure").is_in([LAST, NOT_LAST]))
    colours = {LAST: COLOURS["orange"], NOT_LAST: COLOURS["blue"]}
    axis = "share of games that the role's side won"
    return dots(rates, "rate", axis, "role", cell_names(rates), "measure", colours)


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "last_word",
        "The last word before the vote",
        last_word,
        plot_last_word,
        needs=(SAID, BALLOTS, WINNERS),
        otherwise="nobody spoke before the last vote of a game",
        interval=Interval.SHARES_AND_DIFFERENCE,
        source="section 4.2",
        paper=MINI_MAFIA,
        note="How often a role's side wins if the role speaks last before the last vote. Where rules draw the order of "
        "speakers, the difference is an effect of the order; where players bid for the floor, it also shows who bids.",
        main=True,
    ),
)
