"""The commands that make runs, play, fork and label, and what they print at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from liescope.common.command_options import AsJson, Given, each_with_a_line, with_settings
from liescope.common.console import emit, hang, put
from liescope.common.errors import UsageError
from liescope.common.text import plain
from liescope.games.game_registry import GAMES, game_lines, game_options
from liescope.generate.players.player_registry import player_names
from liescope.generate.players.run_limits import CHARACTERS_A_TOKEN, Limits
from liescope.generate.runs.forecast import Forecast, forecast
from liescope.generate.runs.fork import ContinuationSettings
from liescope.generate.runs.fork import fork as fork_game
from liescope.generate.runs.plan_games import PlanSettings
from liescope.generate.runs.play import RunResult
from liescope.generate.runs.play import play as play_games
from liescope.generate.runs.rating import RatingSettings
from liescope.generate.runs.rating import label as label_games
from liescope.generate.runs.run_folder import PLAN_FILE


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
    if summary["silent"]:
        _say(f"In {summary['silent']} of the games a seat gave no reply that could be used; they are in no count.")
    for note in summary["notes"]:
        _say(f"{plain(note)}.")
    if summary["unrated"]:
        _say(f"Assessments that could not be had (null, with the reason): {summary['unrated']}.")
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


_WIDE = 26


def _forecast_lines(found: Forecast) -> Iterator[str]:
    """The summary: one screen."""
    already = f", {found.planned - found.left:,} of {found.planned:,} played" if found.left < found.planned else ""
    games = "game" if found.left == 1 else "games"
    yield f"{found.about['game']}: {found.left:,} {games} left to play{already}; {found.calls:,.0f} calls to models."
    yield f"From {found.sample} of the games, played by scripts. No model was called, nothing written."
    if not found.asks:
        yield "No player in this run costs anything."
        return
    for name in ("kind", "model"):
        yield f"\n{f'by {name}':{_WIDE}}{'calls':>9}{'tokens':>13}{found.currency:>20}"
        for one in dict.fromkeys(getattr(ask, name) for ask in found.asks):
            part = replace(found, asks=tuple(ask for ask in found.asks if getattr(ask, name) == one))
            tokens = sum(ask.prompt_tokens + ask.completion_tokens for ask in part.asks)
            words = "no price known" if part.cost is None else f"{part.cost:,.2f}"
            short = one if len(one) < _WIDE else f"{one[: _WIDE - 3]}…"
            yield f"{plain(short):{_WIDE}}{part.calls:>9,.0f}{tokens:>13,.0f}{words:>20}"
    yield f"\nTokens are estimated: {CHARACTERS_A_TOKEN} characters each; answers are of usual length,"
    yield "or as long as those so far in this run. Reasoning without a bound, which may"
    yield "cost many times as much, is not counted, and nothing is taken as cached."
    if found.unpriced:
        yield "Where no price is known: --price MODEL=PROMPT,COMPLETION, or a file of prices."


app = typer.Typer()


Run = Annotated[Path, typer.Argument(help="A run's folder; it is only read.", metavar="runs/NAME")]


@app.command()
@with_settings(PlanSettings, game_options(), Limits, run_file=PLAN_FILE)
def play(
    *,
    game: Annotated[
        str, typer.Argument(help=each_with_a_line("The game:", game_lines()), autocompletion=lambda: list(GAMES))
    ],
    out: Annotated[Path, typer.Option(help="Folder of the run; an existing run resumes.", metavar="runs/NAME")],
    given: Given,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it will take (calls, tokens, cost); ask and write nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Play games. Stop at any time; the same command resumes.

    Example: liescope play mini-mafia --player scripted:bold --player scripted:novice --games 20 --out runs/first
    """
    if not dry_run:
        summarise(play_games(game, out=out, progress=True, **given), as_json)
        return
    found = forecast(game, out=out, **given)
    if as_json:
        emit(found.to_json())
        return
    for line in _forecast_lines(found):
        put(line)


@app.command()
@with_settings(ContinuationSettings, Limits, run_file=PLAN_FILE)
def fork(
    *,
    run: Run,
    game: Annotated[str, typer.Argument(help="The game: its number, its id or the beginning of it.")],
    step: Annotated[int, typer.Argument(help="The step to answer anew; show RUN GAME --calls counts them.", min=0)],
    out: Annotated[
        Path | None,
        typer.Option(help="The folder of the continuations. \\[default: RUN-fork-GAME-STEP]", show_default=False),
    ] = None,
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Play a recorded game on from one moment, many times.

    The state is the same, with other words or another player. What was said and done before is replayed at no cost.
    There is a group of continuations for each --player and each --say; how often the seat's side wins and how often it
    is voted for is compared between them, in pairs that share their random draws. Stop at any time; the same command
    resumes.

    Example: liescope fork runs/first 0 4 --say "I saw Bob at night." --say "I slept and know nothing." --times 20
    """
    result = fork_game(run, game, step, out=out, progress=True, **given)
    if not as_json:
        from liescope.common.report.contents import terminal  # imported here, because it loads polars

        for line in terminal(result.report):
            put(line)
    summarise(result, as_json)


@app.command()
@with_settings(RatingSettings, Limits, run_file=PLAN_FILE)
def label(
    *,
    run: Run,
    judge: Annotated[
        str | None,
        typer.Option(help="The player that judges, in every seat, such as openai:MODEL.", autocompletion=player_names),
    ] = None,
    claims_by: Annotated[
        str | None,
        typer.Option(
            help="Instead of a judge: the model that lists the claims, such as openai:MODEL.",
            autocompletion=player_names,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder for the judged games. \\[default: RUN-by-JUDGE or RUN-beliefs]", show_default=False
        ),
    ] = None,
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Rate a run's games after the fact.

    A judge takes each seat in turn and sees what the seat saw at that moment. The judged games form a separate run, for
    show, build and analyse. Stop at any time; the same command resumes. With --claims-by, a model lists the claims in
    each statement. With --beliefs, each player is asked what it believed
    of the claims that it made.

    Example: liescope label runs/first --judge scripted:steady --roles
    """
    result = label_games(run, judge, claims_by=claims_by, out=out, progress=True, **given)
    summarise(result, as_json)
