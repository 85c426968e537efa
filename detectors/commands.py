"""The commands `train` and `evaluate`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from liescope.common.console import emit, progress
from liescope.common.errors import UnknownName, UsageError
from liescope.detectors.protocol import Progress
from liescope.detectors.registry import KINDS

if TYPE_CHECKING:
    from liescope.detectors.evaluation.scores import MetricRow

app = typer.Typer()

Corpus = Annotated[Path, typer.Option(help="The corpus folder that `liescope build` made.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Seed = Annotated[int, typer.Option(help="Seed of everything that is drawn.")]

# Which options belong to which kind; one given to another kind is a mistake.
_OPTIONS = {
    "tfidf": ("words", "chars", "min_count", "strength"),
    "embedding": ("encoder", "batch_size", "strength"),
    "encoder": ("encoder", "epochs", "lr", "batch_size", "max_length", "max_steps"),
}

_FOLDS = {"tfidf": 5, "embedding": 5, "encoder": 3}


@app.command()
def train(
    kind: Annotated[str, typer.Argument(help="tfidf, embedding or encoder.")],
    corpus: Corpus,
    out: Annotated[Path, typer.Option(help="The folder for the model.")],
    target: Annotated[str, typer.Option(help="What to predict: role, claim, self or peer.")] = "role",
    context: Annotated[int, typer.Option(min=0, help="Earlier statements of the game that stand before one.")] = 0,
    mask_names: Annotated[bool, typer.Option(help="Replace players' names by tokens.")] = True,
    mask_role_words: Annotated[bool, typer.Option(help="Replace words for roles and teams by a token.")] = False,
    speaker_tag: Annotated[bool, typer.Option(help="Put the speaker before the statement.")] = False,
    words: Annotated[int | None, typer.Option(help="tfidf: n-grams of up to this many words (2).")] = None,
    chars: Annotated[int | None, typer.Option(help="tfidf: n-grams of up to this many characters (0: none).")] = None,
    min_count: Annotated[int | None, typer.Option(help="tfidf: statements a feature must occur in (2).")] = None,
    strength: Annotated[float | None, typer.Option(help="tfidf, embedding: inverse penalty, scikit-learn's C.")] = None,
    encoder: Annotated[
        str | None, typer.Option(help="embedding, encoder: a Hub id or folder; default: the bundled all-MiniLM-L6-v2.")
    ] = None,
    epochs: Annotated[float | None, typer.Option(help="encoder: passes over the training statements (3).")] = None,
    lr: Annotated[float | None, typer.Option(help="encoder: peak learning rate (5e-5).")] = None,
    batch_size: Annotated[int | None, typer.Option(help="embedding, encoder: statements at a time.")] = None,
    max_length: Annotated[int | None, typer.Option(help="encoder: tokens kept of a text, its end (128).")] = None,
    max_steps: Annotated[int | None, typer.Option(help="encoder: stop after this many steps.")] = None,
    folds: Annotated[
        int | None, typer.Option(help="Folds of the cross-validation by game, 0 for none (5; encoder 3).")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Train a lie detector on the training split, by game, and save it with its card and out-of-fold scores.

    Example: liescope train tfidf --corpus corpus/mini --target role --out models/tfidf
    """
    if kind not in KINDS:
        raise UnknownName("kind of detector", kind, KINDS)
    given = {
        "words": words,
        "chars": chars,
        "min_count": min_count,
        "strength": strength,
        "encoder": encoder,
        "epochs": epochs,
        "lr": lr,
        "batch_size": batch_size,
        "max_length": max_length,
        "max_steps": max_steps,
    }
    from liescope.detectors.textualize import TextConfig
    from liescope.detectors.training import Recipe
    from liescope.detectors.training import train as fit

    text = TextConfig(context=context, mask_names=mask_names, mask_role_words=mask_role_words, speaker_tag=speaker_tag)
    recipe = Recipe(kind, target, text, _options(kind, given), _FOLDS[kind] if folds is None else folds, seed)
    with _shown() as show:
        trained = fit(corpus, out, recipe, show)
    rows = trained.figures.rows
    if as_json:
        emit({"model": str(out), **trained.file.model_dump(), "rows": [row.to_json() for row in rows]})
        return
    facts = trained.file.training
    console = _console()
    console.print(
        f"{kind} trained on {facts['statements']:,} statements of {facts['games']:,} games, {facts['prevalence']:.1%} "
        f"deceptive ({facts['without_label']:,} statements have no {target} label)"
        f"{'; train is scored out of fold' if facts['folds'] else '; without folds, so that train has no scores'}"
    )
    _print_rows(console, rows)
    _print_notes(console, trained.figures.notes, facts["sources"])
    console.print(f"model: {out}")


