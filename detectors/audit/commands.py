"""The command `audit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liescope.common.console import emit

app = typer.Typer()


@app.command()
def audit(
    corpus: Annotated[str, typer.Argument(help="A corpus that `liescope build` made, USER/NAME on the Hub, or a run.")],
    target: Annotated[str, typer.Option(help="The label: role, claim, self, peer or promise.")] = "role",
    split: Annotated[
        str,
        typer.Option(help="out-of-fold (folds by game over the whole corpus), train-test (its own split), or both."),
    ] = "both",
    shuffles: Annotated[int, typer.Option(help="How often to shuffle the labels, 20 or more.", metavar="N")] = 20,
    draws: Annotated[int, typer.Option(min=10, help="Resamples of games for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(help="Random seed.", metavar="N")] = 0,
    marks: Annotated[Path | None, typer.Option(help="A file of marks that `liescope view` wrote.")] = None,
    out: Annotated[Path | None, typer.Option(help="The folder for the report.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Find what a detector could exploit in a corpus without detecting deception: shortcuts, leaks, gaps.

    Example: liescope audit corpus/mini --out reports/audit
    """
    from liescope.detectors.audit.display import show_audit
    from liescope.detectors.audit.run import audit as audit_corpus

    result = audit_corpus(
        corpus,
        target=target,
        split=split,
        shuffles=shuffles,
        draws=draws,
        seed=seed,
        marks=marks,
        out=out,
        progress=True,
    )
    if as_json:
        emit(result.to_json())
    else:
        show_audit(result)
