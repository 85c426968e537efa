"""Games as tidy frames: one row for each game, seat, statement, claim, rating, vote, night act, bid, lesson and guess.

Columns that depend on the whole set of games (condition, lineup, the model of each row) are left empty here;
`conditions_of_play.prepare` fills them in. `load_games` reads those of runs and corpora, with facts about the runs.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import polars as pl
import polars.selectors as cs

from liescope.benchmark.analyses.conditions_of_play import PLAYERS, UNKNOWN, prepare
from liescope.benchmark.analyses.intervals import game_means
from liescope.benchmark.capability.count_sources import with_silent
from liescope.benchmark.capability.counts import UNHEARD
from liescope.common.errors import BadData, UsageError
from liescope.common.report.contents import with_interval
from liescope.common.text import number_of
from liescope.games.core import AskKind
from liescope.games.game_registry import GAMES, PROMPTS
from liescope.games.record import Source, Status, person_of, player_of
from liescope.games.shared_rules import BIDS
from liescope.games.werewolf.rules import JESTER
from liescope.generate.corpus.open import OpenedGames, check_apart, open_games, records, tables_of
from liescope.generate.corpus.read import SILENT
from liescope.labeling.acts import second_order_guesses
from liescope.labeling.ledger import BY_IMPORTER, DENIED, RULES

OPINIONS = frozenset({"statements", "ratings", "ranks", "guesses", "tags"})
"""Frames that hold the rows of a game once for each rater."""
FORK = ("fork_step", "fork_group", "fork_seat", "fork_event")
LABELS = ("label_role", "label_claim", "label_self", "self_type")

_GAME = ("game_id", "family", "game", "condition", "model", "learning")
_TURN = (*_GAME, "turn")
_DAY_COLUMN = (*_GAME, "day")
COLUMNS: dict[str, tuple[str, ...]] = {
    "games": (
        *(*_TURN, "lineup", "settings", "source", "seating", "triadic", "winner", "reason", "days", "seed"),
        *("run", "siblings", *FORK),
        *("last_speaker", "attributes"),
    ),
    "seats": (*_TURN, "name", "role", "team", "deceives", "seat_model", "person", "won", "survived", "fate", "day_out"),
    "statements": (
        *(*_DAY_COLUMN, "rater", "statement_id", "phase", "round", "place", "position", "statements_of_day"),
        *("speaker", "speaker_role", "speaker_model", "text", "truncated", "read_notes", *LABELS, "self_confidence"),
        *("label_peer", "peer_rate", "peer_ratings", "peer_suspicion", "planted_type"),
    ),
    "claims": (
        *(*_DAY_COLUMN, "statement_id", "place", "speaker", "speaker_role", "kind", "subject", "object"),
        *("denied", "verdict", "known", "claim_class"),
    ),
    "ratings": (
        *(*_DAY_COLUMN, "rater", "statement_id", "speaker", "speaker_role"),
        *("observer", "observer_role", "observer_model", "observer_seat_model"),
        *("flag", "type", "confidence", "suspicion", "running_suspicion", *LABELS),
    ),
    "votes": (*_DAY_COLUMN, "ballot", "voter", "voter_role", "target", "target_role", "drawn"),
    "ranks": (*_DAY_COLUMN, "rater", "ballot", "voter", "voter_role", "drawn", "suspicion_rank"),
    "nights": (*(*_DAY_COLUMN, "act", "round", "actor", "actor_role", "target", "target_role", "died", "drawn"),),
    "bids": (*_DAY_COLUMN, "phase", "turn", "bidder", "role", "bid", "floor", "drawn"),
    "lessons": (*_TURN, "kind", "text", "kept", "nearest"),
    "guesses": (*_GAME, "rater", "observer", "observer_role", "target", "target_role", "guess"),
    "tags": (*_GAME, "kind", "text", "rater", "categories", "order"),
}


Tables = Mapping[str, pl.DataFrame]
_DRAWN = pl.col("fallback") != ""
_DAY = ["game_id", "day"]
_DONE = (pl.col("status") == Status.DONE.value) & ~SILENT
_ENDED = _DONE & pl.col("reason").is_not_null()
_PLAYED_HERE = pl.col("game").is_in(list(GAMES))
_BY_IMPORTER = pl.col("origin").str.starts_with(BY_IMPORTER)
_OF_LABELS = pl.when(_PLAYED_HERE).then(pl.col("origin") == RULES).otherwise(_BY_IMPORTER)
_ROLES = cs.string() & cs.matches("(^|_)(role|team)$")


def merged_frames(parts: Sequence[Tables]) -> dict[str, pl.DataFrame]:
    """The frames of all parts together. A game's events are taken from the first part that holds it, opinions from
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
        .with_columns(triadic=jester, attributes=pl.col("meta").str.json_path_match("$.attributes"))
        .join(last_vote, on="game_id", how="left", maintain_order="left")
        .with_columns(pl.col("days").fill_null(0)),
        "seats": seats.with_columns(survived=pl.col("fate") == "alive"),
        "statements": statements,
        "claims": claims.join(
            statements.select("statement_id", "day", "place"), on="statement_id", how="left", maintain_order="left"
        ),
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
    # Whatever depends on the other games of the set is filled in by `prepare`.
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
    """The seats with their players: seat_model, one name for all people, and person."""
    pairs = seats.select("model", "source").unique()
    players = [(model, Source(source)) for model, source in pairs.iter_rows()]
    named = pairs.with_columns(
        seat_model=pl.Series([player_of(*player) for player in players], dtype=pl.String),
        person=pl.Series([person_of(*player) for player in players], dtype=pl.String),
    )
    return seats.join(named, on=["model", "source"], how="left", maintain_order="left").drop("model")


