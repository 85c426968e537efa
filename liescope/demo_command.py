"""The command `demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="The folder for everything that the demo makes.")] = Path("demo"),
    games: Annotated[int, typer.Option(help="Games in each cell of the tournament.", min=1)] = 25,
    seed: Annotated[int, typer.Option(help="Seed of the run.")] = 1,
) -> None:
    """The whole pipeline, small and offline: play, build, train, evaluate, fit. Ends with a list of the files it made.

    Example: liescope demo --out demo
    """
    from liescope.demo import demo as run

    run(out, games, seed)
