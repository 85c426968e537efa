"""The command `adapt`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from liescope.common.console import emit
from liescope.common.errors import UsageError
from liescope.common.text import plain

if TYPE_CHECKING:
    from liescope.detectors.adapt.run import AdaptResult

app = typer.Typer()


@app.command()
def adapt(
    model: Annotated[str, typer.Argument(help="A model folder that `liescope train` made.")],
    corpus: Annotated[str, typer.Option(help="New games: a corpus, USER/NAME on the Hub, or a run.")],
    base: Annotated[str | None, typer.Option(help="The corpus that the model was trained on.")] = None,
    out: Annotated[Path | None, typer.Option(help="The folder for the adapted model.")] = None,
    labels: Annotated[
        int, typer.Option(min=0, metavar="N", help="Of how many new games the labels are used, 0 for none.")
    ] = 30,
    choose: Annotated[
        str, typer.Option(help="Which games: random, uncertain, or a file with one id a line.")
    ] = "random",
    weight: Annotated[
        int, typer.Option(min=1, metavar="N", help="What each of them counts for beside a game of --base.")
    ] = 5,
    self_training: Annotated[
        int, typer.Option("--self", min=0, metavar="N", help="Rounds in which it labels games it is sure of itself.")
    ] = 0,
    propose: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Print the ids of N games worth labelling next, and stop.")
    ] = None,
    draws: Annotated[int, typer.Option(min=10, metavar="N", help="Resamples of games for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
    cache: Annotated[
        Path | None, typer.Option(help="For kinds that ask a chat model: the folder that keeps every reply.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing model at --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Train a detector again with a few labelled games of a corpus that it has not seen, or with none, and say what
    that has brought on the games whose labels were not used.

    Example: liescope adapt models/linear --corpus corpus/new --base corpus/first --labels 30 --out models/adapted
    """
    from liescope.detectors.adapt.run import adapt as adapted
    from liescope.detectors.adapt.run import propose as proposed

    if propose is not None:
        found = proposed(model, corpus, games=propose, seed=seed, cache=cache, progress=True)
        if as_json:
            emit({"model": model, "propose": found})
        else:
            print("\n".join(map(plain, found)))
        return
    if base is None or out is None:
        raise UsageError("adapting needs --base, the corpus that the model was trained on, and --out")
    result = adapted(
        model,
        corpus,
        base=base,
        out=out,
        labels=labels,
        choose=choose,
        weight=weight,
        self_training=self_training,
        draws=draws,
        seed=seed,
        cache=cache,
        overwrite=overwrite,
        progress=True,
    )
    if as_json:
        emit(result.to_json())
    else:
        print("\n".join(adapt_lines(result)))


def adapt_lines(result: AdaptResult) -> Iterator[str]:
    """What the adaptation has brought, for a terminal of 80 columns."""
    facts = result.adapted
    known = [f"labels of {facts.labelled:,} games, each counted {facts.weight} times"] if facts.labelled else []
    guessed = [f"{facts.guessed:,} games labelled by itself, rounds: {facts.rounds}"] if facts.rounds else []
    yield "; ".join((*known, *guessed))
    yield f"{'':10} {'':21} before  after after − before [95%]"
    for gain in facts.gains:
        before, after = ("–" if value is None else f"{value:.3f}" for value in (gain.before, gain.after))
        change = "–"
        if gain.before is not None and gain.after is not None:
            change = f"{gain.after - gain.before:+.3f}"
            change += "" if gain.lo is None else f" [{gain.lo:+.3f}, {gain.hi:+.3f}]"
        verdict = gain.verdict if gain.verdict in ("better", "worse") else ""
        yield f"{gain.where:10} {gain.metric:21} {before:>6} {after:>6} {change:23} {verdict}".rstrip()
    yield "AUROC is within games (pairs of statements of one game) unless called pooled"
    for where, games in {gain.where: gain.games for gain in sorted(facts.gains, key=lambda one: one.games)}.items():
        yield f"{where}: {games:,}, with labels that neither detector has seen"
    for gain in facts.gains:
        if gain.verdict == "worse":
            yield f"worse than doing nothing: {gain.metric}, {gain.where}"
    for note in result.notes:
        yield f"note: {plain(note)}"
    yield f"model: {result.model}"
