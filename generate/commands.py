"""The commands that make data: play and show here; label, import, build and publish beside them."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from liescope.common.console import emit
from liescope.common.errors import UsageError
from liescope.common.text import plain
from liescope.games.record import record_to_json
from liescope.generate.corpus.commands import app as corpus_commands
from liescope.generate.importers.commands import app as import_commands
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.label_command import app as label_commands
from liescope.generate.runs.options import (
    AsJson,
    Concurrency,
    MaxCost,
    MaxTokens,
    PriceOption,
    PromptsOption,
    RetryFailed,
    Timeout,
)
from liescope.generate.runs.plan import GAMES, make_plan, playable, roles_of
from liescope.generate.runs.playing import Playing
from liescope.generate.runs.summary import limits_of, run_job, summarise
from liescope.generate.runs.tournament import cells, factorial, read_cells
from liescope.generate.runs.transcript import transcript

app = typer.Typer()
for commands in (label_commands, import_commands, corpus_commands):
    app.add_typer(commands)

DEFAULT_PLAYER = "scripted:steady"


MAFIA = "Mafia"
WEREWOLF = "Werewolf"
TABLE = "The table"


@app.command()
def play(
    game: Annotated[str, typer.Argument(help=f"The game: {', '.join(GAMES)}.")],
    out: Annotated[Path, typer.Option(help="The run's folder; a run that is there goes on.", metavar="runs/NAME")],
    player: Annotated[
        list[str] | None,
        typer.Option(help=f"A player, repeatable: scripted:bold, openai:MODEL[@URL]. [default: {DEFAULT_PLAYER}]"),
    ] = None,
    games: Annotated[int, typer.Option(help="Games in each cell.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
    design: Annotated[
        str | None,
        typer.Option(
            help="background: a player in one role, a background in the others; full: all; self: each alone; "
            "factorial: self, crossed with --learning. [default: self for Werewolf, background for Mafia]"
        ),
    ] = None,
    background: Annotated[
        list[str] | None, typer.Option(help="A background player, repeatable. [default: every player]")
    ] = None,
    cells_file: Annotated[
        Path | None, typer.Option("--cells", help="A CSV of cells in place of a design: one column for each role.")
    ] = None,
    learning: Annotated[
        str, typer.Option(help="Whether the jester learns from game to game: off, on or off,on.")
    ] = "off",
    prompts: PromptsOption = "full",
    roles: Annotated[
        str, typer.Option(help="balanced over names and places, shuffled in each game, or fixed.")
    ] = "balanced",
    assess: Annotated[
        bool, typer.Option(help="Have each statement assessed by speaker and others.", rich_help_panel=TABLE)
    ] = False,
    assess_share: Annotated[
        float | None, typer.Option(help="Share of the statements to assess. [default: 1]", rich_help_panel=TABLE)
    ] = None,
    show_suspicion: Annotated[
        bool, typer.Option(help="Show voters their own running suspicions.", rich_help_panel=TABLE)
    ] = False,
    names: Annotated[str | None, typer.Option(help="Names, separated by commas.", rich_help_panel=TABLE)] = None,
    message_limit: Annotated[
        int | None,
        typer.Option(
            help="Characters kept of a message; 0 for no limit. [default: Mafia 200, Werewolf 500]",
            min=0,
            rich_help_panel=TABLE,
        ),
    ] = None,
    villagers: Annotated[int | None, typer.Option(help="How many villagers.", rich_help_panel=TABLE)] = None,
    days: Annotated[
        int | None,
        typer.Option(help="Most days: then the mafia has won (0: no end), or nobody.", rich_help_panel=TABLE),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="Rounds of discussion a day.", min=1, rich_help_panel=MAFIA)
    ] = None,
    mafiosos: Annotated[int | None, typer.Option(help="How many mafiosos.", rich_help_panel=MAFIA)] = None,
    detectives: Annotated[int | None, typer.Option(help="How many detectives.", rich_help_panel=MAFIA)] = None,
    werewolves: Annotated[int | None, typer.Option(help="How many werewolves.", rich_help_panel=WEREWOLF)] = None,
    doctors: Annotated[int | None, typer.Option(help="How many doctors.", rich_help_panel=WEREWOLF)] = None,
    seers: Annotated[int | None, typer.Option(help="How many seers.", rich_help_panel=WEREWOLF)] = None,
    jesters: Annotated[int | None, typer.Option(help="How many jesters.", rich_help_panel=WEREWOLF)] = None,
    debate_turns: Annotated[
        int | None, typer.Option(help="Most turns of debate a day.", min=0, rich_help_panel=WEREWOLF)
    ] = None,
    defence_turns: Annotated[
        int | None, typer.Option(help="Most turns of defence a day.", min=0, rich_help_panel=WEREWOLF)
    ] = None,
    concurrency: Concurrency = 16,
    timeout: Timeout = 120.0,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    price: PriceOption = None,
    retry_failed: RetryFailed = False,
    as_json: AsJson = False,
) -> None:
    """Let players play; stop it at any time, and the same command goes on where it stopped.

    Example: liescope play mini-mafia --player scripted:bold --player scripted:novice --games 20 --out runs/first
    """
    given: dict[str, Any] = {
        "villagers": villagers,
        "days": days,
        "rounds": rounds,
        "mafiosos": mafiosos,
        "detectives": detectives,
        "werewolves": werewolves,
        "doctors": doctors,
        "seers": seers,
        "jesters": jesters,
        "debate_turns": debate_turns,
        "defence_turns": defence_turns,
        "assess": assess or None,
        "assess_share": assess_share,
        "show_suspicion": show_suspicion or None,
        "names": None if names is None else tuple(name.strip() for name in names.split(",")),
    }
    options = {name: value for name, value in given.items() if value is not None}
    if message_limit is not None:
        options["message_limit"] = message_limit or None
    players = list(dict.fromkeys(player or [DEFAULT_PLAYER]))
    table = roles_of(playable(game).resolve(options))
    if cells_file is not None:
        if player or background or design:
            raise UsageError("--cells names the players itself; leave --player, --background and --design out")
        design, drawn = "list", read_cells(cells_file, table)
        players = list(dict.fromkeys(spec for cell in drawn for spec in cell))
    else:
        design = design or playable(game).design
        drawn = cells(design, table, players, list(dict.fromkeys(background or [])))
    levels = _levels(learning, design)
    drawn, learns = factorial(drawn, levels)
    plan = make_plan(game, options, players, design, drawn, games, seed, roles, prompts, learns)
    limits = limits_of(concurrency, timeout, max_tokens, max_cost, price, prompts)
    tally, seconds = run_job(Playing(plan, out), out, limits, retry_failed, "playing")
    head = {"run": str(out), "game": plan.game, "plan": plan.hash[:8], "cells": len(plan.cells)}
    summarise(head, tally, seconds, as_json)


def _levels(learning: str, design: str) -> list[bool]:
    """The levels of learning that --learning names."""
    words = [word.strip().casefold() for word in learning.split(",")]
    if not words or not set(words) <= {"off", "on"} or len(set(words)) < len(words):
        raise UsageError(f"--learning takes off, on or off,on; {learning!r} is none of these")
    if words != ["off"] and design not in ("self", "factorial"):
        raise UsageError(f"--learning is for the designs self and factorial; the design here is {design}")
    return [word == "on" for word in words]


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
    from liescope.labeling.label import label_game

    console = Console(highlight=False, soft_wrap=True)
    for line in transcript(record, label_game(record)):
        console.print(line)


def _list_games(journal: Journal, as_json: bool) -> None:
    if as_json:
        rows = [
            {"game_id": g.game_id, "cell": g.cell, "winner": g.outcome and g.outcome.winner, "status": g.status.value}
            for g in journal.records()
        ]
        emit({"run": journal.name, "games": rows})
        return
    print(f"{'game':15}  {'status':6}  {'won by':10}  players, role by role")
    for game in journal.records():
        ending = game.outcome.winner if game.outcome is not None else plain(game.failure)
        runs = [(len(list(same)), name) for name, same in groupby(plain(game.cell).split(" | "))]
        players = " | ".join(f"{count} × {name}" if count > 1 else name for count, name in runs)
        print(f"{game.game_id:15}  {game.status.value:6}  {ending:10}  {players}")
    counts = ", ".join(f"{count} {status}" for status, count in journal.counts().items()) or "no game has ended yet"
    print(f"{counts}; one game in full: liescope show {journal.path} GAME_ID")
