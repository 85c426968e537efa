"""The command `publish`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liescope.common.console import emit
from liescope.common.text import plain
from liescope.generate.corpus.publish import Published

app = typer.Typer()


@app.command()
def publish(
    folder: Annotated[Path, typer.Argument(help="A corpus that `build` made, or a model that `train` made.")],
    repo: Annotated[str, typer.Option(help="The dataset or model on the Hub, as USER/NAME.")],
    report: Annotated[
        list[Path] | None,
        typer.Option(help="A report of `evaluate` or `transfer` for a model's card; may be repeated."),
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="Make it public; by default it is private.")] = False,
    gated: Annotated[bool, typer.Option("--gated", help="Require access requests for it.")] = False,
    permission: Annotated[
        str,
        typer.Option(help="Who permits it, where a corpus's words may not be redistributed without.", metavar="WHO"),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the files and the card; send nothing, and need no token.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Push a corpus or a model to the Hugging Face Hub, private unless asked; the token comes from HF_TOKEN or the
    saved login.

    Example: liescope publish corpus/both --repo me/my-games --gated
    """
    from liescope.publishing import publish as publish_folder

    done = publish_folder(
        folder,
        repo,
        reports=report or (),
        public=public,
        gated=gated,
        permission=permission,
        dry_run=dry_run,
        progress=True,
    )
    for notice in done.notices:
        typer.echo(f"note: {notice}", err=True)
    if as_json:
        emit(done.to_json())
        return
    if dry_run:
        _print_parcel(done)
    access = f"{'private' if done.private else 'public'}{', gated' if done.gated else ''}"
    size = f"{len(done.files)} files ({done.bytes / 1e6:.1f} MB)"
    typer.echo(f"{size}, card included, {'would be' if dry_run else 'are'} at {done.url} ({access})")


def _print_parcel(done: Published) -> None:
    for file in done.files:
        typer.echo(f"{file.bytes:>13,}  {plain(file.path)}")
    typer.echo(f"\n{plain(done.card)}")
