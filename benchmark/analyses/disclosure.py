"""Whether, when and how those who investigated tell the others, and how the game ends then."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis, Shares, each, first_of, told
from liescope.benchmark.analyses.analysis_figures import Bars
from liescope.benchmark.analyses.conditions_of_play import CELL
from liescope.benchmark.analyses.conduct import said
from liescope.benchmark.analyses.frames import Frames
from liescope.common.colours import COLOURS
from liescope.games.game_registry import WORDS
from liescope.labeling.accusing import accused

INVESTIGATION = "investigation"
_ACTED = pl.col("act") == INVESTIGATION


def investigating_roles(frames: Frames) -> pl.DataFrame:
    """game, role: the roles that investigate in these games."""
    return frames.nights.filter(_ACTED).select("game", role="actor_role").unique()


def investigators(frames: Frames) -> pl.DataFrame:
    """One row for each seat that investigated.

    Columns: those of seats; since (the day of its first investigation); culprits (the deceivers of another team that
    it investigated, by name).
    """
    seats = frames.seats.select("game_id", target="name", _deceives="deceives", _team="team")
    acts = (
        frames.nights.filter(_ACTED)
        .select("game_id", "day", "target", name="actor")
        .join(seats, on=["game_id", "target"], how="left")
        .join(frames.seats.select("game_id", "name", "team"), on=["game_id", "name"])
        .with_columns(evil=pl.col("_deceives").fill_null(False) & (pl.col("team") != pl.col("_team")))
        .group_by("game_id", "name")
        .agg(since=pl.col("day").min(), culprits=pl.col("target").filter("evil").unique().sort())
    )
    return frames.seats.join(acts, on=["game_id", "name"])


def knowing(frames: Frames) -> pl.DataFrame:
    """Claims of knowledge from an investigation: to have investigated, or to hold a role that does.

    Columns: those of claims; says: "investigation" or "role".
    """
    roles = investigating_roles(frames).rename({"role": "object"}).with_columns(_investigates=True)
    claims = frames.claims.filter(~pl.col("denied")).join(roles, on=["game", "object"], how="left")
    own = (
        (pl.col("kind") == "role") & (pl.col("subject") == pl.col("speaker")) & pl.col("_investigates").fill_null(False)
    )
    says = pl.when(pl.col("kind") == INVESTIGATION).then(pl.lit(INVESTIGATION)).when(own).then(pl.lit("role"))
    return claims.with_columns(says=says).drop_nulls("says").drop("_investigates")


def accusations(frames: Frames, statements: pl.DataFrame) -> pl.DataFrame:
    """The players whom each of these statements accuses, as a fact or as an opinion (`liescope.labeling.accusing`).

    Columns: game_id, statement_id, day, place, speaker, accused; one row for each player accused. Games without a known
    vocabulary for roles have none.
    """
    readable = statements.filter(pl.col("game").is_in(list(WORDS)))
    names = dict(frames.seats.group_by("game_id").agg(pl.col("name").sort()).rows())
    whom = [
        sorted(accused(text, speaker, names[game_id], game))
        for game_id, game, speaker, text in readable.select("game_id", "game", "speaker", "text").iter_rows()
    ]
    columns = readable.select("game_id", "statement_id", "day", "place", "speaker")
    listed = columns.with_columns(accused=pl.Series(whom, dtype=pl.List(pl.String)))
    return listed.filter(pl.col("accused").list.len() > 0).explode("accused")


AT_ONCE, SAME_DAY, LATER, NEVER = "first round", "later that day", "a later day", "never"
WHEN = {AT_ONCE: COLOURS["blue"], SAME_DAY: COLOURS["sky"], LATER: COLOURS["yellow"], NEVER: COLOURS["grey"]}
_INVESTIGATION, _ROLE = "claims the investigation", "claims the role only"
_ACCUSES, _NOTHING, _MUTE = "accuses only", "tells nothing", "says nothing at all"
HOW = {
    _INVESTIGATION: COLOURS["blue"],
    _ROLE: COLOURS["sky"],
    _ACCUSES: COLOURS["yellow"],
    _NOTHING: COLOURS["orange"],
    _MUTE: COLOURS["grey"],
}
CLAIMS, TELLS = "claims to know", "claims to know or accuses"
_KEYS = ["game_id", "family", *CELL]


def disclosures(frames: Frames) -> pl.DataFrame:
    """One row for each game and model that holds a seat that investigated; of several such seats, the one that told
    first.

    Columns: game_id, game, condition, model, learning, won (null where the winner is not known), how (a key of `HOW`:
    the most that was told in the game), and when (a key of `WHEN`) it first claimed to know and first told anything:
    "claims to know", "claims to know or accuses". Only accusing a deceiver whom it investigated counts.
    """
    seats = investigators(frames)
    talk = _stages(frames, seats)
    claims = knowing(frames).select("statement_id", "says")
    culprits = seats.select("game_id", "culprits", speaker="name").explode("culprits").drop_nulls()
    named = accusations(frames, talk).join(
        culprits, left_on=["game_id", "speaker", "accused"], right_on=["game_id", "speaker", "culprits"], how="semi"
    )
    told = (
        talk.join(claims.group_by("statement_id").agg("says"), on="statement_id", how="left")
        .with_columns(
            accuses=pl.col("statement_id").is_in(named["statement_id"].implode()),
            claims=pl.col("says").is_not_null(),
            investigated=pl.col("says").list.contains(INVESTIGATION).fill_null(False),
        )
        .group_by("game_id", name="speaker")
        .agg(
            pl.col("stage").filter("claims").min().alias(CLAIMS),
            pl.col("stage").filter(pl.col("claims") | pl.col("accuses")).min().alias(TELLS),
            pl.col("investigated", "claims", "accuses").any(),
            spoke=pl.lit(True),
        )
    )
    games = (
        seats.join(told, on=["game_id", "name"], how="left")
        .group_by(_KEYS)
        .agg(
            pl.col("won").any(ignore_nulls=False),
            pl.col(CLAIMS, TELLS).min(),
            pl.col("investigated", "claims", "accuses", "spoke").fill_null(False).any(),
        )
    )
    told_by = {_INVESTIGATION: "investigated", _ROLE: "claims", _ACCUSES: "accuses", _NOTHING: "spoke"}
    how = first_of({name: pl.col(column) for name, column in told_by.items()}, _MUTE)
    stages = dict(enumerate(WHEN))
    when = pl.col(CLAIMS, TELLS).fill_null(len(WHEN) - 1).replace_strict(stages, return_dtype=pl.String)
    return games.select(*_KEYS, "won", when, how=how).sort(_KEYS)


def _stages(frames: Frames, seats: pl.DataFrame) -> pl.DataFrame:
    """The statements of these seats from their first investigation on, with `stage`: its place in `WHEN`.

    The first round is that of the first day. Where players bid for the floor, so that no two speak in one round, it is
    the speaker's first statement that day.
    """
    talk = said(frames)
    several = talk.filter(pl.col("round") > 0).group_by("game", "game_id", "day", "round").len()
    rounds = several.filter(pl.col("len") > 1)["game"].unique()
    since = talk.join(seats.select("game_id", "since", speaker="name"), on=["game_id", "speaker"]).filter(
        pl.col("day") >= pl.col("since")
    )
    first = pl.col("place") == pl.col("place").min().over("game_id", "speaker")
    at_once = pl.when(pl.col("game").is_in(rounds.implode())).then(pl.col("round") == 1).otherwise(first)
    return since.with_columns(stage=pl.when(pl.col("day") > pl.col("since")).then(2).when(at_once).then(0).otherwise(1))


def _when(frames: Frames) -> pl.DataFrame:
    rows = disclosures(frames).unpivot([CLAIMS, TELLS], index=_KEYS, variable_name="told", value_name="when")
    return each(rows, "when", _occurring(rows["when"], WHEN))


def _how(frames: Frames) -> pl.DataFrame:
    rows = disclosures(frames)
    return each(rows, "how", _occurring(rows["how"], HOW))


def _occurring(column: pl.Series, values: Iterable[str]) -> list[str]:
    return [value for value in values if value in set(column)]


ANALYSES_OF_DISCLOSURE: tuple[Analysis, ...] = (
    told(
        "disclosure_when",
        Shares(_when, "value", (*CELL, "told", "when"), order={"when": WHEN}, alike=True),
        Bars("rate", "share of games", "when", WHEN, facets="told"),
    ),
    told(
        "disclosure_how",
        # "claims the investigation": its result or not. "accuses only": a deceiver whom it investigated, as a fact or
        # as an opinion, without a word of how it knows. "tells nothing", though it spoke.
        Shares(_how, "value", (*CELL, "how"), order={"how": HOW}, alike=True),
        Bars("rate", "share of games", "how", HOW),
    ),
)
