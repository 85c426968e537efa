"""From a game to rows of the corpus: plain dictionaries with the columns of `generate.schema`, without the split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from games.core import EventKind
from games.record import GameRecord, Status
from labeling.label import label_game
from labeling.rows import Claim, RatingRow, StatementRow, VoteRow

Row = Mapping[str, Any]

_TURNS = frozenset({EventKind.STATEMENT, EventKind.SILENCE})


def game_rows(run: str, game: GameRecord, calls: Sequence[Row]) -> Iterator[tuple[str, Row]]:
    """The (config, row) pairs of one game: its games row, its calls and, of a game that was played to its end, the
    labelled statements, ratings and votes. A failed game broke off somewhere, so its statements are left out.
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
        **{f"{role}_model": _only_model(game, role) for role in ("mafioso", "detective", "villager")},
        "killed": _targets(game, EventKind.DEATH),
        "arrested": _targets(game, EventKind.ARREST),
        "last_speaker": turns[-1] if turns else None,
        "statements": kinds.count(EventKind.STATEMENT),
        "silences": kinds.count(EventKind.SILENCE),
        "fallbacks": sum(1 for event in game.events if event.fallback),
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


def _targets(game: GameRecord, kind: EventKind) -> list[str]:
    return [event.target for event in game.events if event.kind is kind and event.target is not None]