def _check_same(one: Tables, other: Tables) -> None:
    """Raises BadData if two sources hold one game with different seats, statements or votes."""
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


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames of a set of finished games; `COLUMNS` lists their columns.

    Events appear once for each game; opinions (statements with their reports, ratings, ranks, guesses, tags) once
    for each rater: "players", or who rated afterwards.

    family: the game, or the recorded one that it goes on from or plays again: games of one family are not
    independent.
    model: of a row about a seat, the model in that seat (statements and ratings: the speaker's; votes: the voter's); of
    a game, the one model in all seats, or `MIXED`. lineup: the model of each role, roles in alphabetical order,
    as in "A | B | A" for a game of three roles (several models of a role: "A+B"). All people are one model,
    "people"; person: which of them, null where the games do not tell them apart. condition: how the game's settings
    differ from the other games', "" if they do not. learning: the jester of the game's cell learns. turn: the game's
    number in its cell, from 0. day: from 1. days: days that reached a vote; the last does not if a game ends at night.
    drawn: the rules chose, because the reply was unusable or nobody was asked. suspicion_rank: of a vote's target among
    the living others in the voter's own running suspicion, 1 for the most suspected, ties averaged. fate: alive, killed
    or exiled. attributes: of a game's names, by name, as JSON; null without a file of names. position: of the statement
    within its day, from 1; place: within its game. denied: the claim is that something is not so. Claims are those
    behind the labels: found by rules, or brought by the importer of a game that Liescope cannot play
    (`liescope.labeling.ledger`).
    """

    games: pl.DataFrame
    seats: pl.DataFrame
    statements: pl.DataFrame
    claims: pl.DataFrame
    ratings: pl.DataFrame
    votes: pl.DataFrame
    ranks: pl.DataFrame
    nights: pl.DataFrame
    bids: pl.DataFrame
    lessons: pl.DataFrame
    guesses: pl.DataFrame
    tags: pl.DataFrame


def frames_of(parts: Sequence[Tables], pool: bool = False) -> Frames:
    """Frames of the finished games in several sets of tables. Each set holds a game once; several may hold it, each
    with other raters. pool: games of different settings are one condition.

    Raises BadData if two of them differ in what happened in a game.
    """
    return Frames(**prepare(merged_frames(parts or [tables_of([])]), pool))


_LONGEST = 300  # characters of a setting's value
PROVIDERS = "the provider's default"
"""The value of a setting that no spec names."""


@dataclass(slots=True)
class Run:
    """One run. name: as it was named, with the corpus that it was read from; plan, versions: of its run.json;
    finished: games; failed: games by the reason that broke them off.
    """

    name: str
    plan: Mapping[str, Any]
    versions: Mapping[str, str]
    finished: int = 0
    failed: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class GameSet:
    """runs: in the order named; frames: of their finished games; sources: whose words were spoken in them; pooled:
    games of different settings count as one condition; notes: what else to say of any figure.
    """

    runs: tuple[Run, ...]
    frames: Frames
    sources: frozenset[Source]
    pooled: bool = False
    notes: tuple[str, ...] = ()


def load_games(
    paths: Sequence[str | os.PathLike[str]],
    watch: Callable[[int], None] = lambda _: None,
    pool: bool = False,
    silent: bool = False,
) -> GameSet:
    """The games of all sources: folders of runs, folders of corpora, and corpora on the Hub. A game may be in several
    of them if each has other raters: the players, or who rated afterwards. watch: is called with the number of games
    read so far. pool: games of different settings are one condition. silent: count games that a model was silent in.

    Raises UsageError if no game is finished or two sources hold the same game with the same raters, BadData for a
    source that holds neither a run nor a corpus.
    """
    read: list[OpenedGames] = []

    def watch_all(count: int) -> None:
        watch(sum(games.tables["games"].height for games in read) + count)

    for path in paths:
        read.append(open_games(path, watch=watch_all))
    opened, said = with_silent(read, silent)
    said += _second_order(paths, read)
    check_apart(opened, by_rater=True)
    runs = tuple(run for games in opened for run in _runs(games))
    if not any(run.finished for run in runs):
        failed = sum((run.failed for run in runs), Counter[str]())
        unheard = failed.pop(UNHEARD, 0)
        again = f"{failed.total()} failed: the command that played them retries them with --retry-failed"
        why = [again] if failed else []
        why += [f"{unheard} are left out, because {UNHEARD}"] if unheard else []
        told = "; ".join(why) or "none has finished yet"
        raise UsageError(f"{', '.join(map(str, paths))}: no finished game to analyse ({told})")
    return GameSet(runs, frames_of([games.tables for games in opened], pool), _sources(opened), pool, said)


def _second_order(paths: Sequence[str | os.PathLike[str]], opened: Sequence[OpenedGames]) -> tuple[str, ...]:
    """How often players knew whom the others suspect, in games that asked them; continuations are left out."""
    asked = [
        path
        for path, games in zip(paths, opened, strict=True)
        if any((run.plan.get("options") or {}).get("second_order") for run in games.runs)
    ]
    played = {game.game_id: game for path in asked for game in records(path) if "fork" not in game.meta}
    found = [(name, *one) for name, game in played.items() for one in second_order_guesses(game)]
    if not found:
        return ()
    answers = pl.DataFrame(found, ["family", "right", "chance"], orient="row")
    right, lo, hi = game_means(answers, (), "right").select("mean", "lo", "hi").row(0)
    return (
        f"Second-order beliefs: of {number_of(answers.height, 'answer')} about whom another player suspects most, "
        f"{with_interval(right, lo, hi, '.1%')} were right by that player's next vote; "
        f"{sum(one[-1] for one in found) / len(found):.1%} would be by chance.",
    )


def _runs(games: OpenedGames) -> Iterator[Run]:
    for run in games.runs:
        mine = games.tables["games"].filter(pl.col("run") == run.name)
        why = pl.when(SILENT).then(pl.lit(UNHEARD)).otherwise("failure").alias("failure")
        failed = mine.filter(~_DONE).group_by(why).len().sort("len", "failure", descending=[True, False])
        name = f"{games.source} ({run.name})" if games.from_corpus else games.source
        yield Run(name, run.plan, run.versions, mine.filter(_DONE).height, Counter(dict(failed.iter_rows())))


def _sources(opened: Sequence[OpenedGames]) -> frozenset[Source]:
    seats = [games.tables["games"].filter(_DONE).select(pl.col("seats").explode()) for games in opened]
    return frozenset(Source(name) for name in pl.concat(seats)["seats"].struct.field("source").unique())


def settings(runs: Sequence[Run]) -> pl.DataFrame:
    """The runs' settings, one per row (Table 22): run, setting, value. How models were asked is given for each, even if
    nothing was set.
    """
    rows = [
        (run.name, name, value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…")
        for run in runs
        for name, value in [
            *_flat(run.plan),
            *_asked(run.plan),
            *((f"version of {package}", number) for package, number in run.versions.items()),
        ]
    ]
    return pl.DataFrame(rows, {"run": pl.String, "setting": pl.String, "value": pl.String}, orient="row")


def _flat(plan: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, str]]:
    for key, value in plan.items():
        name = f"{within}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}.")
        elif key == "cells" and isinstance(value, list):
            yield name, f"{len(value)}: " + "; ".join(", ".join(dict.fromkeys(map(_words, cell))) for cell in value)
        else:
            yield name, _words(value)


def _asked(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """How each model of a plan was asked, and what a bid can be."""
    game = str(plan.get("game"))
    if game not in PROMPTS:
        yield "temperature, top_p, max_tokens", "not known: the games were not played here"
        return
    family = PROMPTS[game]
    specs = [*plan.get("players", ()), *(spec for cell in plan.get("cells", ()) for spec in cell)]
    for spec in dict.fromkeys(map(str, specs)):
        kind, _, rest = spec.partition(":")
        if kind not in ("openai", "local"):
            continue
        model, _, query = rest.partition("?")
        named = dict(parse_qsl(query))
        own = family.temperature
        default = {
            "temperature": PROVIDERS if own is None else f"{own:g}, as the paper of this game has it",
            "top_p": PROVIDERS,
            "max_tokens": f"not set: {PROVIDERS}",
        }
        for name, words in default.items():
            each = [f"{value} ({option})" for option, value in named.items() if option.partition(".")[0] == name]
            yield f"{name} of {model}", "; ".join([*each, *([] if name in named else [words])])
    if AskKind.BID in family.variables.keys() - family.optional:
        yield "bids", f"whole numbers from {BIDS[0]} to {BIDS[-1]}; one that cannot be read counts as 0"


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_words, value)) or "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
