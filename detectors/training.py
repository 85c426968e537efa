"""Training: cross-validate by game, fit on all of the training split, choose thresholds on validation, save."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
import polars as pl

from liescope.common.errors import UsageError
from liescope.common.folders import replacing
from liescope.common.settings import read_query, takes
from liescope.common.statistics import Floats
from liescope.common.stores import stored
from liescope.common.text import Units, number_of, plain
from liescope.detectors.calibrate import CalibrationGames, Confidence, LabelSets, Players, cross_fitted, fit_players
from liescope.detectors.detector import ROLE, Detector, Progress, requests_of, shown, silent
from liescope.detectors.detector_registry import DETECTORS, make, versions_of
from liescope.detectors.detector_settings import TEMPERATURE, TrainSettings
from liescope.detectors.examples import Example, Labelled, check_trainable, usual_target
from liescope.detectors.fine_tuning.processes import is_first, wait
from liescope.detectors.folds import Rows, fold_of
from liescope.detectors.judge.prompt import ATTEMPTS
from liescope.detectors.learned_from import LearnedStatements
from liescope.detectors.material import TURNS, Material, corpus_of, ordinary_answers, pairs, read_material, source_name
from liescope.detectors.model_file import ModelFile, OrdinaryChats, TrainingFacts
from liescope.detectors.saved import check_free, is_model, write_model
from liescope.detectors.study.figures import Figure, figure_table
from liescope.detectors.study.metrics import HEADLINE, NO_THRESHOLDS, choose_thresholds
from liescope.detectors.study.scorers import evaluate_scores
from liescope.detectors.study.scores import GROUPS_OUT, SPLIT_OUT, ScoringPlan, score_table, scripted_warning
from liescope.detectors.text_form import TextConfig
from liescope.detectors.view.transcript import GameMoment, Transcript
from liescope.generate.corpus.read import check
from liescope.generate.importers.receipt import Receipt

Judged = tuple[Transcript, Players]
"""A whole game, and how its players are judged."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to train. folds: of the cross-validation, 0 for none; options: those of the detector's kind; calibrate: the
    method, one of `METHODS`, which needs folds.
    """

    kind: str
    target: str
    text: TextConfig
    options: Mapping[str, Any]
    folds: int = 5
    seed: int = 0
    calibrate: str = TEMPERATURE

    @classmethod
    def of(cls, kind: str, target: str, own: TrainSettings, options: Mapping[str, Any]) -> Self:
        """Raises UnknownName, UsageError."""
        folds = DETECTORS[kind].folds if own.folds is None else own.folds
        if folds == 1 or folds < 0:
            raise UsageError("--folds must be 2 or more, or 0 for no cross-validation")
        return cls(kind, target, TextConfig.of(dict(own)), options, folds, own.seed, own.calibrate)

    def untrained(self) -> Detector:
        """The untrained detector. Raises UnknownName, UsageError, MissingExtra."""
        return make(self.kind, self.text, {**self.options, "seed": self.seed})


@dataclass(frozen=True, slots=True, repr=False)
class TrainResult:
    """A trained and saved detector.

    model: its folder; file: the contents of its model.json; rows: its figures, out of fold on train and on validation;
    scores: with the columns `SCORES`, for both splits; notes: what the detector left out, and what
    could not be computed, and why; receipt: of data in memory, what became of its rows and labels.
    """

    model: Path
    file: ModelFile
    rows: tuple[Figure, ...]
    scores: pl.DataFrame
    notes: tuple[str, ...]
    receipt: Receipt | None = None

    @property
    def metrics(self) -> pl.DataFrame:
        """A frame: scorer, target, where, metric, value, lo, hi, statements, games, prevalence, against, why."""
        return figure_table(self.rows)

    def to_json(self) -> dict[str, Any]:
        """What `liescope train --json` prints: `model`, the facts of model.json, and `figures`."""
        return {"model": str(self.model), **self.file.model_dump(), "figures": [row.to_json() for row in self.rows]}

    def __repr__(self) -> str:
        facts = self.file.training
        auroc = next((row.value for row in self.rows if row.metric == "auroc" and row.value is not None), None)
        return (
            f"<TrainResult {self.model}: {self.file.kind} for {self.file.target}, "
            f"{self.file.units.counted(facts.statements, facts.games)}"
            f"{'' if auroc is None else f', AUROC {auroc:.3f}'}>"
        )


@takes(TrainSettings, others="options")
@stored
def train(
    kind: str | None,
    corpus: Any = None,
    labels: Iterable[Any] | None = None,
    *,
    groups: Iterable[Any] | None = None,
    out: str | os.PathLike[str],
    progress: bool = False,
    **settings: Any,
) -> TrainResult:
    """Train one detector on the train split of a corpus, or of texts of your own, and save it with its card and scores.

    Out-of-fold scores teach it to give calibrated probabilities (`calibrate`), where that helps; its thresholds and
    verdicts are chosen on games scored out of fold, too.

    Parameters
    ----------
    kind : str, optional
        "tfidf", "embedding", "encoder" or any other in the registry, with options as "tfidf?words=3" or by keyword; if
        None, "duo" for who deceives in a game, "tfidf" for statements, texts and conversations.
    corpus : str, path or data
        A corpus folder, a corpus on the Hub ("USER/NAME"), or a run's folder, which is labelled and split as `build`
        does. Or data: a list of texts, of conversations (lists of messages) or of mappings, or a frame of polars,
        pandas, pyarrow or `datasets`. Or nothing, with `pairs`.
    labels, groups : iterable, optional
        With data: whether each text or conversation is deceptive (without them a column of the data says it), and what
        each belongs to: a group is on one side of every split; without groups each text is its own.
    out : str or path
        The folder for the model.
    **settings
    **options
        Those of the kind, as `liescope train --help` lists them.

    Raises UnknownName for a kind or target; UsageError for an option, a folder that is taken, or a training split that
    cannot train (one class, too few games); BadData for a damaged corpus; MissingExtra for a package that is missing.

    Examples
    --------
    >>> liescope.train("tfidf", "corpus/mini", out="models/tfidf", words=3)
    >>> liescope.train("tfidf", texts, labels, groups=speakers, out="models/own")
    """
    own, options = TrainSettings.with_rest(settings)
    if kind is not None:
        kind, _, query = kind.partition("?")
        options = {**read_query(query), **options}
    if (corpus is None) == (own.pairs is None):
        raise UsageError("name a corpus to learn from, or instructed pairs with --pairs; one of the two")
    if own.pairs is not None:
        own = own.model_copy(update={"context": max(own.context, TURNS)})
    if kind is not None:
        Recipe.of(kind, "", own, options).untrained().prepare()
    check_free(Path(out), own.overwrite)
    began = time.perf_counter()
    try:
        with shown(progress and is_first()) as show:
            found = corpus_of(corpus, labels, groups) if own.pairs is None else pairs(own.pairs)
            receipt: Receipt | None = getattr(found, "receipt", None)
            if receipt and show is not silent:
                sys.stderr.write(f"{receipt}\n")
            check(found)
            target = own.target or usual_target(found)
            kind = kind or ("duo" if target == ROLE else "tfidf")
            recipe = Recipe.of(kind, target, own, options)
            with _folder_for(Path(out)) as fresh:
                name = source_name(corpus) if own.pairs is None else f"instructed pairs ({Path(own.pairs).name})"
                material = read_material(found, name, target, recipe.text)
                chats = ordinary_answers(own.ordinary, recipe.text, target) if own.ordinary else None
                result = _train_on(material, recipe, Path(out), fresh, show, began, chats)
                told = (receipt.read_as,) if receipt and receipt.labels else ()
                return replace(result, notes=(*told, *result.notes), receipt=receipt)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"{out} cannot be written ({why}); make room for it or choose another --out") from error


@contextmanager
def _folder_for(out: Path) -> Iterator[Path]:
    """An empty folder that becomes the model; of several processes, only the first one's is kept."""
    if is_first():
        with replacing(out, "model", is_model) as fresh:
            yield fresh
    else:
        with TemporaryDirectory(prefix="liescope-") as scratch:
            yield Path(scratch)
    wait()  # the others may read the model now


