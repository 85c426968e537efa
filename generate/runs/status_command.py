"""The command that says what a run is doing: status."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from liescope.common.console import emit
from liescope.generate.runs.live import WIDTH, RunStatus, cut
from liescope.generate.runs.live import status as status_of

app = typer.Typer()
_AGAIN = 2.0  # seconds


@app.command()
def status(
    run: Annotated[Path, typer.Argument(help="A run's folder.", metavar="runs/NAME")],
    watch: Annotated[bool, typer.Option("--watch", help="Show it again every two seconds until the run ends.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """What a run is doing: games, hosts, tokens, cost, waits, time left. Works while it goes on elsewhere.

    Example: liescope status runs/first
    """
    found = status_of(run)
    if as_json:
        emit(found.to_json())
        return
    if not watch:
        typer.echo(_text(found).plain)
        return
    with Live(_text(found), console=Console(), auto_refresh=False) as shown:
        while found.running:
            time.sleep(_AGAIN)
            found = status_of(run)
            shown.update(_text(found), refresh=True)


def _text(found: RunStatus) -> Text:
    return Text("\n".join(cut(line, WIDTH) for line in found.lines()), no_wrap=True, overflow="ellipsis")
