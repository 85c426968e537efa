"""The command `build`: a corpus from runs."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from liescope.common.command_options import AsJson, Given, say, with_settings
from liescope.common.text import holding, number_of, plain, record_unit, unit_of
from liescope.data_cards.tables import SPLITS
from liescope.generate.corpus.build import BuildSettings, CorpusResult
from liescope.generate.corpus.build import build as build_corpus

app = typer.Typer(no_args_is_help=True)


@app.command()
@with_settings(BuildSettings)
def build(
    *,
    runs: Annotated[list[str], typer.Argument(help="Run folders made by `play`, `label` or `import`.", metavar="RUN…")],
    out: Annotated[Path, typer.Option(help="The corpus folder.")],
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Label the games of runs and package them as a dataset.

    `datasets.load_dataset` opens it.

    Example: liescope build runs/first runs/second --out corpus/both --hold-out-model gpt-4.1-mini
    """
    say(build_corpus(runs, out=out, progress=True, **given), as_json, _print_summary)


def _print_summary(result: CorpusResult) -> None:
    facts, out = result.facts, result.folder
    sizes = ", ".join(f"{facts.rows['statements'][split]:,} {split}" for split in SPLITS)
    typer.echo(f"{holding(facts.kinds, facts.games, facts.statements)} ({sizes})")
    if facts.failed:
        typer.echo(f"{facts.failed:,} games failed; they are in the config games, without their statements")
    if result.unplayed:
        typer.echo(f"note: {result.unplayed:,} games of these runs are not played yet", err=True)
    for words in result.notes:
        typer.echo(f"note: {plain(words)}", err=True)
    for label in facts.labels:
        if not label.labelled and (label.target == "gold" or unit_of(facts.kinds) != "game"):
            continue
        share = f"{label.positive / label.labelled:.1%} true" if label.labelled else "never known"
        typer.echo(f"label_{label.target}: {label.labelled:,} labelled, {share}")
    if not any(label.labelled for label in facts.labels):
        typer.echo(
            "note: nothing here has a label, so that nothing can be learned from it or evaluated on it", err=True
        )
    unit = record_unit(facts.kinds, facts.games, facts.statements)
    for one in facts.licences:
        typer.echo(fill(plain(f"{one.name}, {number_of(one.games, unit)}: {one.terms.licence}"), 80))
    if not all(one.terms.redistributable for one in facts.licences):
        typer.echo("note: not all of these words may be redistributed: publish asks for --permission", err=True)
    for split in SPLITS:
        if not facts.rows["statements"][split]:
            typer.echo(f"note: no statement fell in the {split} split", err=True)
    typer.echo(f"The corpus is in {out}; its card is {out / 'README.md'}")
