"""Counts of games for each (deceiver, discloser, voter), or contests: the data of the capability model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from liescope.benchmark.capability.forms import DECEIVER, DISCLOSER, PLAYERS, THREE_ROLES, VOTER, RoleForm, form_of
from liescope.common.model_names import PEOPLE
from liescope.games.mafia.rules import MAFIA
from liescope.games.record import Source, Status
from liescope.generate.corpus.read import SILENT

_KINDS = {"text": pl.String(), "number": pl.Float64(), "count": pl.Int64(), "flag": pl.Boolean()}


def schema(*parts: str) -> pl.Schema:
    """The columns of a frame in their order. Each part: a kind (text, number, count or flag), and names."""
    return pl.Schema({name: _KINDS[kind] for kind, *names in map(str.split, parts) for name in names})


UNHEARD = "no reply of one of the models could be used (--count-silent counts them)"
UNSTATED = "settings not stated"
TABLES = ("games", "votes")  # the tables that games are counted from


def schema_of(form: RoleForm) -> pl.Schema:
    """The columns of counts."""
    return schema(f"text {' '.join(form.players)}", f"count {form.won} {form.of}")


SCHEMA = schema_of(THREE_ROLES)

DRAWN = "drawn"
"""In the place of the role that a vote names: the rules drew it, because the reply could not be read."""
PLAYED = schema(
    f"text {' '.join(PLAYERS)}",
    "count mafia_wins",
    "flag drawn",
    f"text name last seat {' '.join(f'{role}_vote' for role in PLAYERS)}",
)
"""One row for each counted game: who played and won, whether a vote was drawn, and what it happened to be dealt. name,
seat: of the deceiver; last: the role that spoke last, "" if nobody did. A vote is the role that it names, `DRAWN`, or
"" for none, in the last ballot; several votes of one role that differ are "" too."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Games counted by cell.

    cells: a frame of `schema_of` their form, one row for each combination of players, sorted. played: games of three
    roles one by one, a frame of PLAYED, without those of files, which hold counts only. sources: where the words
    of the players come from, empty if the counts do not say (a file). excluded: how many games were left out, by
    reason. notes: sentences that must accompany any result from these games.
    """

    cells: pl.DataFrame
    played: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=PLAYED))
    sources: frozenset[Source] = frozenset()
    excluded: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def games(self) -> int:
        """How many games, or contests, were counted."""
        return int(self.cells[self.form.of].sum())

    @property
    def form(self) -> RoleForm:
        return form_of(self.cells)

    @property
    def drawn_games(self) -> int:
        """How many games contain a vote that the rules drew because a reply was unusable; files do not say."""
        return int(self.played["drawn"].sum())

    @property
    def undrawn(self) -> Counts:
        """The same without those games."""
        if self.played.is_empty():
            return self
        drawn = self.played.filter("drawn").select(*PLAYERS, -pl.col("mafia_wins"), games=pl.lit(-1, pl.Int64))
        cells = tally(pl.concat([self.cells, drawn])).filter(pl.col("games") > 0)
        return replace(self, cells=cells, played=self.played.filter(~pl.col("drawn")))


def stated(condition: str) -> str:
    """The name of a condition; files of counts have none."""
    return condition or UNSTATED


def tally(cells: pl.DataFrame) -> pl.DataFrame:
    """Counts with equal players added up, sorted."""
    form = form_of(cells)
    return cells.group_by(form.players).agg(pl.col(form.won, form.of).sum()).sort(form.players)


def count_by_settings(tables: Mapping[str, pl.DataFrame]) -> dict[tuple[str, str], Counts]:
    """Counts of games by (game, its settings as JSON), from the tables `games` and `votes` of a run or a corpus. The
    voter is whoever votes in that role: in Mini-Mafia the survivor of the night. Left out, by counted reason: failed
    games, those with a seat of a model that gave no usable reply, forks (they share a recorded beginning, not
    independent), games without one of the three roles, games in which several models shared a role (their win belongs
    to no single model), games without a known winner.
    """
    found = {}
    games = _dealt({**tables, "games": with_settings(tables["games"])})
    for (game, settings), part in games.group_by("game", "settings", maintain_order=True):
        counted = part.filter(pl.col("excluded").is_null())
        sources = frozenset(map(Source, counted["sources"].explode(empty_as_null=False).unique()))
        excluded = dict(part["excluded"].drop_nulls().value_counts(sort=True).iter_rows())
        found[str(game), str(settings)] = counts_of(counted.select(*PLAYED).cast(PLAYED), sources, excluded)
    return found


def with_settings(games: pl.DataFrame) -> pl.DataFrame:
    """The games, equal settings in equal words."""
    texts = games["settings"].unique().to_list()
    alike = {text: json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True) for text in texts}
    return games.with_columns(pl.col("settings").replace_strict(alike, return_dtype=pl.String))


def why_not(*more: tuple[pl.Expr, pl.Expr]) -> pl.Expr:
    """Why a game of the table counts for no cell, null if it counts. more: further conditions, with the reasons."""
    reasons = [
        (pl.col("status") == Status.FAILED.value, pl.lit("the game failed")),
        (SILENT, pl.lit(UNHEARD)),
        (pl.col("fork_step").is_not_null(), pl.lit("they go on from a recorded game or play it again")),
        *more,
    ]
    return pl.coalesce(pl.when(holds).then(why) for holds, why in reasons)


def _dealt(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """A row for each game: game, settings, excluded (why it counts for no cell, null if it counts), sources, and the
    columns of PLAYED.
    """
    role, by_rules = pl.col("role"), pl.col("fallback") != ""
    seat, ballot = ["game_id", "name"], pl.col("day") * 1000 + pl.col("ballot")
    votes = (
        tables["votes"]
        .rename({"voter": "name"})
        .with_columns(vote=pl.when(by_rules).then(pl.lit(DRAWN)).otherwise(pl.col("target_role").fill_null("")))
    )
    final = votes.filter(ballot == ballot.max().over("game_id")).group_by(seat).agg(pl.col("vote").last())
    seats = (
        tables["games"]
        .select("game_id", "last_speaker", "seats")
        .explode("seats")
        .unnest("seats")
        .with_columns(
            model=pl.when(pl.col("source") == Source.HUMAN.value).then(pl.lit(PEOPLE)).otherwise("model"),
            seat=pl.int_range(1, pl.len() + 1).over("game_id").cast(pl.String),
        )
        .join(votes.select(*seat, voted=True).unique(), on=seat, how="left", maintain_order="left")
        .join(final, on=seat, how="left", maintain_order="left")
    )
    held = {one: (role == one) & (pl.col("voted").fill_null(False) | pl.lit(one != VOTER)) for one in PLAYERS}
    votes_of = {one: pl.col("vote").filter(role == one).drop_nulls() for one in PLAYERS}
    dealt = seats.group_by("game_id").agg(
        *(pl.col("model").filter(has).unique().alias(one) for one, has in held.items()),
        *(
            pl.when(cast.n_unique() == 1).then(cast.first()).otherwise(pl.lit("")).alias(f"{one}_vote")
            for one, cast in votes_of.items()
        ),
        pl.col("name", "seat").filter(role == DECEIVER).first(),
        last=role.filter(pl.col("name") == pl.col("last_speaker")).first().fill_null(""),
        sources=pl.col("source").unique(),
    )
    games = (
        tables["games"]
        .select("game_id", "game", "settings", "status", "fork_step", "winner", "meta")
        .join(dealt, on="game_id", how="left", maintain_order="left")
        .join(votes.group_by("game_id").agg(drawn=by_rules.any()), on="game_id", how="left", maintain_order="left")
    )
    nobody = (pl.col(DECEIVER).list.len() == 0) & (pl.col(DISCLOSER).list.len() == 0)
    neither = f"{{}} has neither a {DECEIVER}, a {DISCLOSER} and a {VOTER} nor contests of a deceiver and a judge"
    reasons = [(nobody, pl.format(neither, "game"))]
    for one in PLAYERS:
        models = pl.col(one).list.len()
        reasons += [
            (models == 0, pl.lit(f"no {one} played" if one != VOTER else f"no {one} voted")),
            (models > 1, pl.lit(f"several models shared the role of {one}")),
        ]
    reasons.append((pl.col("winner").is_null(), pl.lit("their winner is not known")))
    return games.with_columns(
        pl.col(*PLAYERS).list.first(),
        pl.col("drawn").fill_null(False),
        excluded=why_not(*reasons),
        mafia_wins=(pl.col("winner") == MAFIA).cast(pl.Int64),
    )


def counts_of(played: pl.DataFrame, sources: frozenset[Source], excluded: Mapping[str, int]) -> Counts:
    """The counts of games. played: a frame of PLAYED."""
    return Counts(tally(played.select(*PLAYERS, "mafia_wins", games=pl.lit(1, pl.Int64))), played, sources, excluded)


def add(parts: Sequence[Counts]) -> Counts:
    """The sum of several counts of one form."""
    excluded: Counter[str] = Counter()
    for part in parts:
        excluded.update(part.excluded)
    cells = tally(pl.concat([part.cells for part in parts if part.games] or [pl.DataFrame(schema=SCHEMA)]))
    played = pl.concat([pl.DataFrame(schema=PLAYED), *(part.played for part in parts)])
    sources = frozenset[Source]().union(*(part.sources for part in parts))
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    return Counts(cells, played, sources, dict(excluded), notes)
