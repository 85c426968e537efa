"""What was imported, counted: by winner, by role and model, and what the authors' engine filled in."""

from __future__ import annotations

from collections import Counter
from typing import Any

from liescope.games.core import EventKind
from liescope.games.mafia import MAFIA
from liescope.games.record import GameRecord, Source


class ImportSummary:
    """Counts over imported games. A game counts once for a role, however many players hold it."""

    def __init__(self) -> None:
        self.games = 0
        self.people = 0
        self.winners: Counter[str] = Counter()
        self.filled: Counter[str] = Counter()
        self._played: Counter[tuple[str, str]] = Counter()
        self._mafia_won: Counter[tuple[str, str]] = Counter()

    def add(self, game: GameRecord) -> None:
        """Count one finished game."""
        winner = game.outcome.winner if game.outcome else ""
        self.games += 1
        self.winners[winner] += 1
        self.people += any(seat.source is Source.HUMAN for seat in game.seats)
        self.filled.update(event.kind.value for event in game.events if event.fallback)
        seats = {(seat.role, seat.model) for seat in game.seats}
        self._played.update(seats)
        if winner == MAFIA:
            self._mafia_won.update(seats)

    def facts(self) -> dict[str, Any]:
        """The counts as plain data: winners, models (role → model → games and mafia_wins), filled_in, people."""
        models: dict[str, dict[str, dict[str, int]]] = {}
        for role, model in sorted(self._played):
            wins = self._mafia_won[role, model]
            models.setdefault(role, {})[model] = {"games": self._played[role, model], "mafia_wins": wins}
        return {
            "games": self.games,
            "winners": dict(sorted(self.winners.items())),
            "models": models,
            "filled_in": {
                "silences": self.filled[EventKind.SILENCE.value],
                "votes": self.filled[EventKind.VOTE.value],
            },
            "games_with_a_person": self.people,
        }