def _train_on(
    material: Material,
    recipe: Recipe,
    out: Path,
    fresh: Path,
    progress: Progress,
    began: float,
    chats: tuple[str, Sequence[Example]] | None = None,
) -> TrainResult:
    """Write a trained detector to `fresh`, which becomes `out`. began: when; chats: name and answers of these."""
    data, others, statements = material.data, material.others, material.statements
    detector = recipe.untrained()
    detector.prepare()
    check_trainable(data, recipe.target, recipe.folds, called=Units.of(statements["game"].unique()))
    called, answers = chats or ("", ())
    _say_requests(detector, data, (*others.examples, *answers), recipe.folds, progress)

    name, tables, confidence = out.name, [score_table([], np.empty(0), out.name, recipe.target)], Confidence()
    calibration: CalibrationGames | None = None
    thresholds = NO_THRESHOLDS
    if recipe.folds:
        fold, score, judged = cross_validate(recipe, data, progress)
        if recipe.calibrate == TEMPERATURE:
            score, found = cross_fitted(score, data.y, fold)
            confidence = Confidence(statements=found, players=_temperature(judged, material.truth))
        ids = [e.statement_id for e in data.examples]
        tables.append(score_table(ids, score, name, recipe.target, GROUPS_OUT, data.groups, fold))
    progress(f"fitting {recipe.kind}", 0, 1)
    detector.fit(data.examples, data.y, data.groups, progress)
    progress(f"fitting {recipe.kind}", 1, 1)
    if others.examples:
        score = confidence.of_scores(detector.predict_proba(others.examples, progress)[:, 1])
        labels, thresholds = LabelSets.of(others.y, score, others.groups), choose_thresholds(others.y, score)
        confidence = confidence.model_copy(update={"labels": labels})
        tables.append(score_table([e.statement_id for e in others.examples], score, name, recipe.target, SPLIT_OUT))
        calibration = _calibration_games(detector, confidence, material, score, recipe.seed, progress)
    plain = confidence.of_scores(detector.predict_proba(answers, progress)[:, 1]) if answers else None
    scores = pl.concat(tables)
    training = TrainingFacts(
        statements=len(data.y),
        games=data.games,
        prevalence=float(data.y.mean()),
        without_label=data.dropped,
        without_reasoning=data.unread,
        lost=material.lost,
        folds=recipe.folds,
        seed=recipe.seed,
        sources=sorted(material.learned["source"].unique()),
        models=sorted(material.learned["speaker_model"].unique()),
        names=material.names,
        seconds=round(time.perf_counter() - began, 1),
        chosen=detector.chosen,
    )
    rows, notes = _own_figures(scores, statements, recipe)
    file = ModelFile(
        kind=recipe.kind,
        target=recipe.target,
        text=detector.text,
        options=detector.options.model_dump(),
        corpus=material.corpus,
        training=training,
        thresholds=dict(thresholds),
        ordinary=None if plain is None else OrdinaryChats.of(called, plain),
        confidence=confidence,
        versions=versions_of(recipe.kind),
        figures=tuple(row for row in rows if row.lo is not None and row.against is None),
    )
    learned = LearnedStatements.of(data.examples, data.groups)
    file = write_model(fresh, name, file, detector, scores, material.games, learned, calibration)
    unread = (
        f"{data.unread:,} of {data.unread + len(data.y):,} labelled statements of train keep no reasoning, which the "
        f"view {recipe.text.view} reads; they are left out",
    )
    return TrainResult(out, file, rows, scores, (*unread * bool(data.unread), *detector.notes, *notes))


