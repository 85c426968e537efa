"""What would come of trusting whoever first claims to have investigated (Mini-Mafia paper, section 3.2)."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.analyses.analysis import MINI_MAFIA, Analysis
from liescope.benchmark.analyses.cells import CELL, POOLED
from liescope.benchmark.analyses.corrections import Alike
from liescope.benchmark.analyses.figures import SHARE, cell_names, dots
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.benchmark.analyses.jester_games import last_ballots
from liescope.benchmark.analyses.needs import INVESTIGATIONS, VOTES
from liescope.benchmark.analyses.sides import united_roles
from liescope.benchmark.analyses.telling import INVESTIGATION, investigators, knowing
from liescope.common.colours import COLOURS
from liescope.common.statistics import CHANGE, PROPORTION
from liescope.games.registry import SIDES, WORDS
from liescope.games.vocabulary import NOT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METRICS = {
    "claimed": "somebody claims to have investigated before the ballot",
    "true_claimer": "the first to claim did investigate",
    "named_right": "the rule names a killer, of those whom it names",
    "voted_right": "votes for a killer, as cast",
    "rule_right": "votes for a killer, by the rule",
    "out": "a killer is voted out, as cast",
    "out_by_rule": "a killer is voted out, by the rule",
    "gain": "by the rule minus as cast",
}
_CAST, _RULE = "as cast", "by the rule"
_DRAWN = {
    "voted_right": ("votes for a killer", _CAST),
    "rule_right": ("votes for a killer", _RULE),
    "out": ("a killer is voted out", _CAST),
    "out_by_rule": ("a killer is voted out", _RULE),
}
_KEYS = ["game_id", "family", *CELL]
Claim = Mapping[str, Any]


def first_claim(frames: Frames) -> pl.DataFrame:
    """Trusting the first player who claims to have investigated: how often it is right, and what it would change.

    It asks every player who neither deceives nor investigated, at each ballot that counts, in games in which somebody
    investigated, over all that was claimed until then: the first other player to claim an investigation, or a role that
    investigates, is trusted. The rule names whom that player accused last among those to vote for; without an
    accusation, the only player left who is neither the claimer nor cleared by the claimer; the claimer, if it accuses
    the voter itself, who knows better. Where it names nobody, the vote stays as it was. Then the ballot is counted
    again with this one vote changed, all others as they were cast or drawn; ties that are broken at random give shares,
    in both counts. A killer is a player of those who attack together at night (`sides`).

    Columns: game, condition, model (the voter's; all models in its last rows), learning, metric (a key of `METRICS`),
    mean, lo, hi (over games; "gain" is paired), n (votes), games. A killer voted out is a win where there is
    one vote and one killer, as in Mini-Mafia.
    """
    rows = ballots(frames)
    pooled = rows.with_columns(model=pl.lit(POOLED), learning=pl.lit(None, pl.Boolean))
    long = pl.concat([rows, pooled]).unpivot(list(METRICS), index=_KEYS, variable_name="metric")
    place = pl.col("metric").replace_strict({name: at for at, name in enumerate(METRICS)}, return_dtype=pl.Int64)
    last = pl.col("model") == POOLED
    gain = pl.col("metric") == "gain"
    scales = ((~gain, PROPORTION), (gain, CHANGE))
    parts = [game_means(long.filter(which), [*CELL, "metric"], "value", scale) for which, scale in scales]
    return pl.concat(parts).sort(last, *CELL, place)


def ballots(frames: Frames) -> pl.DataFrame:
    """One row for each vote that could have followed the rule: game_id, game, condition, model, learning, day, voter,
    rule (whom it names, null for nobody) and the metrics of `METRICS`, null where they do not apply.
    """
    killers = _names_of(frames.seats.join(united_roles(), on=["game", "role"], how="semi"))
    investigated = _names_of(investigators(frames))
    claims = _claims(frames)
    seats = frames.seats.select("game_id", "deceives", voter="name")
    counted = pl.col("game").is_in(list(SIDES)) & pl.col("game_id").is_in(list(investigated))
    votes = last_ballots(frames).filter(counted).join(seats, on=["game_id", "voter"])
    found: list[dict[str, Any]] = []
    columns = [*_KEYS, "day", "voter", "target", "deceives"]
    for _, ballot in groupby(votes.sort("game_id", "day", maintain_order=True).select(columns).rows(named=True), _day):
        rows = list(ballot)
        cast = {row["voter"]: row["target"] for row in rows}
        game_id, day = rows[0]["game_id"], rows[0]["day"]
        looked = investigated[game_id]
        heard = [claim for claim in claims.get(game_id, ()) if claim["day"] <= day]
        for row in rows:
            if row["voter"] not in looked and row["deceives"] is False:
                others = [claim for claim in heard if claim["speaker"] != row["voter"]]
                found.append(row | _followed(row["game"], row["voter"], cast, others, killers.get(game_id, ()), looked))
    schema = {name: votes.schema[name] for name in [*_KEYS, "day", "voter"]}
    kept = [{name: row[name] for name in (*schema, "rule", *METRICS)} for row in found]
    return pl.DataFrame(kept, {**schema, "rule": pl.String, **dict.fromkeys(METRICS, pl.Float64)}, orient="row")


def _followed(
    game: str,
    voter: str,
    cast: Mapping[str, str],
    claims: Sequence[Claim],
    killers: Container[str],
    investigated: Container[str],
) -> dict[str, Any]:
    """The metrics of one vote. cast: the target of each voter; claims: of the others, in order."""
    claimer = next((claim["speaker"] for claim in claims if claim["says"]), None)
    trusted = [claim for claim in claims if claim["speaker"] == claimer]
    named = _named(voter, trusted, sorted(cast)) if trusted else None
    by_rule = {**cast, voter: named or cast[voter]}

    def out(votes: Mapping[str, str]) -> float:
        shares = SIDES[game].tally(list(votes.values()))
        return min(1.0, sum(share for name, share in shares.items() if name in killers))

    as_cast, ruled = out(cast), out(by_rule)
    return {
        "rule": named,
        "claimed": float(claimer is not None),
        "true_claimer": None if claimer is None else float(claimer in investigated),
        "named_right": None if named is None else float(named in killers),
        "voted_right": float(cast[voter] in killers),
        "rule_right": float(by_rule[voter] in killers),
        "out": as_cast,
        "out_by_rule": ruled,
        "gain": ruled - as_cast,
    }


def _named(voter: str, claims: Sequence[Claim], alive: Sequence[str]) -> str | None:
    """Whom the rule tells a voter to vote for, from the claims of the player whom it trusts."""
    claimer = claims[0]["speaker"]
    if any(claim["accuses"] and claim["subject"] == voter for claim in claims):
        return claimer if claimer in alive else None
    others = [name for name in alive if name not in (voter, claimer)]
    accused = [claim["subject"] for claim in claims if claim["accuses"] and claim["subject"] in others]
    cleared = {claim["subject"] for claim in claims if claim["clears"]}
    left = accused[-1:] or [name for name in others if name not in cleared]
    return left[0] if len(left) == 1 else None


def _claims(frames: Frames) -> dict[object, list[Claim]]:
    """By game, in their order, the claims about other players, and those to know, with says ("investigation", "role" or
    None), accuses (of being one of those who kill at night) and clears.
    """
    says = knowing(frames).select("statement_id", "kind", "subject", "object", "says").unique()
    claims = frames.claims.join(says, on=["statement_id", "kind", "subject", "object"], how="left")
    found: dict[object, list[Claim]] = {}
    for row in claims.filter(pl.col("game").is_in(list(WORDS))).sort("place").iter_rows(named=True):
        words = WORDS[row["game"]]
        value = f"{NOT}{row['object']}" if row["denied"] else row["object"]
        told = row["subject"] != row["speaker"] and row["kind"] in (INVESTIGATION, "guilt", "innocence", "role")
        accuses = told and value in words.guilt
        result = row["kind"] == INVESTIGATION and bool(row["object"]) and not row["denied"]
        clears = told and not accuses and (value in words.innocence or result)
        claim = {name: row[name] for name in ("day", "speaker", "subject", "says")}
        found.setdefault(row["game_id"], []).append({**claim, "accuses": accuses, "clears": clears})
    return found


def _day(row: Mapping[str, Any]) -> tuple[str, int]:
    return row["game_id"], row["day"]


def _names_of(seats: pl.DataFrame) -> dict[object, list[str]]:
    return dict(seats.group_by("game_id").agg("name").iter_rows())


def plot_first_claim(table: pl.DataFrame) -> Figure:
    """Votes and exiles, a row a cell: as cast and by the rule."""
    table = table.filter(pl.col("metric").is_in(list(_DRAWN)))
    panels, series = zip(*(_DRAWN[metric] for metric in table["metric"]), strict=True)
    colours = {_CAST: COLOURS["orange"], _RULE: COLOURS["blue"]}
    return dots(table, "mean", "share of votes", cell_names(table), panels, series, colours, limits=SHARE)


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "first_claim",
        "Trusting the first who claims to have investigated",
        first_claim,
        plot_first_claim,
        needs=(INVESTIGATIONS, VOTES),
        otherwise="nobody voted who neither deceives nor investigates",
        interval=Interval.MEANS,
        source="section 3.2",
        paper=MINI_MAFIA,
        note="Ballots counted again with one honest, uninformed voter following the rule and all other votes as they "
        "were; players who met such a voter might have spoken and voted otherwise.",
        main=True,
        corrections=(Alike(("metric",)),),
    ),
)
