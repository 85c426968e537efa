"""`liescope export`: games in the formats of other tools."""

from __future__ import annotations

from typing import Annotated

import typer

from liescope.common.command_options import AsJson, Given, each_with_a_line, with_settings
from liescope.common.console import emit
from liescope.common.settings import declare
from liescope.common.text import plain, sentence
from liescope.data_cards.licences import may_not_be_shared
from liescope.generate.exports.exporting import EXPORTERS
from liescope.generate.exports.exporting import export as export_games

app = typer.Typer()


@app.command()
@with_settings(declare({name: exporter.Options for name, exporter in EXPORTERS.items()}))
def export(
    source: Annotated[
        str, typer.Argument(help="A run, a corpus folder, or a corpus on the Hub.", metavar="runs/NAME|corpus/NAME")
    ],
    to: Annotated[
        str,
        typer.Option(
            help=each_with_a_line("The format:", {name: sentence(each.writes) for name, each in EXPORTERS.items()}),
            autocompletion=lambda: list(EXPORTERS),
            metavar="FORMAT",
        ),
    ],
    out: Annotated[str, typer.Option(help="The folder for the export.", metavar="exports/NAME")],
    as_json: AsJson = False,
    *,
    given: Given,
) -> None:
    """Export games in a format of other tools.

    A README beside them says what it is and whose words it holds.

    Example: liescope export runs/first --to inspect --out exports/first
    """
    result = export_games(source, to=to, out=out, progress=not as_json, **given)
    for bound in may_not_be_shared(result.licences):
        typer.echo(f"note: holds words that may not be passed on: {plain(bound)}", err=True)
    if as_json:
        emit(result.to_json())
        return
    for name, rows in result.rows.items():
        typer.echo(plain(f"{rows:>10,}  {name}"))
    if result.left_out:
        typer.echo("left out:")
    for reason, count in result.left_out.items():
        typer.echo(plain(f"{count:>10,}  {reason}"))
    typer.echo(f"{result.games:,} games as {to} are in {plain(str(result.folder))}, with a README")
