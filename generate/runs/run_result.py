"""What `play`, `fork` and `label` return: the state of a run, and where it is; and the summary that is printed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from liescope.common.console import emit, hang, put
from liescope.common.errors import UsageError
from liescope.common.text import plain
from liescope.generate.runs.game_text import transcript
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_progress import RunProgress

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


def summarise(result: RunResult, as_json: bool) -> None:
    """Print the state of the run, then raise whatever stopped it."""
    tally = result.tally
    if as_json:
        emit(result.to_json())
    else:
        _print(result.to_json())
    sys.stdout.flush()
    if tally.stop is not None:
        raise tally.stop
    if tally.failed:
        reason = tally.failures.most_common(1)[0][0]
        raise UsageError(
            f"the run is incomplete: {tally.failed} of {tally.planned} games failed, most of them because of "
            f"{plain(reason)}; solve that, then run the same command with --retry-failed"
        )


def _print(summary: dict[str, Any]) -> None:
    games = summary["games"]
    earlier = f", {games['before']} of them earlier" if games["before"] else ""
    game = "game" if games["planned"] == 1 else "games"
    _say(f"{games['done']} of {games['planned']} {game} of {summary['game']} done{earlier}; {games['failed']} failed.")
    _say(f"Wins: {', '.join(f'{team} {count}' for team, count in summary['winners'].items()) or 'none'}.")
    cost = f", {summary['cost']:.4f} {summary['currency']}" if summary["cost"] else ""
    _say(f"{summary['calls']:,} replies in {summary['seconds']:.1f} s; {summary['tokens']:,} tokens in all{cost}.")
    if summary["from_cache"]:
        _say(f"{summary['from_cache']} of the replies were in the cache and cost nothing.")
    if summary["cached_tokens"]:
        saved = f" and saved {summary['saved']:.4f} {summary['currency']}" if summary["saved"] else ""
        _say(f"{summary['cached_tokens']:,} tokens of prompts were in the endpoints' caches{saved}.")
    if summary["retries"]:
        retries = ", ".join(f"{count} × {plain(reason)}" for reason, count in summary["retries"].items())
        _say(f"Requests that had to be sent again: {retries}.")
    if summary["unrated"]:
        _say(f"Assessments that could not be had (null, with the reason): {summary['unrated']}.")
    for facts in summary["endpoints"]:
        if facts["json"] is not None:
            takes = "takes no JSON schemas" if facts["json"] == "none" else f"takes JSON ({facts['json']})"
            _say(f"{plain(facts['model'])} at {plain(facts['host'])} {takes}.")
    _print_kinds(summary["kinds"])
    if summary["fallbacks"]:
        counts = ", ".join(f"{plain(model)} {count}" for model, count in summary["fallbacks"].items())
        _say(f"Fallbacks (unusable replies that the rules had to replace): {counts}.")
    for reason, count in list(summary["failures"].items())[:5]:
        _say(f"Failed {count} times: {plain(reason)}")
    _say(f"The run is in {summary['run']}; look at it with:")
    put(f"liescope show {summary['run']}")


def _say(line: str) -> None:
    """Print a sentence, wrapped at words to the terminal's width."""
    for part in hang(Text(line), Console(highlight=False)):
        put(part.plain)


def _print_kinds(kinds: dict[str, dict[str, float | None]]) -> None:
    """At most 80 columns: the kinds have at most 20."""
    if not kinds:
        return
    counted = any(row["prompt_tokens_per_game"] is not None for row in kinds.values())
    head = ["calls", *(["prompt tokens", "cached", "completion"] if counted else [])]
    put(f"{'per game, by kind':20}" + "".join(f"{name:>15}" for name in head))
    total = [0.0] * len(head)
    for kind, row in kinds.items():
        values = list(row.values())[: len(head)]
        total = [sum_ + (value or 0.0) for sum_, value in zip(total, values, strict=True)]
        put(f"{kind:20}" + "".join(f"{'–' if value is None else f'{value:,.1f}':>15}" for value in values))
    put(f"{'all':20}" + "".join(f"{value:>15,.1f}" for value in total))


def show_first(run: Path, games: int) -> None:
    """Print the transcripts of the first games of a run that have ended."""
    from liescope.labeling.label import label_game

    console = Console(highlight=False)
    with Journal.open(run) as journal:
        for game_id in journal.game_ids()[:games]:
            record = journal.record(game_id)
            for line in transcript(record, label_game(record), brackets=not console.is_terminal):
                for part in hang(line, console):
                    console.print(part, soft_wrap=True)
            console.print(Text(""))


def goes_on(result: RunResult) -> bool:
    """Ask whether the run is to go on; without a terminal, say how it does."""
    import typer

    tally = result.tally
    left = tally.planned - tally.done - tally.failed
    asked = left and sys.stdin.isatty() and sys.stdout.isatty()
    if asked and typer.confirm(f"Play the other {left:,} games?"):
        return True
    rest = "; the same command without --preview plays the rest" if left else ""
    put(f"The run is in {plain(str(result.folder))}{rest}.")
    return False
