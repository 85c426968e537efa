"""The command that plays games: play."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from liescope.common.declared_options import with_declared
from liescope.games.registry import GAMES, table_options
from liescope.generate.runs.config import ConfigOption
from liescope.generate.runs.forecast.forecasting import forecast
from liescope.generate.runs.forecast.result import of_forecast, say_forecast
from liescope.generate.runs.options import LIMIT_OPTIONS, AsJson, DryRun, PromptsOption, ShowPrompts
from liescope.generate.runs.planning import DEFAULT_PLAYER
from liescope.generate.runs.play import play as play_games
from liescope.generate.runs.result import goes_on, show_first, summarise

app = typer.Typer()


@app.command()
@with_declared([*table_options(), *LIMIT_OPTIONS])
def play(
    game: Annotated[str, typer.Argument(help=f"The game: {', '.join(GAMES)}.", autocompletion=lambda: list(GAMES))],
    out: Annotated[Path, typer.Option(help="Folder of the run; an existing run resumes.", metavar="runs/NAME")],
    config: ConfigOption = None,  # noqa: ARG001
    players: Annotated[
        list[str] | None,
        typer.Option(
            "--player",
            help="A player; may be repeated: scripted:bold, openai:MODEL\\[@URL], local:MODEL, replay:RUN. "
            f"\\[default: {DEFAULT_PLAYER}]",
        ),
    ] = None,
    games: Annotated[int, typer.Option(help="Games in each cell.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
    design: Annotated[
        str | None,
        typer.Option(
            help="background: one role by a player, the others by a background; full: every combination; self: each "
            "player alone; factorial: self, with learning off and on. \\[default: the game's own]",
        ),
    ] = None,
    background: Annotated[
        list[str] | None, typer.Option(help="A background player; may be repeated. \\[default: every player]")
    ] = None,
    cells: Annotated[
        Path | None,
        typer.Option(
            help="A CSV of cells instead of a design: one column for each role, and games if their numbers differ; "
            "--player NAME=PLAYER says who plays a name in it.",
        ),
    ] = None,
    seats: Annotated[
        list[str] | None,
        typer.Option("--seat", help="ROLE=PLAYER, instead of a design: one table; may be repeated, for other roles."),
    ] = None,
    learning: Annotated[
        str | None,
        typer.Option(help="Whether the jester learns from game to game: off, on or off,on. \\[default: off]"),
    ] = None,
    prompts: PromptsOption = "full",
    roles: Annotated[
        str, typer.Option(help="balanced over names and places, shuffled in each game, or fixed.")
    ] = "balanced",
    preview: Annotated[
        int | None, typer.Option(help="Play only this many games, show them, and ask whether to go on.", min=1)
    ] = None,
    dry_run: DryRun = False,
    show_prompts: ShowPrompts = False,
    as_json: AsJson = False,
    *,
    given: Mapping[str, Any],
) -> None:
    """Play games. Stop at any time; the same command resumes.

    Example: liescope play mini-mafia --player scripted:bold --player scripted:novice --games 20 --out runs/first
    """
    chosen: dict[str, Any] = {
        "out": out,
        "players": players or (),
        "games": games,
        "seed": seed,
        "design": design,
        "background": background or (),
        "cells": cells,
        "seats": seats or (),
        "learning": learning,
        "prompts": prompts,
        "roles": roles,
    }
    if dry_run:
        say_forecast(forecast(game, **chosen, **of_forecast(given)), show_prompts, as_json)
        return
    if preview is not None:
        result = play_games(game, **chosen, preview=preview, progress=True, **given)
        if as_json or result.tally.stop is not None:
            summarise(result, as_json)
            return
        show_first(result.folder, preview)
        say_forecast(forecast(game, **chosen, **of_forecast(given)), prompts=False, as_json=False)
        if not goes_on(result):
            return
    result = play_games(game, **chosen, progress=True, **given)
    summarise(result, as_json)
