"""The commands that look at a run, or take words out of it: show, status, withdraw. They load no player."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from liescope.common.console import emit, print_pages
from liescope.common.errors import UsageError
from liescope.games.record import record_to_json
from liescope.generate.runs.game_text import list_calls, list_games, transcript
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import prompt_of_call
from liescope.generate.runs.run_progress import WIDTH, RunStatus, cut
from liescope.generate.runs.run_progress import status as status_of
from liescope.generate.runs.withdraw import withdraw as withdraw_words

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
    """List the games of a run, or show one of them.

    A game is shown with its roles, statements with their labels, votes and outcome.

    Example: liescope show runs/first; then: liescope show runs/first GAME_ID --calls
    """
    if game is None and (calls or prompt):
        raise UsageError("--calls and --prompt show one game; name it: liescope show RUN GAME --calls")
    if calls and prompt:
        raise UsageError("--calls lists the calls and --prompt shows one of them; give one of the two")
    with Journal.open(run) as journal:
        if game is None:
            listing = list_games(journal)
            emit(listing.data) if as_json else print_pages(listing.lines)
            return
        game_id = journal.find(game)
        if prompt is not None:
            shown = prompt_of_call(journal, game_id, *prompt)
            emit(shown.to_json()) if as_json else print_pages(shown.lines())
            return
        if calls:
            made = list_calls(journal, game_id)
            emit(made.data) if as_json else print_pages(made.lines)
            return
        record = journal.record(game_id)
    if as_json:
        emit(record_to_json(record))
        return
    from liescope.labeling.label import label_game

    print_pages(transcript(record, label_game(record), brackets=not Console().is_terminal))


_AGAIN = 2.0  # seconds


@app.command()
def status(
    run: Annotated[Path, typer.Argument(help="A run's folder.", metavar="runs/NAME")],
    watch: Annotated[bool, typer.Option("--watch", help="Show it again every two seconds until the run ends.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what a run is doing: games, hosts, tokens, cost, time left.

    Works while it goes on elsewhere.

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


@app.command()
def withdraw(
    run: Annotated[Path, typer.Argument(help="A run's folder, changed for good.", metavar="runs/NAME")],
    pseudonym: Annotated[str, typer.Argument(help="Whose words go, by the name that show has for them.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Take the words of a person out of a run, for good.

    Their text goes, and every request that may have held it. Roles, votes and what others said stay. Judged games and
    recordings made of the run are runs of their own: withdraw from each. Corpora and models built before are not
    changed.

    Example: liescope withdraw tables/table-1 "Blue Otter"
    """
    done = withdraw_words(run, pseudonym)
    if as_json:
        emit(done.to_json())
        return
    typer.echo(f"statements that are gone: {done.statements}, of {done.games} games; who wrote them is now {done.name}")
    if done.dropped:
        typer.echo(f"{done.dropped} games under way could not go on without, and are gone")
