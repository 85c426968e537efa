"""The commands `train`, `score` and `evaluate`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer

from liescope.common.command_options import with_settings
from liescope.common.console import emit
from liescope.common.errors import UsageError
from liescope.common.signals import standard_input
from liescope.data_cards.tables import TARGETS
from liescope.detectors.calibrate import METHODS, TEMPERATURE
from liescope.detectors.conformal import COVERAGE
from liescope.detectors.protocol import PRESETS
from liescope.detectors.registry import DETECTORS, declared_options

app = typer.Typer()
_TEXT = "The text that a detector sees"
_JUDGE = "Chat models beside the detectors"

Corpus = Annotated[str, typer.Option(help="A corpus that `liescope build` made, USER/NAME on the Hub, or a run.")]
_STATEMENTS = "statements, one a line,"
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Seed = Annotated[int, typer.Option(help="Random seed.", metavar="N")]
KeepLost = Annotated[
    bool, typer.Option("--keep-lost", help="Use statements whose text was lost before it was published, too.")
]


@app.command()
@with_settings(declared_options())
def train(
    kind: Annotated[str, typer.Argument(help=f"The kind of detector: {', '.join(DETECTORS)}.")],
    corpus: Corpus,
    out: Annotated[Path, typer.Option(help="The folder for the model.")],
    given: Mapping[str, Any],
    target: Annotated[str, typer.Option(help=f"What to predict: {', '.join(TARGETS)}.")] = "role",
    preset: Annotated[
        str | None, typer.Option(help=f"Options that are not given: {', '.join(PRESETS)}, for kinds that have them.")
    ] = None,
    context: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            show_default=False,
            help="How many earlier statements of the game to include before each. \\[default: 0, or the preset's]",
        ),
    ] = None,
    mask_names: Annotated[
        bool,
        typer.Option(
            rich_help_panel=_TEXT, show_default=False, help="Replace players' names by tokens. \\[default: on]"
        ),
    ] = True,
    mask_role_words: Annotated[
        bool,
        typer.Option(
            rich_help_panel=_TEXT, show_default=False, help="Replace words for roles and teams. \\[default: off]"
        ),
    ] = False,
    speaker_tag: Annotated[
        bool,
        typer.Option(
            rich_help_panel=_TEXT, show_default=False, help="Put the speaker before the words. \\[default: off]"
        ),
    ] = False,
    folds: Annotated[
        int | None,
        typer.Option(metavar="N", help="Folds of the cross-validation by game, 0 for none; each kind has its default."),
    ] = None,
    calibrate: Annotated[
        str, typer.Option(help=f"How scores are made probabilities, by the folds: {', '.join(METHODS)}.")
    ] = TEMPERATURE,
    seed: Seed = 0,
    keep_lost: KeepLost = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing model at --out.")] = False,
    as_json: Json = False,
) -> None:
    """Train a lie detector on the training split, by game, and save it with its card and out-of-fold scores.

    Example: liescope train tfidf --corpus corpus/mini --target role --out models/tfidf
    """
    from liescope.detectors.display import show_training
    from liescope.detectors.training import is_first
    from liescope.detectors.training import train as train_detector

    result = train_detector(
        kind,
        corpus,
        out=out,
        target=target,
        preset=preset,
        context=context,
        mask_names=mask_names,
        mask_role_words=mask_role_words,
        speaker_tag=speaker_tag,
        folds=folds,
        calibrate=calibrate,
        seed=seed,
        keep_lost=keep_lost,
        overwrite=overwrite,
        progress=True,
        **given,
    )
    if as_json and is_first():
        emit(result.to_json())
    elif is_first():
        show_training(result)


@app.command()
def score(
    model: Annotated[str, typer.Argument(help="A model folder that `liescope train` made, or USER/NAME on the Hub.")],
    texts: Annotated[
        list[str] | None, typer.Argument(help="Statements; without any, or with -, standard input, one a line.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--in", help="Read statements from a .jsonl(.gz), .parquet or .csv file with a column `text`."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write scores to a .jsonl(.gz), .parquet or .csv file.")] = None,
    coverage: Annotated[
        float, typer.Option(help="How much of either class the verdicts may not get wrong: more, and more abstain.")
    ] = COVERAGE,
    reasons: Annotated[
        int, typer.Option(min=0, metavar="N", help="Name N words or claims that weigh most in each score.")
    ] = 0,
    live: Annotated[
        bool, typer.Option("--live", help="Follow a game on standard input, turn by turn: NAME: words, or JSON lines.")
    ] = False,
    players: Annotated[str | None, typer.Option(help="With --live: who plays, as in Ada,Bo,Cy.")] = None,
    deceivers: Annotated[
        int | None, typer.Option(metavar="N", help="With --live: how many of them deceive, if the table knows it.")
    ] = None,
    rules: Annotated[str, typer.Option(help="With --live: the game, as in mini-mafia.")] = "",
    cache: Annotated[
        Path | None, typer.Option(help="For kinds that ask a chat model: the folder that keeps every reply.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file at --out.")] = False,
    as_json: Json = False,
) -> None:
    """Score statements: the probability that each is deceptive, whether it is above the model's thresholds, and a
    verdict, which may be to abstain.

    A row of a file may also have `speaker`, `names` (of every player) and `context` (earlier statements, oldest first);
    rows with a `game_id` have the rows of that game before them as their context. With --live, each turn of a game is
    scored as soon as it is read, and the living players follow, most suspect first.

    Example: liescope score models/tfidf "I investigated Bob. He is the mafioso."
    """
    from liescope.detectors.display import score_lines
    from liescope.detectors.score_files import lines, statements_of
    from liescope.detectors.scoring import opened, score_file

    if texts == ["-"]:
        texts = None
    if texts and file:
        raise UsageError("give statements either as arguments or with --in, not both")
    if live:
        if texts or file or out:
            raise UsageError("--live reads standard input and prints; leave out statements, --in and --out")
        _follow(model, players, deceivers, rules, reasons, cache, as_json)
        return
    if players or deceivers is not None or rules:
        raise UsageError("--players, --deceivers and --rules describe a live game; add --live")
    if out is not None:
        given: Path | Iterable[str] = file or texts or lines(standard_input(_STATEMENTS))
        done = score_file(
            model, given, out=out, coverage=coverage, reasons=reasons, cache=cache, overwrite=overwrite, progress=True
        )
        if as_json:
            emit(done.to_json())
        else:
            rate = done.statements / max(done.seconds, 1e-9)
            print(f"{done.statements:,} statements scored ({rate:,.0f} a second): {out}")
        _say_notes(done.notes)
        return
    loaded = opened(model, cache)
    with (
        statements_of(file) if file else nullcontext((texts or lines(standard_input(_STATEMENTS)), None)) as (
            statements,
            _,
        )
    ):
        tables = loaded.score_stream(statements, coverage=coverage, reasons=reasons)
        if as_json:
            rows = [row for table in tables for row in table.iter_rows(named=True)]
            emit({"model": model, "rows": rows, "notes": list(loaded.notes)})
        else:
            for table in tables:
                print("\n".join(score_lines(table, 80 if sys.stdout.isatty() else None)))
    _say_notes(loaded.notes)


def _follow(
    model: str,
    players: str | None,
    deceivers: int | None,
    rules: str,
    reasons: int,
    cache: Path | None,
    as_json: bool,
) -> None:
    """One line, or JSON object, after each turn on standard input."""
    from liescope.detectors.display import live_lines
    from liescope.detectors.live_lines import live_turns, table
    from liescope.detectors.score_files import lines
    from liescope.detectors.scoring import opened

    def complain(number: int, why: str) -> None:
        typer.echo(f"line {number} is left out: {why}", err=True)

    loaded = opened(model, cache)
    named = table(players.split(","), deceivers, rules) if players else None
    if named is None and (deceivers is not None or rules):
        raise UsageError("--deceivers and --rules go with --players; or give all three in a first line")
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    game, turns = live_turns(lines(standard_input("a game, one turn a line,")), named, complain)
    for after in loaded.follow(game, turns, reasons=reasons):
        print(json.dumps(after.to_json(), ensure_ascii=False) if as_json else "\n".join(live_lines(after)), flush=True)
    _say_notes(loaded.detector.notes)


def _say_notes(notes: Iterable[str]) -> None:
    for words in notes:
        typer.echo(f"note: {words}", err=True)


@app.command()
def evaluate(
    models: Annotated[list[Path], typer.Argument(help="Model folders that `liescope train` made.")],
    corpus: Corpus,
    out: Annotated[Path, typer.Option(help="The folder for the report.")],
    split: Annotated[
        str | None,
        typer.Option(
            show_default=False,
            help="train (out of fold), validation, test or all. \\[default: all of a corpus that no model was trained "
            "on, else test]",
        ),
    ] = None,
    observers: Annotated[bool, typer.Option("--observers", help="Compare with the players' own judgement.")] = False,
    people: Annotated[
        list[Path] | None,
        typer.Option(help="A run in which a person judged games, to set beside the detectors; may be repeated."),
    ] = None,
    draws: Annotated[int, typer.Option(min=10, help="Resamples of games for the intervals.")] = 1000,
    seed: Seed = 0,
    keep_lost: KeepLost = False,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=_JUDGE, help="A chat model to set beside the detectors, as in openai:NAME; may be repeated."
        ),
    ] = None,
    judge_limit: Annotated[
        int | None,
        typer.Option(rich_help_panel=_JUDGE, min=1, metavar="N", help="How many statements, drawn by whole games."),
    ] = None,
    judge_prompt: Annotated[
        Path | None, typer.Option(rich_help_panel=_JUDGE, help="A TOML file with another prompt.")
    ] = None,
    judge_cache: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=_JUDGE,
            show_default=False,
            help="The folder that keeps every reply. \\[default: in the user's cache folder]",
        ),
    ] = None,
    judge_batch: Annotated[
        bool, typer.Option(rich_help_panel=_JUDGE, help="Send requests in files of many, for part of the price.")
    ] = False,
    price: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=_JUDGE, help="MODEL=PROMPT,COMPLETION[,CACHED] per million tokens; may be repeated."
        ),
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(rich_help_panel=_JUDGE, help="Stop asking once this much money is spent.")
    ] = None,
    currency: Annotated[str, typer.Option(rich_help_panel=_JUDGE, help="The currency of the prices.")] = "USD",
    allow_key: Annotated[
        list[str] | None,
        typer.Option(rich_help_panel=_JUDGE, help="VARIABLE@HOST: this key may go to this host; may be repeated."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an evaluation of other detectors or another corpus at --out.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare detectors with cheap controls, chat models, the players (--observers) and people who read the games
    (--people); write a report.

    Example: liescope evaluate models/tfidf --corpus corpus/mini --observers --out reports/tfidf
    """
    from liescope.detectors.display import show_evaluation
    from liescope.detectors.evaluation.run import evaluate as evaluate_detectors

    result = evaluate_detectors(
        models,
        corpus,
        split=split,
        observers=observers,
        people=people or (),
        draws=draws,
        seed=seed,
        keep_lost=keep_lost,
        judge=judge or (),
        judge_limit=judge_limit,
        judge_prompt=judge_prompt,
        judge_cache=judge_cache,
        judge_batch=judge_batch,
        price=price or (),
        max_cost=max_cost,
        currency=currency,
        allow_key=allow_key or (),
        out=out,
        overwrite=overwrite,
        progress=True,
    )
    if as_json:
        emit(result.to_json())
    else:
        show_evaluation(result)
