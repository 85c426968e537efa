"""Whether, when and how those who investigated tell the others, and how the game ends then."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import MINI_MAFIA, Analysis
from liescope.benchmark.analyses.cells import CELL
from liescope.benchmark.analyses.corrections import Alike
from liescope.benchmark.analyses.figures import SHARE, by_model, cell_names, dots, stacked_bars
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, shares
from liescope.benchmark.analyses.needs import INVESTIGATIONS, WINNERS
from liescope.benchmark.analyses.telling import INVESTIGATION, accusations, investigators, knowing, said
from liescope.common.colours import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    """One row for each game and model that holds a seat that investigated; of several such seats, the first to tell.

    Columns: game_id, game, condition, model, learning, won (null where the winner is not known), how (a key of `HOW`:
    the most that was told in the game), and when (a key of `WHEN`) it first claimed to know and first told anything:
    "claims to know", "claims to know or accuses". To accuse is to accuse a deceiver whom it investigated.
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
    how = (
        pl.when("investigated")
        .then(pl.lit(_INVESTIGATION))
        .when("claims")
        .then(pl.lit(_ROLE))
        .when("accuses")
        .then(pl.lit(_ACCUSES))
        .when("spoke")
        .then(pl.lit(_NOTHING))
        .otherwise(pl.lit(_MUTE))
    )
    stages = dict(enumerate(WHEN))
    when = pl.col(CLAIMS, TELLS).fill_null(len(WHEN) - 1).replace_strict(stages, return_dtype=pl.String)
    return games.select(*_KEYS, "won", when, how=how).sort(_KEYS)


def _stages(frames: Frames, seats: pl.DataFrame) -> pl.DataFrame:
    """What these seats said from their first investigation on, with `stage`: its place in `WHEN`.

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


def disclosure_when(frames: Frames) -> pl.DataFrame:
    """When those who investigated claim to know, or tell in any way (Mini-Mafia paper, section 3.3).

    Columns: game, condition, model (theirs), learning, told ("claims to know": to have investigated, or to hold a role
    that does; "claims to know or accuses"), when (a key of `WHEN`), count, games, rate, lo, hi (Wilson's interval over
    games).
    """
    rows = disclosures(frames).unpivot([CLAIMS, TELLS], index=_KEYS, variable_name="told", value_name="when")
    return _shares(rows, [*CELL, "told"], "when", WHEN)


def disclosure_how(frames: Frames) -> pl.DataFrame:
    """How those who investigated tell: the most that they told in a game.

    "claims the investigation", its result or not; "claims the role only"; "accuses only": a deceiver whom it
    investigated, as a fact or as an opinion, without a word of how it knows; "tells nothing", though it spoke; "says
    nothing at all". Columns: game, condition, model, learning, how, count, games, rate, lo, hi (Wilson's interval over
    games).
    """
    return _shares(disclosures(frames), list(CELL), "how", HOW)


def disclosure_success(frames: Frames) -> pl.DataFrame:
    """How often the team of those who investigated wins, by how and by when they tell.

    Columns: game, condition, model, learning, told ("claims to know or accuses" for when, "how" for how), told_as (a
    key of `WHEN` or `HOW`), wins, games, rate, lo, hi (Wilson's interval over games). Games without a known winner do
    not count.
    """
    rows = disclosures(frames).drop_nulls("won")
    long = rows.unpivot([TELLS, "how"], index=[*_KEYS, "won"], variable_name="told", value_name="told_as")
    counts = long.with_columns(wins=pl.col("won").cast(pl.Int64), games=pl.lit(1, pl.Int64))
    keys = [*CELL, "told", "told_as"]
    return shares(counts, keys, "wins", "games").sort(*CELL, "told", _place("told_as", [*WHEN, *HOW]))


def _shares(rows: pl.DataFrame, keys: list[str], column: str, values: Iterable[str]) -> pl.DataFrame:
    """How often each value occurs among the rows of a cell, those that do not occur in the cell included."""
    occurring = [value for value in values if value in set(rows[column])]
    each = pl.DataFrame({"_value": occurring}, {"_value": pl.String})
    hit = (pl.col(column) == pl.col("_value")).cast(pl.Int64)
    counts = rows.join(each, how="cross").with_columns(count=hit, games=pl.lit(1, pl.Int64))
    table = shares(counts.drop(column).rename({"_value": column}), [*keys, column], "count", "games")
    return table.sort(*keys, _place(column, occurring))


def _place(column: str, values: Iterable[str]) -> pl.Expr:
    return pl.col(column).replace_strict({value: at for at, value in enumerate(values)}, return_dtype=pl.Int64)


def plot_disclosure_when(table: pl.DataFrame) -> Figure:
    """One panel for each meaning of telling, a bar a cell."""
    return stacked_bars(table, "rate", "share of games", cell_names(table), "told", "when", WHEN)


def plot_disclosure_how(table: pl.DataFrame) -> Figure:
    """A bar a cell."""
    return stacked_bars(table, "rate", "share of games", cell_names(table), [""] * table.height, "how", HOW)


def plot_disclosure_success(table: pl.DataFrame) -> Figure:
    """One panel for each way of telling, a row a cell."""
    table = table.filter(told="how")
    cells, axis = cell_names(table), "share of games that the team won"
    return dots(table, "rate", axis, cells, "told_as", colours=by_model(table, cells), limits=SHARE)


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "disclosure_when",
        "When those who investigated tell",
        disclosure_when,
        plot_disclosure_when,
        needs=(INVESTIGATIONS,),
        interval=Interval.SHARES,
        source="section 3.3",
        paper=MINI_MAFIA,
        note="Found by rules in the words of the statements. To claim to know is to claim an investigation or a role "
        "that investigates; to accuse counts only against a deceiver whom the player investigated.",
        main=True,
        corrections=(Alike(("learning", "told", "when"), "rate"),),
    ),
    Analysis(
        "disclosure_how",
        "How those who investigated tell",
        disclosure_how,
        plot_disclosure_how,
        needs=(INVESTIGATIONS,),
        interval=Interval.SHARES,
        source="section 3.3",
        paper=MINI_MAFIA,
        note="The most that was told in each game.",
        corrections=(Alike(("learning", "how"), "rate"),),
    ),
    Analysis(
        "disclosure_success",
        "Telling and winning",
        disclosure_success,
        plot_disclosure_success,
        needs=(INVESTIGATIONS, WINNERS),
        interval=Interval.SHARES,
        source="section 3.3",
        paper=MINI_MAFIA,
        note="Games in which it was told differ from the others in more than this, such as in who else sat at the "
        "table, so a difference is no effect of telling.",
        corrections=(Alike(("learning", "told", "told_as"), "rate"),),
    ),
)
