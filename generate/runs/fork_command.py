"""The command that plays a recorded game on from one of its moments: fork."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from liescope.common.declared_options import with_declared
from liescope.generate.runs.config import ConfigOption
from liescope.generate.runs.fork import fork as fork_game
from liescope.generate.runs.options import LIMIT_OPTIONS, AsJson
from liescope.generate.runs.result import summarise

app = typer.Typer()


@app.command()
@with_declared(LIMIT_OPTIONS)
def fork(
    run: Annotated[Path, typer.Argument(help="A run's folder; it is only read.", metavar="runs/NAME")],
    game: Annotated[str, typer.Argument(help="The game: its number, its id or the beginning of it.")],
    step: Annotated[int, typer.Argument(help="The step to answer anew; show RUN GAME --calls counts them.", min=0)],
    out: Annotated[
        Path | None,
        typer.Option(help="The folder of the continuations. \\[default: RUN-fork-GAME-STEP]", show_default=False),
    ] = None,
    config: ConfigOption = None,  # noqa: ARG001
    players: Annotated[
        list[str] | None,
        typer.Option("--player", help="Who plays the seat; may be repeated. \\[default: who played it]"),
    ] = None,
    seat: Annotated[str, typer.Option(help="Who is played anew. \\[default: who is asked]", show_default=False)] = "",
    say: Annotated[
        list[str] | None, typer.Option(help="What the seat says at that moment; may be repeated, a group for each.")
    ] = None,
    others: Annotated[
        str, typer.Option(help="Who plays the other seats. \\[default: who played them]", show_default=False)
    ] = "",
    times: Annotated[int, typer.Option(help="Continuations in each group.", min=1)] = 20,
    seed: Annotated[int, typer.Option(help="Seed of what the rules draw from the moment on.")] = 0,
    prompts: Annotated[
        str, typer.Option(help="A set of prompts, or a folder. \\[default: those of the run]", show_default=False)
    ] = "",
    as_json: AsJson = False,
    *,
    given: Mapping[str, Any],
) -> None:
    """Play a recorded game on from one moment, many times: same state, other words or another player.

    What was said and done before is replayed at no cost. There is a group of continuations for each --player and each
    --say; how often the seat's side wins and how often it is voted for is compared between them, in pairs that share
    their random draws. Stop at any time; the same command resumes.

    Example: liescope fork runs/first 0 4 --say "I saw Bob at night." --say "I slept and know nothing." --times 20
    """
    result = fork_game(
        run,
        game,
        step,
        out=out,
        players=players or (),
        seat=seat,
        say=say or (),
        others=others,
        times=times,
        seed=seed,
        prompts=prompts,
        progress=True,
        **given,
    )
    if not as_json:
        for line in result.lines():
            typer.echo(line)
    summarise(result, as_json)