def cross_validate(
    recipe: Recipe, data: Labelled, progress: Progress = silent
) -> tuple[Rows, Floats, Sequence[Judged]]:
    """(fold, score), each (n,), and the games, all scored by detectors that saw no statement of the game."""
    fold, judged = fold_of(data.y, data.groups, recipe.folds, recipe.seed), list[Judged]()
    score = np.empty(len(fold))
    progress("cross-validation", 0, recipe.folds)
    for number in np.unique(fold).tolist():
        learn, held_out = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        detector = recipe.untrained()
        detector.fit([data.examples[i] for i in learn], data.y[learn], data.groups[learn], progress)
        others = [data.examples[i] for i in held_out]
        score[held_out] = detector.predict_proba(others, progress)[:, 1]
        judged.extend(_judge(detector, others, progress))
        progress("cross-validation", number + 1, recipe.folds)
    return fold, score, judged


def _judge(detector: Detector, examples: Sequence[Example], progress: Progress) -> list[Judged]:
    """The examples' whole games with the detector's posteriors of their players; none but for the target ROLE."""
    games = {e.game_id: e.seen.transcript for e in examples if e.seen and e.target == ROLE}
    found = detector.player_posteriors([GameMoment(game) for game in games.values()], progress)
    return list(zip(games.values(), found, strict=True))


