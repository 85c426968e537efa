"""`liescope play --preview 3`: the first games of a run, shown before the rest is played."""

from __future__ import annotations

import sys
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from liescope.common.pages import hang
from liescope.common.text import plain
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.result import RunResult
from liescope.generate.runs.transcript import transcript


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
    tally = result.tally
    left = tally.planned - tally.done - tally.failed
    asked = left and sys.stdin.isatty() and sys.stdout.isatty()
    if asked and typer.confirm(f"Play the other {left:,} games?"):
        return True
    rest = "; the same command without --preview plays the rest" if left else ""
    typer.echo(f"The run is in {plain(str(result.folder))}{rest}.")
    return False
