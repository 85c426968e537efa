"""The command that takes a person's words out of a run: withdraw."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liescope.common.console import emit
from liescope.generate.runs.withdraw import withdraw as withdraw_words

app = typer.Typer()


@app.command()
def withdraw(
    run: Annotated[Path, typer.Argument(help="A run's folder, changed for good.", metavar="runs/NAME")],
    pseudonym: Annotated[str, typer.Argument(help="Whose words go, by the name that show has for them.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Take the words of a person out of a run, for good: their text, and every request that may have held it.

    Roles, votes and what others said stay. Judged games and recordings made of the run are runs of their own: withdraw
    from each. Corpora and models built before are not changed.

    Example: liescope withdraw tables/table-1 "Blue Otter"
    """
    done = withdraw_words(run, pseudonym)
    if as_json:
        emit(done.to_json())
        return
    typer.echo(f"statements that are gone: {done.statements}, of {done.games} games; who wrote them is now {done.name}")
    typer.echo("if you have looked at it with liescope view, delete ~/.cache/liescope/view, too")
    if done.dropped:
        typer.echo(f"{done.dropped} games under way could not go on without, and are gone")
