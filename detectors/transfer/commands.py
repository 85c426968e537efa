"""The command `transfer`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from liescope.common.command_options import with_settings
from liescope.common.console import emit
from liescope.common.errors import UsageError
from liescope.detectors.registry import DETECTORS, declared_options

app = typer.Typer()


@app.command()
@with_settings(declared_options())
def transfer(
    corpora: Annotated[list[str], typer.Argument(help="Corpora, USER/NAME on the Hub, or runs.")],
    by: Annotated[
        list[str], typer.Option(metavar="UNIT", help="The units: model, game, corpus or source; may be repeated.")
    ],
    out: Annotated[Path, typer.Option(help="The folder for the report. The same command goes on where it stopped.")],
    given: Mapping[str, Any],
    detector: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help=f"{', '.join(DETECTORS)}; may be repeated. \\[default: tfidf]"),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TARGET",
            help="role, claim, self or peer, and CORPUS=TARGET for one corpus; may be repeated. \\[default: role]",
        ),
    ] = None,
    context: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Earlier statements before each; else chosen on inner folds."),
    ] = None,
    mask_role_words: Annotated[
        bool, typer.Option("--mask-role-words", help="Replace words for roles and teams.")
    ] = False,
    only: Annotated[
        str | None, typer.Option(metavar="PROTOCOL", help="left-out or pair, to skip the other. \\[default: both]")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(metavar="N,…", help="Learn from so many games of a unit that is left out too: 30,100,300."),
    ] = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Also without each field that a detector reads, and without votes.")
    ] = False,
    draws: Annotated[int, typer.Option(min=10, metavar="N", help="Resamples of games for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Train on some, test on others: every pair of units, and each unit left out of training; write a report.

    An option of a detector that is not given is chosen on inner folds that leave units out too.

    Example: liescope transfer corpus/first --by model --out reports/transfer
    """
    from liescope.detectors.transfer.display import transfer_lines
    from liescope.detectors.transfer.plan import PROTOCOLS
    from liescope.detectors.transfer.run import transfer as run

    result = run(
        corpora,
        by=by,
        detector=detector or "tfidf",
        target=target or "role",
        context=context,
        mask_role_words=mask_role_words,
        protocols=only.replace("-", " ") if only else PROTOCOLS,
        labels=_numbers(labels or ""),
        ablate=ablate,
        draws=draws,
        seed=seed,
        out=out,
        progress=True,
        **given,
    )
    if as_json:
        emit(result.to_json())
    else:
        print("\n".join(transfer_lines(result)))


def _numbers(given: str) -> list[int]:
    try:
        return [int(number) for number in given.split(",") if number]
    except ValueError as error:
        raise UsageError(f"--labels {given}: give numbers of games, such as 30,100,300") from error
