"""What `import_games` returns: the number of games imported, and counts over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liescope.games.core import EventKind
from liescope.games.record import GameRecord, Source, Status
from liescope.generate.importers.protocol import Rejected

if TYPE_CHECKING:
    import polars as pl

REJECTED_FILE = "rejected.jsonl"


@dataclass
class ImportSummary:
    """Counts over imported games, whatever the game. A game counts once for a role and model, however many players
    share them; winner "" means a game without a known end; left_out: by column, the cells that could not be read.
    """

    games: int = 0
    failed: int = 0
    with_a_person: int = 0
    filled_in: Counter[str] = field(default_factory=Counter)
    winners: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    played: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, game: GameRecord) -> None:
        """Count one game."""
        winner = game.outcome.winner if game.outcome else ""
        self.games += 1
        self.failed += game.status is Status.FAILED
        self.winners[winner] += 1
        self.with_a_person += any(seat.source is Source.HUMAN for seat in game.seats)
        self.filled_in.update(event.kind.value for event in game.events if event.fallback)
        self.left_out.update(game.meta.get("cells_left_out", {}))
        self.notes.update({*game.meta.get("import_notes", ())})
        self.played.update({(seat.role, seat.model, winner) for seat in game.seats})


@dataclass(frozen=True, repr=False)
class ImportResult:
    """A run folder after an import.

    run: the folder; format: of the sources; summary: counts over all games of the sources; new: the number not in the
    folder before; first_rejected: the first item that could not be read; rejections: the number of such items; seconds:
    how long the import took.
    """

    run: Path
    format: str
    summary: ImportSummary
    new: int
    rejections: int
    first_rejected: tuple[Rejected, ...]
    seconds: float

    @property
    def games(self) -> int:
        """The number of games in the sources that could be read."""
        return self.summary.games

    @cached_property
    def counts(self) -> pl.DataFrame:
        """One row for each role, model and winner: role, model, winner, games."""
        import polars as pl

        rows = [(*key, count) for key, count in sorted(self.summary.played.items())]
        schema = {"role": pl.String, "model": pl.String, "winner": pl.String, "games": pl.Int64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    @cached_property
    def notes(self) -> pl.DataFrame:
        """What was read leniently or not at all: note, games; the most common first."""
        import polars as pl

        return pl.DataFrame(
            self.summary.notes.most_common(), schema={"note": pl.String, "games": pl.Int64}, orient="row"
        )

    @cached_property
    def rejected(self) -> pl.DataFrame:
        """Everything that could not be read: file, line, game_id, reason. It is kept in the run folder's
        rejected.jsonl.
        """
        import polars as pl

        schema = {"file": pl.String, "line": pl.Int64, "game_id": pl.String, "reason": pl.String}
        if not self.rejections:
            return pl.DataFrame(schema=schema)
        return pl.read_ndjson(self.run / REJECTED_FILE, schema=schema)

    def to_json(self) -> dict[str, Any]:
        """The summary as plain JSON data, as `--json` prints it."""
        summary = self.summary
        return {
            "run": str(self.run),
            "format": self.format,
            "games": summary.games,
            "failed": summary.failed,
            "winners": {winner: count for winner, count in sorted(summary.winners.items()) if winner},
            "models": self._models(),
            "filled_in": {
                "silences": summary.filled_in[EventKind.SILENCE.value],
                "votes": summary.filled_in[EventKind.VOTE.value],
            },
            "games_with_a_person": summary.with_a_person,
            "notes": dict(summary.notes.most_common()),
            "left_out": dict(summary.left_out.most_common()),
            "new": self.new,
            "rejected": self.rejections,
            "seconds": round(self.seconds, 2),
        }

    def _models(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Role to model to the number of games and each team's wins."""
        models: dict[str, dict[str, dict[str, Any]]] = {}
        for (role, model, winner), count in sorted(self.summary.played.items()):
            entry = models.setdefault(role, {}).setdefault(model, {"games": 0, "winners": {}})
            entry["games"] += count
            if winner:
                entry["winners"][winner] = count
        return models

    def __repr__(self) -> str:
        rejected = f", {self.rejections} rejected" if self.rejections else ""
        return f"<ImportResult {self.run}: {self.games} games of {self.format}{rejected}>"


def plain_rejection(rejected: Rejected) -> Mapping[str, Any]:
    """A rejection as plain JSON data, in which nothing is longer than a line."""
    return {key: value[:500] if isinstance(value, str) else value for key, value in asdict(rejected).items()}
