"""The commands of the corpus: build it from runs, publish it to the Hub."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from liescope.common.console import emit, progress
from liescope.data_cards.words import licence
from liescope.generate.corpus import CorpusFacts
from liescope.generate.corpus import build as build_corpus
from liescope.generate.corpus.publish import publish as publish_corpus
from liescope.generate.corpus.schema import SPLITS
from liescope.generate.runs.journal import Journal

app = typer.Typer(no_args_is_help=True)

_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]


@app.command()
def build(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, as `play` and `import` make them.", metavar="RUN…")],
    out: Annotated[Path, typer.Option(help="The corpus folder; a corpus that stands there is replaced.")],
    hold_out_model: Annotated[
        list[str] | None, typer.Option(help="A model whose games all go to the test split; may be repeated.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """Label the games of runs and package them as a dataset that `datasets.load_dataset` opens.

    Example: liescope build runs/first runs/second --out corpus/both --hold-out-model gpt-4.1-mini
    """
    total = 0
    for run in runs:
        with Journal.open(run) as journal:
            total += sum(journal.counts().values())
    with progress() as display:
        task = display.add_task("building", total=total, note="games")
        facts = build_corpus(runs, out, hold_out_model or [], lambda done: display.update(task, completed=done))
    if as_json:
        emit({"corpus": str(out), **facts.to_json()})
    else:
        _tell(facts, out)


@app.command()
def publish(
    corpus: Annotated[Path, typer.Argument(help="A corpus folder, as `build` makes it.")],
    repo: Annotated[str, typer.Option(help="The dataset on the Hub, as USER/NAME.")],
    public: Annotated[bool, typer.Option("--public", help="Let everyone see it; without this it is private.")] = False,
    gated: Annotated[bool, typer.Option("--gated", help="Who wants the data asks you for access.")] = False,
    as_json: _Json = False,
) -> None:
    """Push a corpus to the Hugging Face Hub, private unless asked; the token comes from HF_TOKEN or the saved login.

    Example: liescope publish corpus/both --repo me/my-games --gated
    """
    done = publish_corpus(corpus, repo, public, gated, lambda step: typer.echo(f"{step} …", err=True))
    for notice in done.notices:
        typer.echo(f"note: {notice}", err=True)
    if as_json:
        emit(asdict(done))
    else:
        access = f"{'private' if done.private else 'public'}{', gated' if done.gated else ''}"
        typer.echo(f"{done.files} data files ({done.bytes / 1e6:.1f} MB) and their card are at {done.url} ({access})")


def _tell(facts: CorpusFacts, out: Path) -> None:
    sizes = ", ".join(f"{facts.rows['statements'][split]:,} {split}" for split in SPLITS)
    typer.echo(f"{facts.statements:,} statements of {facts.games:,} games ({sizes})")
    if facts.failed:
        typer.echo(f"{facts.failed:,} games broke off; they are in the config games, without their statements")
    for label in facts.labels:
        share = f"{label.positive / label.labelled:.1%} true" if label.labelled else "nowhere known"
        typer.echo(f"label_{label.target}: {label.labelled:,} labelled, {share}")
    typer.echo(licence(facts.seat_sources)[2])
    for split in SPLITS:
        if not facts.rows["statements"][split]:
            typer.echo(f"note: no statement fell in the {split} split", err=True)
    typer.echo(f"The corpus is in {out}; its card is {out / 'README.md'}")
