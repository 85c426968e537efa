"""The commands in which kinds of detectors learn, `train` and `transfer`: their help has the options of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liescope.common.command_options import AsJson, Given, each_with_a_line, say, with_settings
from liescope.common.console import emit
from liescope.common.text import first_sentence
from liescope.detectors.commands import report_lines
from liescope.detectors.detector_registry import DETECTORS, declared_options
from liescope.detectors.detector_settings import TrainSettings, TransferSettings

app = typer.Typer()
_LINES = {kind: first_sentence(DETECTORS[kind].__doc__ or "") for kind in DETECTORS}


@app.command()
@with_settings(TrainSettings, declared_options())
def train(
    *,
    kind: Annotated[
        str | None,
        typer.Argument(
            help=each_with_a_line("The kind of detector; without one, duo for roles, else tfidf:", _LINES),
            autocompletion=lambda: list(DETECTORS),
        ),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(help="A corpus that `liescope build` made, USER/NAME on the Hub, or a run; or give --pairs."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for the model.")],
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Train a lie detector on the training split of a corpus.

    It is saved with its card and its out-of-fold scores, by game.

    Example: liescope train --corpus corpus/mini --out models/mini

    Example: liescope train tfidf --corpus corpus/mini --target role --out models/tfidf

    Example: liescope train probe --pairs bundled --model FOLDER --ordinary bundled --out models/probe
    """
    from liescope.detectors.fine_tuning.processes import is_first
    from liescope.detectors.training import train as train_detector
    from liescope.detectors.training import training_lines

    result = train_detector(kind, corpus, out=out, progress=True, **given)
    if as_json and is_first():
        emit(result.to_json())
    elif is_first():
        print("\n".join(training_lines(result)))


@app.command()
@with_settings(TransferSettings, declared_options())
def transfer(
    *,
    corpora: Annotated[list[str] | None, typer.Argument(help="Corpora, USER/NAME on the Hub, or runs.")] = None,
    out: Annotated[Path, typer.Option(help="The folder for the report.")],
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Train detectors on some units and test them on others.

    Tries every pair of units, and each unit left out of training, and writes a report. What is not given of a
    detector's options is as in `train`.

    Example: liescope transfer corpus/first --by model --out reports/transfer

    Example: liescope transfer --suite games --data downloads --detector linear --out reports/across
    """
    from liescope.detectors.study.transfer import transfer as run

    say(run(corpora or (), out=out, progress=True, **given), as_json, report_lines)
