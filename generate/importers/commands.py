"""`liescope import`: games that others published, into a run folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from liescope.common.console import emit, progress
from liescope.common.errors import BadData, PlanChanged, UnknownName
from liescope.games.record import GameRecord
from liescope.generate.importers.mini_mafia.log_game import UNKNOWN_MODEL
from liescope.generate.importers.mini_mafia.reader import Rejected, read_mini_mafia
from liescope.generate.importers.summary import ImportSummary
from liescope.generate.runs.changes import check_unchanged
from liescope.generate.runs.folder import PLAN_FILE
from liescope.generate.runs.journal import Journal

FORMATS = ("mini-mafia",)
REJECTED_FILE = "rejected.jsonl"
_SHOWN = 10

app = typer.Typer()


@app.command("import")
def import_(
    format: Annotated[str, typer.Argument(help=f"Whose games: {', '.join(FORMATS)}.")],
    file: Annotated[Path, typer.Argument(help="The log (.jsonl, .jsonl.gz) or the SQLite database.")],
    out: Annotated[Path, typer.Option(help="The run folder for the games.")],
    batches: Annotated[
        Path | None, typer.Option(help="The log's batch configurations, which name each role's model.")
    ] = None,
    paper_names: Annotated[
        bool, typer.Option("--paper-names", help="Name models as the paper does, instead of as the log does.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Import published games as a run that build, fit and show read like one of our own.

    What cannot be read is listed with its line and reason, here and in rejected.jsonl of the run folder.

    Example: liescope import mini-mafia games.jsonl.gz --batches batches.jsonl.gz --out runs/published
    """
    if format not in FORMATS:
        raise UnknownName("format of published games", format, FORMATS)
    began = perf_counter()
    plan = {
        "import": format,
        "file": file.name,
        "sha256": _hash(file),
        "batches_sha256": None if batches is None else _hash(batches),
        "paper_names": paper_names,
    }
    games = _with_a_game(read_mini_mafia(file, batches, paper_names), file)
    with _run_folder(out, plan) as journal:
        tally, rejected, new = _keep(games, journal)
    facts = {
        "run": str(out),
        **tally.facts(),
        "new": new,
        "rejected": len(rejected),
        "seconds": round(perf_counter() - began, 2),
    }
    if batches is None and any(UNKNOWN_MODEL in models for models in facts["models"].values()):
        typer.echo("note: without --batches no model is known; all are called unknown", err=True)
    if as_json:
        emit(facts)
    else:
        _report(facts, rejected)


def _keep(games: Iterator[GameRecord | Rejected], journal: Journal) -> tuple[ImportSummary, list[Rejected], int]:
    """Write the games that are not there yet, and everything that could not be read; returns both, counted."""
    there = set(journal.game_ids())
    tally, rejected, new = ImportSummary(), [], 0
    with progress() as bar, (journal.path / REJECTED_FILE).open("w", encoding="utf-8") as list_of_rejected:
        task = bar.add_task("reading games", total=None, note="")
        for game in games:
            if isinstance(game, Rejected):
                rejected.append(game)
                list_of_rejected.write(json.dumps(asdict(game)) + "\n")
                continue
            tally.add(game)
            if game.game_id not in there:
                journal.add_record(game)
                new += 1
            bar.update(task, advance=1, note=f"{len(rejected)} rejected")
        bar.update(task, total=tally.games)
    return tally, rejected, new


def _with_a_game(games: Iterator[GameRecord | Rejected], file: Path) -> Iterator[GameRecord | Rejected]:
    """The same, once it is known that a game comes. Raises BadData, before anything is written, where none does."""
    read: list[GameRecord | Rejected] = []
    for game in games:
        read.append(game)
        if isinstance(game, GameRecord):
            return chain(read, games)
    first = next((f"line {bad.line} of {bad.file}: {bad.reason}" for bad in read if isinstance(bad, Rejected)), "")
    raise BadData(f"{file} holds no game that can be imported ({first or 'it is empty'}); nothing was written")


def _run_folder(out: Path, plan: dict[str, Any]) -> Journal:
    """The run folder, new or begun by the same import. Raises PlanChanged where it holds anything else."""
    if not (out / PLAN_FILE).exists():
        return Journal.create(out, plan)
    with Journal.open(out) as there:
        if "import" not in there.plan:
            raise PlanChanged(f"{out} holds a run that was played, not an import; choose another --out")
        check_unchanged(there.plan, plan, out)
    return Journal.open(out, write=True)


def _hash(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _report(facts: dict[str, Any], rejected: list[Rejected]) -> None:
    won = ", ".join(f"{winner} won {count}" for winner, count in facts["winners"].items())
    typer.echo(f"{facts['games']} games in {facts['run']} ({facts['new']} new), read in {facts['seconds']} s: {won}")
    filled = facts["filled_in"]
    typer.echo(f"filled in by the authors' engine: {filled['silences']} silences, {filled['votes']} votes, all flagged")
    if facts["games_with_a_person"]:
        typer.echo(f"a person sat at the table in {facts['games_with_a_person']}")
    for role, models in facts["models"].items():
        for model, count in models.items():
            typer.echo(f"  {role:10} {model:45} {count['games']:6} games, mafia won {count['mafia_wins']}")
    if rejected:
        typer.echo(f"{len(rejected)} could not be read; all are listed in {facts['run']}/{REJECTED_FILE}:")
        for bad in rejected[:_SHOWN]:
            typer.echo(f"  {bad.file}, line {bad.line}{f' ({bad.game_id})' if bad.game_id else ''}: {bad.reason}")
