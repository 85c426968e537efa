"""The command `build`: a corpus from runs."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from liescope.common.console import emit
from liescope.common.text import plain
from liescope.data_cards.tables import SPLITS
from liescope.generate.corpus.build import CorpusResult
from liescope.generate.corpus.build import build as build_corpus

app = typer.Typer(no_args_is_help=True)

_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]


@app.command()
def build(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders made by `play`, `label` or `import`.", metavar="RUN…")
    ],
    out: Annotated[Path, typer.Option(help="The corpus folder.")],
    hold_out_model: Annotated[
        list[str] | None, typer.Option(help="A model whose games all go to the test split; may be repeated.")
    ] = None,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Include in each row what was said before the statement.")
    ] = False,
    workers: Annotated[int, typer.Option(help="Processes that label games.", min=1)] = 1,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a corpus of other runs or options at --out.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Label the games of runs and package them as a dataset that `datasets.load_dataset` opens.

    Example: liescope build runs/first runs/second --out corpus/both --hold-out-model gpt-4.1-mini
    """
    result = build_corpus(
        runs,
        out=out,
        hold_out=hold_out_model or (),
        transcript=transcript,
        workers=workers,
        overwrite=overwrite,
        progress=True,
    )
    if as_json:
        emit(result.to_json())
    else:
        _print_summary(result)


def _print_summary(result: CorpusResult) -> None:
    facts, out = result.facts, result.folder
    sizes = ", ".join(f"{facts.rows['statements'][split]:,} {split}" for split in SPLITS)
    typer.echo(f"{facts.statements:,} statements of {facts.games:,} games ({sizes})")
    if facts.failed:
        typer.echo(f"{facts.failed:,} games failed; they are in the config games, without their statements")
    if result.unplayed:
        typer.echo(f"note: {result.unplayed:,} games of these runs are not played yet", err=True)
    for words in result.notes:
        typer.echo(f"note: {plain(words)}", err=True)
    for label in facts.labels:
        share = f"{label.positive / label.labelled:.1%} true" if label.labelled else "never known"
        typer.echo(f"label_{label.target}: {label.labelled:,} labelled, {share}")
    for one in facts.licences:
        typer.echo(fill(plain(f"{one.name}, {one.games:,} games: {one.terms.licence}"), 80))
    if not all(one.terms.redistributable for one in facts.licences):
        typer.echo("note: not all of these words may be redistributed: publish asks for --permission", err=True)
    for split in SPLITS:
        if not facts.rows["statements"][split]:
            typer.echo(f"note: no statement fell in the {split} split", err=True)
    typer.echo(f"The corpus is in {out}; its card is {out / 'README.md'}")
