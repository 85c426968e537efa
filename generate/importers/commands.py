"""`liescope import`: texts, chats and published games into a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer

from liescope.common.command_options import AsJson, Given, each_with_a_line, with_settings
from liescope.common.console import emit
from liescope.common.errors import UsageError
from liescope.common.settings import declare
from liescope.common.text import brief, cut, holding, number_of, plain, record_unit, sentence, unit_of
from liescope.generate.importers.importing import IMPORTERS, REJECTED_FILE, ImportResult, import_games
from liescope.generate.importers.paper_prompts import import_prompts

_SHOWN_NOTES = 8
_WIDTH = 80
_ROLE = 10
_MODEL = 32

app = typer.Typer()


def _no_file(format: str) -> str:
    """The format; raises UsageError for a file in its place."""
    if format not in IMPORTERS and (Path(format).exists() or Path(format).suffix):
        raise UsageError(f"{format} is no format: name it before the file, as in `liescope import text {format}`")
    return format


@app.command("import")
@with_settings(declare({name: importer.Options for name, importer in IMPORTERS.items()}))
def import_(
    format: Annotated[
        str,
        typer.Argument(
            help=each_with_a_line(
                "What kind of data, or whose games:", {name: sentence(each.reads) for name, each in IMPORTERS.items()}
            ),
            autocompletion=lambda: list(IMPORTERS),
            callback=_no_file,
        ),
    ],
    sources: Annotated[list[str], typer.Argument(help="The files or datasets to import.")],
    out: Annotated[Path, typer.Option(help="The run folder for the games.", metavar="runs/NAME")],
    allow_rejected: Annotated[
        bool, typer.Option("--allow-rejected", help="Exit 0 also if a game or row could not be read and is lost.")
    ] = False,
    as_json: AsJson = False,
    *,
    given: Given,
) -> None:
    """Import your own texts and chats, or published games, as a run.

    Build, fit and show take it like any other. What cannot be read is listed with its line and reason, here and in
    rejected.jsonl of the run folder. The rest is kept, and the exit status is 1, unless --allow-rejected says that this
    is all right.

    Example: liescope import text messages.csv --label is_lie --out runs/messages
    """
    result = import_games(format, *sources, out=out, progress=not as_json, **given)
    if unit_of([result.format]) == "game" and any(model == "unknown" for _, model, _ in result.summary.played):
        hint = "; the log's --batches name them" if "batches" in IMPORTERS[format].Options.model_fields else ""
        typer.echo(f"note: some models are not known{hint}", err=True)
    if as_json:
        emit(result.to_json())
    else:
        _report(result)
    if result.receipt.missing:
        lost = f"{result.receipt.missing:,} of {result.receipt.rows:,} rows"
        typer.echo(f"error: {lost} are neither kept nor left out for a reason", err=True)
        raise typer.Exit(1)
    if result.rejections and not allow_rejected:
        kept = "the rest is imported and can be used; --allow-rejected makes this no error"
        typer.echo(f"error: not everything could be imported (see above); {kept}", err=True)
        raise typer.Exit(1)


@app.command("import prompts")
def prompts(
    file: Annotated[Path, typer.Argument(help="The batches: JSON Lines, which may be gzipped.")],
    out: Annotated[Path, typer.Option(help="The folder for the prompts.", metavar="FOLDER")],
) -> None:
    """Make a folder for --prompts from batches of the Mini-Mafia paper.

    Their texts stay word for word; a seat's memory is told in Liescope's words.

    Example: liescope import prompts batches.jsonl.gz --out prompts/paper
    """
    own = import_prompts(file, out)
    typer.echo(f"{plain(str(out))}: use it with --prompts; Liescope's own, as the batches have none: {', '.join(own)}")


def _report(result: ImportResult) -> None:
    facts, unit = result.to_json(), unit_of([result.format])
    receipt, options = result.receipt, IMPORTERS[result.format].Options.model_fields
    what = number_of(result.games, unit) if unit == "game" else holding([result.format], result.games, receipt.texts)
    typer.echo(f"{what} in {result.run} ({result.new} new), read in {facts['seconds']} s")
    if unit == "game":
        _list_players(facts)
    typer.echo(str(receipt))
    if receipt.lacks in options:
        typer.echo(f"--{receipt.lacks} names the values that mean {receipt.lacks}")
    for column, cells in facts["left_out"].items():
        unread = f"{cells} cells of {brief(column, _MODEL)} could not be read and are left out; their rows are kept"
        typer.echo(fill(plain(unread), _WIDTH))
    _list_notes(result, record_unit([result.format], result.games, receipt.texts))
    if result.rejections:
        typer.echo(f"{result.rejections:,} could not be imported; all are listed in {result.run / REJECTED_FILE}:")
        for bad in result.first_rejected:
            place = f"{bad.file}, line {bad.line}" if bad.line else bad.file
            which = f" ({brief(bad.game_id, _MODEL)})" if bad.game_id else ""
            words = plain(brief(f"{place}{which}: {bad.reason}", 2 * _WIDTH))
            typer.echo(fill(words, _WIDTH, initial_indent="  ", subsequent_indent="    "))


def _list_players(facts: Mapping[str, Any]) -> None:
    won = ", ".join(f"{plain(winner)} won {count}" for winner, count in facts["winners"].items())
    typer.echo(won or "no game has a known end")
    if facts["failed"]:
        typer.echo(f"{facts['failed']} games end without a winner")
    filled = facts["filled_in"]
    if any(filled.values()):
        typer.echo(
            f"filled in by the publishers' engine: {filled['silences']} silences, {filled['votes']} votes, flagged"
        )
    if facts["games_with_a_person"]:
        typer.echo(f"a person sat at the table in {facts['games_with_a_person']}")
    typer.echo(f"  {'role':{_ROLE}} {'model':{_MODEL}} {'games':>6}  won by")
    for role, models in facts["models"].items():
        for model, count in models.items():
            wins = ", ".join(f"{winner} {games}" for winner, games in count["winners"].items())
            names = f"{brief(role or '–', _ROLE):{_ROLE}} {brief(model, _MODEL):{_MODEL}}"
            typer.echo(plain(cut(f"  {names} {count['games']:6}  {wins}", _WIDTH)))


def _list_notes(result: ImportResult, unit: str) -> None:
    notes = result.summary.notes
    if not notes:
        return
    typer.echo(f"notes, and how many {unit}s each is about (they are kept with these):")
    for note, games in notes.most_common(_SHOWN_NOTES):
        words = plain(brief(note, 3 * _WIDTH))
        typer.echo(fill(words, _WIDTH, initial_indent=f"  {games:6}  ", subsequent_indent=" " * 10))
