"""The commands whose pages open in a browser: `view` and `serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liescope.common.command_options import Given, with_settings
from liescope.common.text import plain
from liescope.web.web_settings import ServeSettings, ViewSettings

app = typer.Typer()


@app.command()
@with_settings(ViewSettings)
def view(
    *,
    path: Annotated[str, typer.Argument(help="A run, a corpus, or USER/NAME on the Hub.")],
    games: Annotated[
        list[str] | None, typer.Argument(help="Only these games: an id, its beginning, or a number.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Only write the file, there, without prompts and replies.")] = None,
    given: Given,
) -> None:
    """Look at games in a browser.

    Those of a run or a corpus are written to one HTML file, which needs no server and no net.

    Example: liescope view runs/first
    """
    from liescope.web.view.game_file import view as run

    written = run(path, *(games or ()), out=out, **given)
    for notice in written.notices:
        typer.echo(f"note: {notice}", err=True)
    typer.echo(f"{plain(str(written.path))}: {written.contents}")


@app.command()
@with_settings(ServeSettings)
def serve(
    *,
    out: Annotated[Path, typer.Option(help="The folder for the games and their runs.")],
    given: Given,
) -> None:
    """Let people play in a browser, with each other and with models.

    Their games become runs like any other.

    Example: liescope serve --out runs/people --game mini-mafia --people 1
    """
    from liescope.web.play.serving import serve as run

    run(out, told=_told, **given)


def _told(line: str) -> None:
    print(plain(line), flush=True)
