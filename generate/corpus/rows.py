"""From a game to rows of the corpus: plain dictionaries with the columns of its schema, without the split."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from liescope.games.core import EventKind
from liescope.games.record import GameRecord, Status
from liescope.games.werewolf import JESTER
from liescope.generate.corpus.schema import ROLES
from liescope.labeling.label import label_game
from liescope.labeling.lesson_tags import tag
from liescope.labeling.rows import Claim, RatingRow, StatementRow, VoteRow

Row = Mapping[str, Any]

_VOTED_OUT = frozenset({EventKind.ARREST, EventKind.EXILE})
_TURNS = frozenset({EventKind.STATEMENT, EventKind.SILENCE})


def game_rows(run: str, game: GameRecord, calls: Sequence[Row]) -> Iterator[tuple[str, Row]]:
    """The (config, row) pairs of one game: its games row, its calls and, of a game that was played to its end, the
    labelled statements, ratings and votes and the lessons drawn from it. A failed game broke off somewhere, so its
    statements are left out.
    """
    yield "games", games_row(run, game)
    for call in calls:
        yield "calls", call
    if game.status is not Status.DONE:
        return
    labelled = label_game(game)
    for config, rows in (
        ("statements", labelled.statements),
        ("ratings", labelled.ratings),
        ("votes", labelled.votes),
    ):
        for row in rows:
            yield config, _plain(row)
    for lesson in lesson_rows(game):
        yield "lessons", lesson


def games_row(run: str, game: GameRecord) -> Row:
    """One row for a game, failed ones too. `last_speaker` had the last turn to speak, used or not; `source` joins
    the sources of the seats with "+" where they differ.
    """
    outcome = game.outcome
    kinds = [event.kind for event in game.events]
    turns = [event.actor for event in game.events if event.kind in _TURNS]
    winners = outcome.winners if outcome else ()
    return {
        "game_id": game.game_id,
        "run": run,
        "game": game.game,
        "cell": game.cell,
        "seed": game.seed,
        "source": "+".join(sorted({seat.source.value for seat in game.seats})),
        "status": game.status.value,
        "failure": game.failure,
        "winner": outcome.winner if outcome else None,
        "reason": outcome.reason if outcome else None,
        "days": outcome.days if outcome else max((event.day for event in game.events), default=0),
        "seats": [
            {
                "name": seat.name,
                "role": seat.role,
                "team": seat.team,
                "model": seat.model,
                "source": seat.source.value,
                "won": seat.name in winners if outcome else None,
            }
            for seat in game.seats
        ],
        **{f"{role}_model": _only_model(game, role) for role in ROLES},
        "learning": bool(game.meta.get("learning", False)),
        "turn": game.meta.get("turn"),
        "judge": game.meta.get("judge"),
        "killed": _targets(game, {EventKind.DEATH}),
        "voted_out": _targets(game, _VOTED_OUT),
        "last_speaker": turns[-1] if turns else None,
        "statements": kinds.count(EventKind.STATEMENT),
        "silences": kinds.count(EventKind.SILENCE),
        "fallbacks": sum(1 for event in game.events if event.fallback),
    }


def lesson_rows(game: GameRecord) -> Iterator[Row]:
    """One row a lesson that the game's jester proposed after it, with the tags that its words carry."""
    for lesson in game.meta.get("lessons", ()):
        tags = tag(lesson["text"])
        yield {
            "game_id": game.game_id,
            "cell": game.cell,
            "model": _only_model(game, JESTER),
            "turn": game.meta.get("turn"),
            "kind": lesson["kind"],
            "text": lesson["text"],
            "kept": lesson["kept"],
            "nearest": lesson["nearest"],
            "categories": tags.categories,
            "order": tags.order,
        }


def _plain(row: StatementRow | RatingRow | VoteRow | Claim) -> dict[str, Any]:
    """A labelled row as a dictionary; `dataclasses.asdict` copies every value and takes five times as long."""
    plain = {name: getattr(row, name) for name in row.__slots__}
    if isinstance(row, StatementRow):
        plain["claims"] = [_plain(claim) for claim in row.claims]
    return plain


def _only_model(game: GameRecord, role: str) -> str | None:
    models = {seat.model for seat in game.by_role(role)}
    return models.pop() if len(models) == 1 else None


def _targets(game: GameRecord, kinds: Collection[EventKind]) -> list[str]:
    return [event.target for event in game.events if event.kind in kinds and event.target is not None]
