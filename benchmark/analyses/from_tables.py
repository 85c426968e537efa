"""The frames of the analyses, made from the tables of games.

Columns that depend on the whole set of games (condition, lineup, the model of each row) are left open here;
`liescope.benchmark.analyses.cells.prepare` fills them in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
import polars.selectors as cs

from liescope.benchmark.analyses.cells import PLAYERS
from liescope.benchmark.analyses.schemas import COLUMNS, LABELS, OPINIONS
from liescope.benchmark.analyses.sides import UNKNOWN
from liescope.common.errors import BadData
from liescope.games.record import Source, Status, person_of, player_of
from liescope.games.registry import GAMES
from liescope.games.werewolf import JESTER
from liescope.generate.corpus.read import silent_turns
from liescope.labeling.ledger import BY_IMPORTER, DENIED, RULES

Tables = Mapping[str, pl.DataFrame]
_DRAWN = pl.col("fallback") != ""
_DAY = ["game_id", "day"]
_ENDED = (pl.col("status") == Status.DONE.value) & pl.col("reason").is_not_null()
_PLAYED_HERE = pl.col("game").is_in(list(GAMES))
_BY_IMPORTER = pl.col("origin").str.starts_with(BY_IMPORTER)
_OF_LABELS = pl.when(_PLAYED_HERE).then(pl.col("origin") == RULES).otherwise(_BY_IMPORTER)
_ROLES = cs.string() & cs.matches("(^|_)(role|team)$")


def merged_frames(parts: Sequence[Tables]) -> dict[str, pl.DataFrame]:
    """The frames of all parts together. A game's events are taken from the first part that holds it, judgements from
    each.

    Raises BadData if two parts differ in what happened in a game.
    """
    found: dict[str, list[pl.DataFrame]] = {name: [] for name in COLUMNS}
    seen: list[Tables] = []
    for tables in parts:
        for earlier in seen:
            _check_same(earlier, tables)
        again = pl.concat([pl.Series(dtype=pl.String), *(earlier["games"]["game_id"] for earlier in seen)])
        for name, frame in part_frames(tables).items():
            known = pl.col("game_id").is_in(again.implode())
            found[name].append(frame if name in OPINIONS else frame.filter(~known))
        seen.append(tables)
    return {name: pl.concat(frames) for name, frames in found.items()}


def part_frames(tables: Tables) -> dict[str, pl.DataFrame]:
    """The frames of the finished games of one part, which holds each game once."""
    games = tables["games"].filter(_ENDED).with_columns(pl.col("winner").fill_null(UNKNOWN))
    seats = _named(games.select("game_id", "seats").explode("seats").unnest("seats"))
    learners = (
        seats.filter(pl.col("role") == JESTER)
        .group_by("game_id")
        .agg(model=pl.col("seat_model").unique().sort().str.join("+"))
    )
    statements = tables["statements"].with_columns(
        place="position",
        position=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(_DAY),
        statements_of_day=pl.len().over(_DAY).cast(pl.Int64),
    )
    claims = (
        tables["claims"]
        .join(games.select("game_id", "game"), on="game_id", how="inner", maintain_order="left")
        .filter(_OF_LABELS)
        .with_columns(denied=pl.col("polarity") == DENIED)
    )
    votes = tables["votes"].with_columns(drawn=_DRAWN)
    last_vote = votes.group_by("game_id").agg(days=pl.col("day").max())
    jester = pl.col("seats").list.eval(pl.element().struct.field("role") == JESTER).list.any()
    rows = {
        "games": games.drop("days")
        .with_columns(triadic=jester)
        .join(last_vote, on="game_id", how="left", maintain_order="left")
        .with_columns(pl.col("days").fill_null(0)),
        "seats": seats.with_columns(survived=pl.col("fate") == "alive"),
        "statements": statements,
        "claims": claims.join(
            statements.select("statement_id", "day", "place"),
            on="statement_id",
            how="left",
            maintain_order="left",
        ),
        "turns": silent_turns(tables["statements"], games),
        "ratings": tables["ratings"].join(
            statements.select("statement_id", "day", *LABELS), on="statement_id", how="left", maintain_order="left"
        ),
        "votes": votes,
        "ranks": votes.filter(pl.col("suspicion_rank").is_not_null()),
        "nights": tables["night_acts"].with_columns(drawn=_DRAWN),
        "bids": tables["bids"].with_columns(drawn=_DRAWN),
        "lessons": tables["lessons"].join(learners, on="game_id", how="left", maintain_order="left"),
        "guesses": tables["role_guesses"],
        "tags": tables["lesson_tags"].join(learners, on="game_id", how="left", maintain_order="left"),
    }
    nothing = pl.lit(None, pl.String)
    common = games.select(
        "game_id",
        "game",
        "learning",
        family=pl.coalesce("siblings", "game_id"),
        condition=pl.lit(""),
        rater=pl.col("judge").fill_null(PLAYERS),
        _turn="turn",
    )
    open_columns = {"model": nothing, "lineup": nothing, "observer_seat_model": nothing, "turn": pl.col("_turn")}
    found = {}
    for name, frame in rows.items():
        own = frame.drop("game", "learning", "condition", "rater", "lineup", strict=False)
        own = own.drop("model") if name == "games" else own
        joined = own.join(common, on="game_id", how="inner", maintain_order="left")
        missing = {key: value for key, value in open_columns.items() if key not in joined.columns}
        found[name] = joined.with_columns(_ROLES.replace("", UNKNOWN), **missing).select(COLUMNS[name])
    return found


def _named(seats: pl.DataFrame) -> pl.DataFrame:
    """The seats with who played them: seat_model, under which all people are one, and person."""
    pairs = seats.select("model", "source").unique()
    players = [(model, Source(source)) for model, source in pairs.iter_rows()]
    named = pairs.with_columns(
        seat_model=pl.Series([player_of(*player) for player in players], dtype=pl.String),
        person=pl.Series([person_of(*player) for player in players], dtype=pl.String),
    )
    return seats.join(named, on=["model", "source"], how="left", maintain_order="left").drop("model")


def _check_same(one: Tables, other: Tables) -> None:
    """Raises BadData if two sources hold the same game and differ in its seats, statements or votes."""
    for name, columns in (
        ("games", ["game_id", "seats"]),
        ("statements", ["statement_id", "game_id", "speaker", "text"]),
        ("votes", ["game_id", "day", "ballot", "voter", "target"]),
    ):
        shared = one["games"].join(other["games"], on="game_id", how="semi").select("game_id")
        first, second = (
            tables[name].select(columns).join(shared, on="game_id", how="semi").sort("game_id", maintain_order=True)
            for tables in (one, other)
        )
        if not first.equals(second):
            game = next(
                key
                for key in shared["game_id"]
                if not first.filter(pl.col("game_id") == key).equals(second.filter(pl.col("game_id") == key))
            )
            raise BadData(f"two records of the game {game} differ in what happened; analyse them one at a time")
