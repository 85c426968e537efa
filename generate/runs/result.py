"""What `play` and `label` return: the state of a run, and its location."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liescope.generate.runs.journal import Journal
from liescope.generate.runs.progress import RunProgress

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, repr=False)
class RunResult:
    """A run after `play` or `label`.

    folder: the run's folder; about: what was asked for, beginning with the run and the game; tally: counts for the
    whole run, its tokens, cost and failures; seconds: how long this call took; currency: the currency of the cost.
    """

    folder: Path
    about: Mapping[str, Any]
    tally: RunProgress
    seconds: float
    currency: str = "USD"

    @property
    def complete(self) -> bool:
        """Whether every planned game was played to the end."""
        return self.tally.done == self.tally.planned

    @cached_property
    def games(self) -> pl.DataFrame:
        """One row for each game that has ended: game_id, cell, status ("done" or "failed"), winner, failure, days."""
        import polars as pl

        texts = ("game_id", "cell", "status", "winner", "failure")
        schema = pl.Schema({**dict.fromkeys(texts, pl.String()), "days": pl.Int64()})
        with Journal.open(self.folder) as journal:
            rows = [
                (
                    game.game_id,
                    game.cell,
                    game.status.value,
                    game.outcome and game.outcome.winner,
                    game.failure,
                    game.outcome and game.outcome.days,
                )
                for game in journal.records()
            ]
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_json(self) -> dict[str, Any]:
        """The summary as plain JSON data, as `--json` prints it."""
        tally = self.tally
        return dict(self.about) | {
            "games": {"planned": tally.planned, "done": tally.done, "failed": tally.failed, "before": tally.before},
            "winners": dict(sorted(tally.winners.items())),
            "calls": tally.calls,
            "from_cache": tally.from_cache,
            "tokens": tally.tokens,
            "cost": tally.cost,
            "currency": self.currency,
            "cached_tokens": sum(host.cached for host in tally.activity.hosts.values()),
            "saved": sum(host.saved for host in tally.activity.hosts.values()),
            "retries": dict(tally.activity.retries.most_common()),
            "unrated": tally.unrated,
            "endpoints": [asdict(facts) | {"served_models": list(facts.served_models)} for facts in tally.endpoints],
            "kinds": _kinds(tally),
            "seconds": round(self.seconds, 3),
            "fallbacks": dict(tally.fallbacks.most_common()),
            "failures": dict(tally.failures.most_common()),
            "stopped": None if tally.stop is None else str(tally.stop),
        }

    def __repr__(self) -> str:
        tally = self.tally
        failed = f", {tally.failed} failed" if tally.failed else ""
        return f"<RunResult {self.folder}: {tally.done} of {tally.planned} games of {self.about['game']} done{failed}>"


def _kinds(tally: RunProgress) -> dict[str, dict[str, float | None]]:
    """Calls and tokens per game, by kind of ask, over the games that ended; nothing while none has."""
    games = tally.done + tally.failed
    if not games:
        return {}

    def each(count: int | None) -> float | None:
        return None if count is None else count / games

    return {
        kind.kind: {
            "calls_per_game": each(kind.replies),
            "prompt_tokens_per_game": each(kind.prompt_tokens),
            "cached_tokens_per_game": each(kind.cached_tokens),
            "completion_tokens_per_game": each(kind.completion_tokens),
        }
        for kind in tally.kinds
    }
