"""The commands that make data: show here; play, label, import, build and publish in rooms of their own."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from liescope.common.console import emit
from liescope.common.text import plain
from liescope.games.record import record_to_json
from liescope.generate.corpus.commands import app as corpus_commands
from liescope.generate.importers.commands import app as import_commands
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.label_command import app as label_commands
from liescope.generate.runs.play_command import app as play_commands
from liescope.generate.runs.transcript import transcript

app = typer.Typer()
for commands in (play_commands, label_commands, import_commands, corpus_commands):
    app.add_typer(commands)


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