def _temperature(judged: Sequence[Judged], truth: Mapping[str, frozenset[str]]) -> float | None:
    """The temperature of players' log-odds; None for no change."""
    known = [(game, players) for game, players in judged if game.game_id in truth]
    lies = np.array([name in truth[game.game_id] for game, players in known for name in players], dtype=bool)
    found = fit_players([players for _, players in known], [game.deceivers for game, _ in known], lies)
    return None if found == 1 else found


def _calibration_games(
    detector: Detector, confidence: Confidence, material: Material, score: Floats, seed: int, progress: Progress
) -> CalibrationGames | None:
    """The validation games' features; None where scoring the unlabelled would cost requests. score: calibrated."""
    rest = material.others.unlabelled
    if rest and requests_of(detector, (), rest):
        return None
    if rest:
        score = np.append(score, confidence.of_scores(detector.predict_proba(rest, progress)[:, 1]))
    return CalibrationGames.of((*material.others.examples, *rest), score, seed, detector.text.view)


def _say_requests(
    detector: Detector, data: Labelled, others: Sequence[Example], folds: int, progress: Progress
) -> None:
    """If progress is shown, say on standard error what will be asked, before anything is."""
    asked = requests_of(detector, data.examples, others)
    if folds:
        asked += folds * requests_of(detector, data.examples, ()) + requests_of(detector, (), data.examples)
    if asked and progress is not silent:
        sys.stderr.write(
            f"up to {asked:,} requests to a chat model, fewer where replies are kept already, and up to {ATTEMPTS - 1} "
            "more for each question whose reply cannot be read\n"
        )


def _own_figures(
    scores: pl.DataFrame, statements: pl.DataFrame, recipe: Recipe
) -> tuple[tuple[Figure, ...], tuple[str, ...]]:
    """Figures and notes: out of fold on train with thresholds from validation, and the other way round."""
    splits = ["train", "validation"] if recipe.folds else ["validation"]
    parts = [evaluate_scores(scores, statements, ScoringPlan(split, seed=recipe.seed)) for split in splits]
    rows = tuple(row for part in parts for row in part.rows if row.is_whole)
    return rows, tuple(note for part in parts for note in part.notes)


def training_lines(result: TrainResult) -> Iterator[str]:
    """The detector's own figures, out of fold on train and on validation, for an 80-column terminal."""
    from liescope.common.report.contents import terminal_table, wrapped
    from liescope.detectors.study.evaluation_report import in_short, place_words

    facts, confidence, called = result.file.training, result.file.confidence, result.file.units
    folds = "train is scored out of fold" if facts.folds else "without folds, so that train has no scores"
    alone = facts.statements == facts.games  # texts or conversations with a label each
    yield wrapped(
        f"{result.file.kind} trained on {called.counted(facts.statements, facts.games)}, "
        f"{facts.prevalence or 0:.1%} deceptive ({facts.without_label:,} have no {result.file.target} label); {folds}"
    )
    if facts.lost:
        yield wrapped(f"note: {facts.lost:,} statements are left out: their text was lost before publication")
    for where in dict.fromkeys(row.where for row in result.rows):
        here = [row for row in result.rows if row.where == where and row.metric in HEADLINE and row.against is None]
        yield wrapped(place_words(where))
        yield from terminal_table(in_short(result.rows, here, where, "" if alone else called.games))
    if result.file.target == ROLE and not alone:
        yield "players after the whole game: `liescope evaluate` ranks them"
    none = "none (not asked for, or it did not lower the log loss)"
    yield wrapped(f"calibration: {confidence.words() or none}")
    if confidence.labels:
        honest, lies = confidence.labels.games
        had = f"{number_of(honest, called.games[:-1])} with honest and {lies:,} with deceptive {called.statements}"
        yield wrapped(f"verdict limits from {had}")
    if chats := result.file.ordinary:
        at = f"{chats.at:.3g}; of new ones, {chats.rates} may (95%)" if chats.rates else "none: at least 99 are needed"
        yield wrapped(f"threshold for 1% of ordinary chats ({chats.name}, {chats.statements:,}): {at}")
    yield from (wrapped(f"note: {note}") for note in result.notes)
    if warning := scripted_warning(facts.sources):
        yield wrapped(warning)
    yield f"model: {plain(str(result.model))}"
