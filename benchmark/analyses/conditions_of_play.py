"""How games are grouped: by game, condition, players, and learning.

`prepare` fills in what depends on the whole set of games: which settings differ between them, and the model of
every row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from liescope.common.colours import COLOURS, model_colours
from liescope.common.errors import UnknownName
from liescope.games.game_registry import GAMES, SIDES
from liescope.games.werewolf.rules import JESTER, VILLAGERS, WEREWOLF, WEREWOLVES
from liescope.generate.runs.run_folder import labels

if TYPE_CHECKING:
    from liescope.benchmark.analyses.frames import Frames


GAME = ("game", "condition")
MODEL = (*GAME, "model")
CELL = (*MODEL, "learning")
"""One cell of a table. For rows that hold opinions, `RATER` belongs to the cell too."""
RATER = "rater"
PLAYERS = "players"
"""The rater when the players themselves reported and rated."""
MIXED = "several models"
"""The model of a game in which different models play."""
POOLED = "all models"
"""The value of the column `model` where models and learning are pooled; `learning` is null there."""

_SEAT_OF = {
    "statements": "speaker",
    "claims": "speaker",
    "ratings": "speaker",
    "votes": "voter",
    "ranks": "voter",
    "nights": "actor",
    "bids": "bidder",
    "guesses": "observer",
}


def prepare(frames: Mapping[str, pl.DataFrame], pool: bool = False) -> dict[str, pl.DataFrame]:
    """The frames with the columns condition, model and lineup filled in. pool: games of different settings are one
    condition.
    """
    seats = frames["seats"].with_columns(model="seat_model")
    games = _with_lineups(frames["games"], seats)
    conditions = games.select("game_id", condition=_conditions(games, pool))
    found = {**frames, "games": games, "seats": seats}
    seated = seats.select("game_id", "name", "model")
    of_game = games.select("game_id", _game="model")
    for name, seat in _SEAT_OF.items():
        models = seated.rename({"name": seat, "model": "_seat"})
        joined = found[name].join(models, on=["game_id", seat], how="left", maintain_order="left")
        joined = joined.join(of_game, on="game_id", how="left", maintain_order="left")
        found[name] = joined.with_columns(model=pl.coalesce("_seat", "_game"))
    observers = seated.rename({"name": "observer", "model": "_model"})
    ratings = found["ratings"].join(observers, on=["game_id", "observer"], how="left", maintain_order="left")
    found["ratings"] = ratings.with_columns(observer_seat_model="_model").drop("_model")
    return {
        name: frame.drop("condition")
        .join(conditions, on="game_id", how="left", maintain_order="left")
        .select(frames[name].columns)
        for name, frame in found.items()
    }


def _with_lineups(games: pl.DataFrame, seats: pl.DataFrame) -> pl.DataFrame:
    roles = (
        seats.group_by("game_id", "role")
        .agg(models=pl.col("model").unique().sort().str.join("+"))
        .sort("game_id", "role")
        .group_by("game_id")
        .agg(_lineup=pl.col("models").str.join(" | "))
    )
    alone = seats.group_by("game_id").agg(
        _model=pl.when(pl.col("model").n_unique() == 1).then(pl.col("model").first()).otherwise(pl.lit(MIXED))
    )
    joined = games.join(roles.join(alone, on="game_id"), on="game_id", how="left", maintain_order="left")
    model = pl.col("_model")
    lineup = pl.when(model == MIXED).then("_lineup").otherwise(model)
    return joined.with_columns(lineup=lineup, model=model).drop("_lineup", "_model")


def _conditions(games: pl.DataFrame, pool: bool) -> pl.Series:
    """The condition of each game, by its settings and those of the other games of the set."""
    texts = pl.col("settings").fill_null("{}")
    kinds = games.select("game", settings=texts).unique(maintain_order=True).rows()
    found = [""] * len(kinds) if pool else labels([(game, json.loads(text)) for game, text in kinds])
    named = dict(zip(kinds, found, strict=True))
    return pl.Series("condition", [named[kind] for kind in games.select("game", texts).rows()], pl.String)


_KEYS = ["game_id", "family", *CELL, "turn", "seating"]


def jester_games(frames: Frames) -> pl.DataFrame:
    """One row for each game that deals a jester.

    Columns: game_id, game, condition, learning, turn, seating; model (the jester's; several joined by "+"); and as
    booleans jester_won, villagers_won, werewolves_won; jester_killed (at night); jester_exiled_first (on day 1);
    wolf_voted_jester (at least one werewolf voted for a jester in the ballot of day 1 that counted, the revote, and
    the vote was its own; null if none voted that day).
    """
    games = frames.games.filter("triadic").select(
        *_KEYS,
        jester_won=pl.col("winner") == JESTER,
        villagers_won=pl.col("winner") == VILLAGERS,
        werewolves_won=pl.col("winner") == WEREWOLVES,
    )
    jesters = (
        frames.seats.filter(pl.col("role") == JESTER)
        .group_by("game_id")
        .agg(
            _jester=pl.col("model").unique().sort().str.join("+"),
            jester_killed=(pl.col("fate") == "killed").any(),
            jester_exiled_first=((pl.col("fate") == "exiled") & (pl.col("day_out") == 1)).any(),
        )
    )
    votes = (
        chosen(last_ballots(frames))
        .filter((pl.col("voter_role") == WEREWOLF) & (pl.col("day") == 1))
        .group_by("game_id")
        .agg(wolf_voted_jester=(pl.col("target_role") == JESTER).any())
    )
    games = games.join(jesters, on="game_id", how="left").join(votes, on="game_id", how="left")
    return games.with_columns(model=pl.coalesce("_jester", "model")).drop("_jester").sort(*CELL, "game_id")


def chosen(acts: pl.DataFrame) -> pl.DataFrame:
    """The votes or night acts that players chose, not drawn by the rules."""
    return acts.filter(~pl.col("drawn").fill_null(False))


def last_ballots(frames: Frames) -> pl.DataFrame:
    """The votes that counted: those of each day's last ballot."""
    last = pl.col("ballot").max().over("game_id", "day")
    return frames.votes.filter(pl.col("ballot") == last)


NOBODY = "nobody"
"""The winner of a game that nobody won."""
UNKNOWN = "not known"
"""The winner, or a role, that the source of a game from elsewhere does not say."""


def side_colour(game: str, name: str) -> str:
    """The colour of a role or team of a game. Raises UndeclaredGame for a game that Liescope plays and that has no
    colours, UnknownName for a role or team without one.
    """
    if name in (NOBODY, UNKNOWN):
        return COLOURS["grey"]
    if game not in GAMES:
        return model_colours([name])[name]
    colours = SIDES[game].colours
    if name not in colours:
        raise UnknownName(f"role or team of {game} with a colour", name, colours)
    return colours[name]


def united_roles() -> pl.DataFrame:
    """The columns game and role: of every game, the roles whose players know each other."""
    rows = [(game, role) for game, sides in SIDES.items() for role in sides.united]
    return pl.DataFrame(rows, {"game": pl.String, "role": pl.String}, orient="row")
