"""The commands `demo` and `publish`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liescope.common.command_options import AsJson, Given, with_settings
from liescope.common.console import emit
from liescope.common.text import plain
from liescope.generate.corpus.publish import Published
from liescope.publishing import PublishSettings
from liescope.publishing import publish as publish_folder

app = typer.Typer()


@app.command()
@with_settings(PublishSettings)
def publish(
    *,
    folder: Annotated[Path, typer.Argument(help="A corpus, a model, or a report.")],
    repo: Annotated[str, typer.Option(help="The dataset, model or Space on the Hub, as USER/NAME.")],
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Push a corpus, a model or a report to the Hugging Face Hub.

    A report becomes a static Space. All is private unless asked; the token comes from HF_TOKEN or the saved login.

    Example: liescope publish corpus/both --repo me/my-games --gated
    """
    done = publish_folder(folder, repo, progress=True, **given)
    for notice in done.notices:
        typer.echo(f"note: {notice}", err=True)
    if as_json:
        emit(done.to_json())
        return
    dry_run = given["dry_run"]
    if dry_run:
        _print_parcel(done)
    access = f"{'private' if done.private else 'public'}{', gated' if done.gated else ''}"
    size = f"{len(done.files)} files ({done.bytes / 1e6:.1f} MB)"
    typer.echo(f"{size}, card included, {'would be' if dry_run else 'are'} at {done.url} ({access})")


def _print_parcel(done: Published) -> None:
    for file in done.files:
        typer.echo(f"{file.bytes:>13,}  {plain(file.path)}")
    typer.echo(f"\n{plain(done.card)}")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="The folder for everything that the demo makes.")] = Path("demo"),
    games: Annotated[int, typer.Option(help="Games in each cell of the tournament.", min=1)] = 25,
    seed: Annotated[int, typer.Option(help="Seed of the run.")] = 1,
) -> None:
    """The whole pipeline, small and offline, from games to a fit.

    Plays, builds, trains, evaluates and fits, and ends with a list of the files it made.

    Example: liescope demo --out demo
    """
    from liescope.demo import demo as run

    run(out, games, seed)
