"""The commands of the corpus: build it from runs, publish it to the Hub."""

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
from liescope.generate.corpus.publish import publish as publish_corpus

app = typer.Typer(no_args_is_help=True)

_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]


@app.command()
def build(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders made by `play`, `label` or `import`.", metavar="RUN…")
    ],
    out: Annotated[Path, typer.Option(help="The corpus folder; an existing corpus is replaced.")],
    hold_out_model: Annotated[
        list[str] | None, typer.Option(help="A model whose games all go to the test split; may be repeated.")
    ] = None,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="Include in each row what was said before the statement.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Label the games of runs and package them as a dataset that `datasets.load_dataset` opens.

    Example: liescope build runs/first runs/second --out corpus/both --hold-out-model gpt-4.1-mini
    """
    result = build_corpus(runs, out=out, hold_out=hold_out_model or (), transcript=transcript, progress=True)
    if as_json:
        emit(result.to_json())
    else:
        _print_summary(result)


@app.command()
def publish(
    corpus: Annotated[Path, typer.Argument(help="A corpus folder made by `build`.")],
    repo: Annotated[str, typer.Option(help="The dataset on the Hub, as USER/NAME.")],
    public: Annotated[bool, typer.Option("--public", help="Make it public; by default it is private.")] = False,
    gated: Annotated[bool, typer.Option("--gated", help="Require access requests for the data.")] = False,
    permission: Annotated[
        str,
        typer.Option(help="Who permits it, where the words may not be redistributed without.", metavar="WHO"),
    ] = "",
    as_json: _Json = False,
) -> None:
    """Push a corpus to the Hugging Face Hub, private unless asked; the token comes from HF_TOKEN or the saved login.

    Example: liescope publish corpus/both --repo me/my-games --gated
    """
    done = publish_corpus(corpus, repo, public=public, gated=gated, permission=permission, progress=True)
    for notice in done.notices:
        typer.echo(f"note: {notice}", err=True)
    if as_json:
        emit(done.to_json())
    else:
        access = f"{'private' if done.private else 'public'}{', gated' if done.gated else ''}"
        typer.echo(f"{done.files} data files ({done.bytes / 1e6:.1f} MB) and their card are at {done.url} ({access})")


def _print_summary(result: CorpusResult) -> None:
    facts, out = result.facts, result.folder
    sizes = ", ".join(f"{facts.rows['statements'][split]:,} {split}" for split in SPLITS)
    typer.echo(f"{facts.statements:,} statements of {facts.games:,} games ({sizes})")
    if facts.failed:
        typer.echo(f"{facts.failed:,} games failed; they are in the config games, without their statements")
    if result.unplayed:
        typer.echo(f"note: {result.unplayed:,} games of these runs are not played yet", err=True)
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
