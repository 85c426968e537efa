"""The commands that make data: play and show here; import, build and publish beside them."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from games.errors import UsageError
from games.record import record_to_json
from generate.console import emit, progress
from generate.corpus_commands import app as corpus_commands
from generate.import_commands import app as import_commands
from generate.journal import Journal
from generate.plan import GAMES, Plan, make_plan, playable, roles_of
from generate.players.protocol import Price
from generate.runner import Limits, Tally
from generate.runner import play as play_plan
from generate.tournament import cells, read_cells
from generate.transcript import plain, transcript

app = typer.Typer()
for commands in (import_commands, corpus_commands):
    app.add_typer(commands)

DEFAULT_PLAYER = "scripted:steady"


@app.command()
def play(
    game: Annotated[str, typer.Argument(help=f"The game: {' or '.join(GAMES)}.")],
    out: Annotated[Path, typer.Option(help="The run's folder; a run that is there goes on.", metavar="runs/NAME")],
    player: Annotated[
        list[str] | None,
        typer.Option(help=f"A player, repeatable: scripted:bold, openai:MODEL[@URL]. [default: {DEFAULT_PLAYER}]"),
    ] = None,
    games: Annotated[int, typer.Option(help="Games in each cell.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
    design: Annotated[
        str, typer.Option(help="background: a player in one role, a background in the others; full: all; self.")
    ] = "background",
    background: Annotated[
        list[str] | None, typer.Option(help="A background player, repeatable. [default: every player]")
    ] = None,
    cells_file: Annotated[
        Path | None, typer.Option("--cells", help="A CSV of cells in place of a design: one column for each role.")
    ] = None,
    assess: Annotated[bool, typer.Option(help="Have each statement assessed by speaker and others.")] = False,
    rounds: Annotated[int | None, typer.Option(help="Rounds of discussion a day.", min=1)] = None,
    prompts: Annotated[str, typer.Option(help="full, minimal, or a folder of templates.")] = "full",
    roles: Annotated[
        str, typer.Option(help="balanced over names and places, shuffled in each game, or fixed.")
    ] = "balanced",
    names: Annotated[str | None, typer.Option(help="Names at the table, separated by commas.")] = None,
    message_limit: Annotated[
        int | None, typer.Option(help="Characters kept of a message; 0 for no limit. [default: 200]", min=0)
    ] = None,
    mafiosos: Annotated[int | None, typer.Option(help="How many mafiosos (mafia).")] = None,
    detectives: Annotated[int | None, typer.Option(help="How many detectives (mafia).")] = None,
    villagers: Annotated[int | None, typer.Option(help="How many villagers (mafia).")] = None,
    days: Annotated[int | None, typer.Option(help="Days until the mafia has won; 0 for no end (mafia).")] = None,
    concurrency: Annotated[int, typer.Option(help="Games, and requests, under way at once.", min=1)] = 16,
    timeout: Annotated[float, typer.Option(help="Seconds that a request may take.", min=0.1)] = 120.0,
    max_tokens: Annotated[int | None, typer.Option(help="Stop when the run has used so many tokens.", min=1)] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Stop when the run has cost so much (needs --price).", min=0)
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(help="Money for a million tokens: MODEL=PROMPT,COMPLETION[,CACHED], repeatable."),
    ] = None,
    retry_failed: Annotated[bool, typer.Option(help="Go on with games that are recorded as failed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")] = False,
) -> None:
    """Let players play; stop it at any time, and the same command goes on where it stopped.

    Example: liescope play mini-mafia --player scripted:bold --player scripted:novice --games 20 --out runs/first
    """
    given: dict[str, Any] = {
        "mafiosos": mafiosos,
        "detectives": detectives,
        "villagers": villagers,
        "days": days,
        "rounds": rounds,
        "assess": assess or None,
        "names": None if names is None else tuple(name.strip() for name in names.split(",")),
    }
    options = {name: value for name, value in given.items() if value is not None}
    if message_limit is not None:
        options["message_limit"] = message_limit or None
    players = list(dict.fromkeys(player or [DEFAULT_PLAYER]))
    table = roles_of(playable(game).resolve(options))
    if cells_file is not None:
        if player or background:
            raise UsageError("--cells names the players itself; leave --player and --background out")
        design, drawn = "list", read_cells(cells_file, table)
        players = list(dict.fromkeys(spec for cell in drawn for spec in cell))
    else:
        drawn = cells(design, table, players, list(dict.fromkeys(background or [])))
    plan = make_plan(game, options, players, design, drawn, games, seed, roles, prompts)
    prices = dict(_price(words) for words in price or [])
    if max_cost is not None and not prices:
        raise UsageError("--max-cost needs the prices of the models: --price MODEL=PROMPT,COMPLETION")
    limits = Limits(concurrency, timeout, max_tokens, max_cost, prices, prompts)
    started = time.monotonic()
    tally = _play(plan, out, limits, retry_failed)
    summary = _summary(plan, out, tally, time.monotonic() - started)
    if as_json:
        emit(summary)
    else:
        _print_summary(summary)
    if tally.stop is not None:
        raise tally.stop
    if tally.failed and not tally.done:
        raise UsageError(f"no game could be played: {next(iter(tally.failures))}; mend that, then add --retry-failed")


@app.command()
def show(
    run: Annotated[Path, typer.Argument(help="A run's folder.", metavar="runs/NAME")],
    game_id: Annotated[str | None, typer.Argument(help="A game of the run; without it, all games are listed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the game's record, or the list, as JSON.")] = False,
) -> None:
    """List the games of a run, or show one of them: roles, statements with labels, votes, outcome.

    Example: liescope show runs/first; then: liescope show runs/first GAME_ID
    """
    with Journal.open(run) as journal:
        if game_id is None:
            _list_games(journal, as_json)
            return
        record = journal.record(game_id)
    if as_json:
        emit(record_to_json(record))
        return
    from labeling.label import label_game

    console = Console(highlight=False, soft_wrap=True)
    for line in transcript(record, label_game(record)):
        console.print(line)


def _play(plan: Plan, out: Path, limits: Limits, retry_failed: bool) -> Tally:
    started = time.monotonic()

    def watch(tally: Tally) -> None:
        pace = tally.calls / max(time.monotonic() - started, 1e-6)
        note = f"{pace:,.0f} calls/s  {tally.tokens:,} tokens"
        note += f"  cost {tally.cost:,.2f}" if tally.cost else ""
        note += f"  {tally.failed:,} failed" if tally.failed else ""
        display.update(task, completed=tally.done + tally.failed, note=note)

    try:
        with progress() as display:
            task = display.add_task("playing", total=len(plan), note="")
            return asyncio.run(play_plan(plan, out, limits, retry_failed, watch))
    except KeyboardInterrupt:
        print(f"\nstopped; run the same command again to go on with {out}", file=sys.stderr)
        raise


def _price(words: str) -> tuple[str, Price]:
    model, _, numbers = words.rpartition("=")
    try:
        values = [float(number) for number in numbers.split(",")]
    except ValueError:
        values = []
    if not model or len(values) not in (2, 3) or min(values) < 0:
        raise UsageError(
            f"--price {words!r} cannot be read; write MODEL=PROMPT,COMPLETION or MODEL=PROMPT,COMPLETION,CACHED"
        )
    return model, Price(*values)


def _summary(plan: Plan, out: Path, tally: Tally, seconds: float) -> dict[str, Any]:
    return {
        "run": str(out),
        "game": plan.game,
        "plan": plan.hash[:8],
        "cells": len(plan.cells),
        "games": {"planned": tally.planned, "done": tally.done, "failed": tally.failed, "before": tally.before},
        "winners": dict(sorted(tally.winners.items())),
        "calls": tally.calls,
        "tokens": tally.tokens,
        "cost": tally.cost,
        "seconds": round(seconds, 3),
        "fallbacks": dict(tally.fallbacks.most_common()),
        "failures": dict(tally.failures.most_common()),
        "stopped": None if tally.stop is None else str(tally.stop),
    }


def _print_summary(summary: dict[str, Any]) -> None:
    games = summary["games"]
    earlier = f", {games['before']} of them earlier" if games["before"] else ""
    print(
        f"{games['done']} of {games['planned']} games of {summary['game']} played{earlier}; {games['failed']} failed."
    )
    print(f"Wins: {', '.join(f'{team} {count}' for team, count in summary['winners'].items()) or 'none'}.")
    cost = f", cost {summary['cost']:.4f}" if summary["cost"] else ""
    print(f"{summary['calls']} replies in {summary['seconds']:.1f} s; {summary['tokens']} tokens in all{cost}.")
    if summary["fallbacks"]:
        counts = ", ".join(f"{plain(model)} {count}" for model, count in summary["fallbacks"].items())
        print(f"Fallbacks (unusable replies that the rules had to replace): {counts}.")
    for reason, count in list(summary["failures"].items())[:5]:
        print(f"Failed {count} times: {plain(reason)}")
    print(f"The run is in {summary['run']}; look at it with: liescope show {summary['run']}")


def _list_games(journal: Journal, as_json: bool) -> None:
    if as_json:
        rows = [
            {"game_id": g.game_id, "cell": g.cell, "winner": g.outcome and g.outcome.winner, "status": g.status.value}
            for g in journal.records()
        ]
        emit({"run": journal.name, "games": rows})
        return
    for game in journal.records():
        ending = game.outcome.winner if game.outcome is not None else plain(game.failure)
        print(f"{game.game_id}  {game.status.value:6}  {ending}  [{plain(game.cell)}]")
    counts = ", ".join(f"{count} {status}" for status, count in journal.counts().items()) or "no game has ended yet"
    print(f"{counts}; one game in full: liescope show {journal.path} GAME_ID")
