"""The command that shows a run: its games, one game as a transcript, or the prompt of one call."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from liescope.common.console import emit
from liescope.common.errors import UsageError
from liescope.common.pages import print_pages
from liescope.games.record import record_to_json
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.rebuild import prompt_of_call
from liescope.generate.runs.transcript import list_calls, list_games, transcript

app = typer.Typer()


@app.command()
def show(
    run: Annotated[Path, typer.Argument(help="A run's folder.", metavar="runs/NAME")],
    game: Annotated[
        str | None,
        typer.Argument(help="A game: its id, the beginning of it, or its number. Without it, all games are listed."),
    ] = None,
    calls: Annotated[bool, typer.Option("--calls", help="List the game's calls, with step and seat.")] = False,
    prompt: Annotated[
        tuple[int, str] | None,
        typer.Option(help="Show the prompt of one call of the game.", metavar="STEP SEAT"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, nothing left out.")] = False,
) -> None:
    """List the games of a run, or show one of them: roles, statements with labels, votes, outcome.

    Example: liescope show runs/first; then: liescope show runs/first GAME_ID --calls
    """
    if game is None and (calls or prompt):
        raise UsageError("--calls and --prompt show one game; name it: liescope show RUN GAME --calls")
    if calls and prompt:
        raise UsageError("--calls lists the calls and --prompt shows one of them; give one of the two")
    with Journal.open(run) as journal:
        if game is None:
            listing = list_games(journal)
            emit(listing.to_json()) if as_json else print_pages(listing.lines())
            return
        game_id = journal.find(game)
        if prompt is not None:
            shown = prompt_of_call(journal, game_id, *prompt)
            emit(shown.to_json()) if as_json else print_pages(shown.lines())
            return
        if calls:
            made = list_calls(journal, game_id)
            emit(made.to_json()) if as_json else print_pages(made.lines())
            return
        record = journal.record(game_id)
    if as_json:
        emit(record_to_json(record))
        return
    from liescope.labeling.label import label_game

    print_pages(transcript(record, label_game(record), brackets=not Console().is_terminal))