@app.command()
def evaluate(
    models: Annotated[list[Path], typer.Argument(help="Model folders that `liescope train` made.")],
    corpus: Corpus,
    out: Annotated[Path, typer.Option(help="The folder for the report.")],
    split: Annotated[str, typer.Option(help="train (out of fold), validation or test.")] = "test",
    observers: Annotated[bool, typer.Option("--observers", help="Compare with the players' own judgement.")] = False,
    draws: Annotated[int, typer.Option(min=10, help="Resamples of games for the intervals.")] = 1000,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Evaluate detectors beside cheap controls and, with --observers, beside the players; write a report.

    Example: liescope evaluate models/tfidf --corpus corpus/mini --observers --out reports/tfidf
    """
    from liescope.detectors.evaluation.report import write_report
    from liescope.detectors.evaluation.run import evaluate as run

    with _shown() as show:
        evaluation = run(models, corpus, split, observers, draws, seed, show)
        files = write_report(out, evaluation)
    if as_json:
        emit({"rows": [row.to_json() for row in evaluation.rows]})
        return
    console = _console()
    _print_rows(console, evaluation.rows)
    shown = [note for note in evaluation.notes if not note.startswith("control:")]
    _print_notes(console, shown, evaluation.sources)
    console.print("\n".join(str(path) for path in files))


def _options(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in given.items() if value is not None}
    odd = sorted(set(options) - set(_OPTIONS[kind]))
    if odd:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in odd)
        takes = ", ".join(f"--{name.replace('_', '-')}" for name in _OPTIONS[kind])
        raise UsageError(f"{kind} has no option {names}; it takes {takes}")
    return options


@contextmanager
def _shown() -> Iterator[Progress]:
    """Progress on standard error: one line for each thing that is being done."""
    with progress() as bars:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total, note="")
            bars.update(tasks[what], completed=done, total=total)

        yield show


def _console() -> Console:
    """Standard output; where it is no terminal, wide enough for a table in one piece."""
    console = Console()
    return console if console.is_terminal else Console(width=170)


def _print_rows(console: Console, rows: Sequence[MetricRow]) -> None:
    """One table for each target and split with all metrics of a statement-level score, then one of all other rows."""
    from liescope.detectors.evaluation.report import HEADLINE, figure, is_headline

    main = [row for row in rows if is_headline(row)]
    for target, split in dict.fromkeys((row.target, row.split) for row in main):
        part = [row for row in main if (row.target, row.split) == (target, split)]
        share = "" if part[0].prevalence is None else f", {part[0].prevalence:.1%} deceptive"
        counted = f"{part[0].statements:,} statements of {part[0].games:,} games{share}"
        table = Table(box=None, header_style="bold", title=f"{target}, {split}: {counted}", title_justify="left")
        for name in ("detector", "auroc [95%]", "ap", "recall@1% (fpr)", "recall@5% (fpr)", "brier", "ece"):
            table.add_column(name, no_wrap=True)
        for detector in dict.fromkeys(row.detector for row in part):
            of = {row.metric: row for row in part if row.detector == detector}
            ap, *rates, brier, ece = (_short(of[metric]) for metric in HEADLINE if metric != "auroc")
            recalls = [f"{recall} ({rate})" for recall, rate in zip(rates[::2], rates[1::2], strict=True)]
            table.add_row(detector, figure(of["auroc"]), ap, *recalls, brier, ece)
        console.print(table)
    beside = [row for row in rows if row not in main and "villager=" not in row.split]
    if not beside:
        return
    table = Table(box=None, header_style="bold", title="beside the players", title_justify="left")
    for name in ("who", "target", "where", "figure", "value [95%]", "games", "prevalence or chance"):
        table.add_column(name, overflow="fold")
    for row in beside:
        chance = "" if row.prevalence is None else f"{row.prevalence:.3f}"
        table.add_row(row.detector, row.target, row.split, row.metric, figure(row), f"{row.games:,}", chance)
    console.print(table)


def _short(row: MetricRow) -> str:
    return "–" if row.value is None else f"{row.value:.3f}"


def _print_notes(console: Console, notes: Sequence[str], sources: Sequence[str]) -> None:
    from liescope.detectors.evaluation.report import scripted_warning

    for note in notes:
        console.print(f"note: {note}", markup=False)
    if warning := scripted_warning(sources):
        console.print(warning, style="yellow")
