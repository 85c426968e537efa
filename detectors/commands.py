"""The commands `train` and `evaluate`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from detectors.protocol import Progress
from detectors.registry import KINDS
from games.errors import UnknownName, UsageError
from generate.console import emit, progress

if TYPE_CHECKING:
    from detectors.evaluation.scores import MetricRow

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
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation by game; 0 for none.")] = 5,
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
    from detectors.textualize import TextConfig
    from detectors.training import Recipe
    from detectors.training import train as fit

    text = TextConfig(context=context, mask_names=mask_names, mask_role_words=mask_role_words, speaker_tag=speaker_tag)
    recipe = Recipe(kind, target, text, _options(kind, given), folds, seed)
    with _shown() as show:
        trained = fit(corpus, out, recipe, show)
    rows = trained.figures.rows
    if as_json:
        emit({"model": str(out), **trained.file.model_dump(), "rows": [row.to_json() for row in rows]})
        return
    facts = trained.file.training
    console = Console()
    console.print(
        f"{kind} trained on {facts['statements']:,} statements of {facts['games']:,} games, {facts['prevalence']:.1%} "
        f"deceptive ({facts['without_label']:,} statements have no {target} label); train is scored out of fold"
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
    from detectors.evaluation.report import write_report
    from detectors.evaluation.run import evaluate as run

    with _shown() as show:
        evaluation = run(models, corpus, split, observers, draws, seed, show)
        files = write_report(out, evaluation)
    if as_json:
        emit({"rows": [row.to_json() for row in evaluation.rows]})
        return
    console = Console()
    statement_level = [row for row in evaluation.rows if "mafioso" not in row.metric]
    _print_rows(console, statement_level)
    game_level = [row for row in evaluation.rows if "mafioso" in row.metric and "villager=" not in row.split]
    if game_level:
        _print_rows(console, game_level)
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


def _print_rows(console: Console, rows: Any) -> None:
    from detectors.evaluation.report import figure

    table = Table(box=None, header_style="bold")
    for name in ("detector", "target", "split", "metric", "value [95%]", "statements", "games", "prevalence"):
        table.add_column(name, justify="right" if name in ("statements", "games", "prevalence") else "left")
    row: MetricRow
    for row in rows:
        prevalence = "" if row.prevalence is None else f"{row.prevalence:.3f}"
        cells = (row.detector, row.target, row.split, row.metric, figure(row))
        table.add_row(*cells, f"{row.statements:,}", f"{row.games:,}", prevalence)
    console.print(table)


def _print_notes(console: Console, notes: Any, sources: Any) -> None:
    from detectors.evaluation.report import SCRIPTED_WARNING

    for note in notes:
        console.print(f"note: {note}", markup=False)
    if "scripted" in sources:
        console.print(SCRIPTED_WARNING, style="yellow")
