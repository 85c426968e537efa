"""A trained detector as a folder: model.json, the detector's own parts, its scores, the games it has seen, and a card.

Nothing in it is unpickled and no code in it runs: JSON, Parquet, text, numpy's arrays and safetensors.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import Reading, check_folder, read_parquet, read_text
from liescope.common.registry import check_installed
from liescope.common.statistics import Bools, Floats
from liescope.detectors.calibrate import ABSTAIN, UNLIKE, CalibrationGames
from liescope.detectors.detector import ROLE, AsksChatModel, Detector, Progress, shown, silent
from liescope.detectors.detector_registry import DETECTORS, load_parts
from liescope.detectors.detector_settings import COVERAGE
from liescope.detectors.examples import Example, examples_of
from liescope.detectors.learned_from import LearnedStatements
from liescope.detectors.logistic import TRAIN_AGAIN
from liescope.detectors.model_file import MODEL_FILE, ModelFile, model_folder, read_model_file
from liescope.detectors.statement_inputs import NO_REASONING, Statement, StatementReader, each_statement
from liescope.detectors.study.metrics import LEVELS, flagged
from liescope.detectors.study.scores import SCORES
from liescope.detectors.view.transcript import GameMoment, GamePrediction, Transcript
from liescope.generate.importers.importer_protocol import fingerprint

SCORES_FILE, GAMES_FILE, CARD_FILE = "scores.parquet", "games.txt", "README.md"
CALIBRATION_FILE = "calibration.parquet"
ABOVE_ORDINARY = "flag_at_1pct_ordinary"
"""Whether a score is above the threshold that was chosen on ordinary chats."""
ALONE = "it comes without the game that this detector reads"
_NO_FLAGS = (
    "no flags at 1% and 5% false positives: such thresholds are chosen on validation games, and there were none; train "
    "on more games"
)
_MOST_ROWS = 50_000_000
WINDOW = 4096
"""Statements that are read before they are scored: enough for batches of equal length, little enough for memory."""
_SCORED = {name: pl.String() for name in ("statement_id", "text", "score", "verdict", "abstains", "score_null")}
_SAID = "I investigated Bob. He is the mafioso."
_PROBE = Example("", "", "speaker", "", _SAID, ("Bob",), (("Bob", "No, I'm not."),), reasoning="Bob must go.")


@dataclass(frozen=True, slots=True, repr=False)
class LoadedDetector:
    """A detector read from its folder, ready to score.

    name: the folder's name; file: the contents of model.json; scores: its own score table (training out of fold,
    validation); games: the ids of the games it was trained on or had its thresholds chosen on; folder: where it is;
    calibration: the games that its verdicts were chosen on, for comparison with new ones; None if there were none.
    """

    name: str
    file: ModelFile
    detector: Detector
    scores: pl.DataFrame
    games: frozenset[str]
    folder: Path
    calibration: CalibrationGames | None = None
    _left_out: Counter[str] = field(default_factory=Counter, compare=False)

    def __repr__(self) -> str:
        facts = self.file.training
        return (
            f"<LoadedDetector {self.name}: {self.file.kind} for {self.file.target}, trained on "
            f"{self.file.units.counted(facts.statements, facts.games)}>"
        )

    @property
    def thresholds(self) -> Mapping[str, float | None]:
        """By the false positive rate on validation games, and "macro_f1", which separates best; None: not chosen."""
        return {str(level): at for level, at in self.file.thresholds.items()}

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about the last scores."""
        left_out = self._left_out
        unread = (
            f"{left_out[NO_REASONING]:,} statements come without reasoning and have no score: {self.name} reads what a "
            f"speaker thought (view {self.file.text.view})",
        )
        told = (self.file.units.say(one.format(left_out[one])) for one in (UNLIKE, _NO_FLAGS) if left_out[one])
        return (*unread * bool(left_out[NO_REASONING]), *self.detector.notes, *told)

    def others(self, examples: Sequence[Example], score: Floats) -> Bools:
        """(n,): which statements, unlike those that verdicts were chosen on, get none. score: (n,), calibrated."""
        if self.calibration is None:
            return np.zeros(len(score), dtype=bool)
        return self.calibration.others(examples, score, self.file.text.view)

    def reader(self, columns: Mapping[str, Any] | None = None) -> StatementReader:
        """Reads statements for this detector, one after another, in order of play. columns: as for `row_parts`."""
        text, training = self.file.text, self.file.training
        return StatementReader(text.context, tuple(training.names), self.file.target, text.view, columns or {})

    def score(
        self,
        statements: Any,
        *,
        coverage: float = COVERAGE,
        reasons: int = 0,
        progress: bool = False,
        columns: Mapping[str, Any] | None = None,
    ) -> pl.DataFrame:
        """The probability that each statement is deceptive; see `liescope.score`. columns: by what they hold."""
        with shown(progress) as show:
            tables = list(self.score_stream(each_statement(statements), show, coverage, reasons, columns=columns))
        found = pl.concat(tables) if tables else self.score_batch([], reasons=reasons)
        return found if found["statement_id"].null_count() < found.height else found.drop("statement_id")

    def score_stream(
        self,
        statements: Iterable[object],
        progress: Progress = silent,
        coverage: float = COVERAGE,
        reasons: int = 0,
        windows: range | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> Iterator[pl.DataFrame]:
        """Tables of scores, one for each window of a few thousand statements, in their order. windows: which of them to
        score; the others are still read, since games may continue from one to the next.
        """
        able = [kind for kind in DETECTORS if DETECTORS[kind].explain is not Detector.explain]
        if reasons and self.file.kind not in able:
            raise UsageError(f"{self.file.kind} gives no reasons for its scores; these do: {', '.join(able)}")
        self._left_out.clear()
        reader, given, before = self.reader(columns), enumerate(statements), 0
        for number in count() if windows is None else range(windows.stop):
            if not (batch := reader.read_all(islice(given, WINDOW))):
                return
            if windows is None or number in windows:
                yield self.score_batch(batch, _after(before, len(batch), progress), coverage, reasons)
            before += len(batch)

    def score_batch(
        self, statements: Sequence[Statement], progress: Progress = silent, coverage: float = COVERAGE, reasons: int = 0
    ) -> pl.DataFrame:
        """Scores of statements already read: statement_id, text, score, flag_at_1pct_fpr, flag_at_5pct_fpr,
        `ABOVE_ORDINARY` if the detector has such a threshold, verdict, abstains (why a verdict does), score_null,
        `score_NAME` of each of the detector's parts, and reasons if any are asked for.
        """
        asked = [one.example for one in statements if one.example is not None]
        self._left_out[NO_REASONING] += sum(one.null == NO_REASONING for one in statements)
        found = self.probabilities(asked, progress)
        progress("scoring statements", 1, 1)
        told = iter(zip(found.tolist(), *self._verdicts(asked, found, coverage), strict=True))
        rows = [(one.key, one.text, *(next(told) if one.example else (None,) * 3), one.null) for one in statements]
        table = pl.DataFrame(rows, {**_SCORED, "score": pl.Float64()}, orient="row")
        flags = {
            f"flag_at_{level}_fpr": pl.lit(None, pl.Boolean) if at is None else flagged(pl.col("score"), at)
            for level, at in self.thresholds.items()
            if level in LEVELS
        }
        self._left_out[_NO_FLAGS] += {at for level, at in self.thresholds.items() if level in LEVELS} == {None}
        if self.file.ordinary and (at := self.file.ordinary.at) is not None:
            flags[ABOVE_ORDINARY] = flagged(pl.col("score"), at)
        first = list(_SCORED)[:3]
        scores = table.with_columns(**flags).select(*first, *flags, *(name for name in _SCORED if name not in first))
        there = np.array([one.example is not None for one in statements], dtype=bool)
        for name, values in self.detector.parts(asked, progress).items():
            every = np.full(len(there), np.nan)
            every[there] = values
            scores = scores.with_columns(pl.Series(f"score_{name}", every, nan_to_null=True))
        return scores.with_columns(self._reasons(statements, reasons)) if reasons else scores

    def _verdicts(
        self, examples: Sequence[Example], score: Floats, coverage: float
    ) -> tuple[Sequence[str | None], Sequence[str | None]]:
        """The verdict on each, None where nothing is promised, and why it abstains."""
        sets = self.file.confidence.labels
        if sets is None:
            return [None] * len(score), [None] * len(score)
        given = np.array(sets.verdicts(score, coverage), dtype=object)
        why = np.full(len(score), None, dtype=object)
        why[given == ABSTAIN] = self.file.units.say(sets.abstains_because(coverage))
        reads_games = self.detector.reads_games and self.file.target == ROLE
        alone = np.array([reads_games and one.seen is None and not one.context for one in examples], dtype=bool)
        given[alone], why[alone] = ABSTAIN, ALONE
        asked = np.flatnonzero(~alone)
        unlike = asked[self.others([examples[at] for at in asked.tolist()], score[asked])]
        self._left_out[UNLIKE] += len(unlike)
        given[unlike] = why[unlike] = None
        return given.tolist(), why.tolist()

    def _reasons(self, statements: Sequence[Statement], most: int) -> pl.Series:
        given = iter(self.detector.explain([one.example for one in statements if one.example], most))
        said = [[str(one) for one in next(given)] if statement.example else None for statement in statements]
        return pl.Series("reasons", said, pl.List(pl.String))

    def probabilities(self, examples: Sequence[Example], progress: Progress = silent) -> Floats:
        """(n,): the calibrated probability that each statement is deceptive."""
        found = self.detector.predict_proba(examples, progress)[:, 1]
        if not ((found >= 0) & (found <= 1)).all():
            raise BadData(f"{self.name} gave a score that is no probability; the model is damaged, train it again")
        return self.file.confidence.of_scores(found)

    def player_posteriors(
        self, moments: Sequence[GameMoment], progress: Progress = silent
    ) -> list[Mapping[str, float]]:
        """By moment, the calibrated probability that each player of the game deceives."""
        found = self.detector.player_posteriors(moments, progress)
        return self.file.confidence.of_players(found, [moment.transcript.deceivers for moment in moments])

    def predict_game(self, transcript: Transcript, upto: int | None = None) -> GamePrediction:
        """The detector's calibrated view of a game after its first `upto` turns (None: all)."""
        moment, target, text = GameMoment(transcript, upto), self.file.target, self.file.text
        if target == ROLE:
            (players,) = self.player_posteriors([moment])
            said = {at: players[turn.player] for at, turn in transcript.said(upto) if turn.text.strip()}
            return GamePrediction({name: players[name] for name in transcript.alive(upto)}, said)
        asked = examples_of(moment, text.context, target, text.view)
        score = self.probabilities(list(asked.values())).tolist() if asked else ()
        return GamePrediction({}, dict(zip(asked, score, strict=True)))


def _after(before: int, rows: int, progress: Progress) -> Progress:
    """Report the progress within a batch of `rows` statements as progress over all statements so far."""
    return lambda _, done, total: progress("scoring statements", before + rows * done // total, before + rows)


def load(path: str | os.PathLike[str]) -> LoadedDetector:
    """Open the model folder that `liescope train` made, or a model on the Hub ("USER/NAME") that `publish` pushed.

    The folder need not be trusted: no code in it runs, nothing in it is unpickled, and it cannot name files outside
    itself. Raises BadData for a folder that is not a model or is damaged, MissingExtra for a package that is not
    installed.

    Example:
        >>> liescope.load("models/tfidf").score(["I investigated Bob. He is the mafioso."])
    """
    folder = model_folder(path)
    file = read_model_file(folder)
    check_folder(folder)
    if file.kind not in DETECTORS:
        check_installed(file.versions, f"the model {folder}")
    with Reading(folder, TRAIN_AGAIN):
        detector = load_parts(file.kind, folder, file.text, file.options)
        asks = isinstance(detector, AsksChatModel)
        probe = None if asks else detector.predict_proba([_PROBE])
    if probe is not None and (probe.shape != (1, 2) or not np.isfinite(probe).all()):
        raise BadData(f"{folder} gives scores that are no probabilities; train the detector again")
    name = folder.resolve().name if folder == Path(path) else os.fspath(path).rstrip("/").rpartition("/")[2]
    with Reading(folder / GAMES_FILE, TRAIN_AGAIN):
        games = frozenset(read_text(folder / GAMES_FILE).splitlines())
    calibration = CalibrationGames.load(folder / CALIBRATION_FILE) if CALIBRATION_FILE in file.files else None
    return LoadedDetector(name, file, detector, _read_scores(folder), games, folder, calibration)


def write_model(
    folder: Path,
    name: str,
    file: ModelFile,
    detector: Detector,
    scores: pl.DataFrame,
    games: frozenset[str],
    learned: LearnedStatements,
    calibration: CalibrationGames | None,
) -> ModelFile:
    """Write a model into an empty folder; returns its model.json with its files. name: for the card."""
    from liescope.detectors.model_card import model_card

    detector.save(folder)
    detector.write_for_others(folder, file.cut, file.corpus.name)
    learned.write(folder)
    if calibration:
        calibration.save(folder / CALIBRATION_FILE)
    scores.write_parquet(folder / SCORES_FILE)
    (folder / GAMES_FILE).write_text("".join(f"{game}\n" for game in sorted(games)), encoding="utf-8")
    files = {
        path.relative_to(folder).as_posix(): fingerprint(path) for path in sorted(folder.rglob("*")) if path.is_file()
    }
    listed = file.model_copy(update={"files": files})
    (folder / CARD_FILE).write_text(model_card(name, listed), encoding="utf-8")
    (folder / MODEL_FILE).write_text(listed.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return listed


def is_model(folder: Path) -> bool:
    """Whether a folder holds a trained detector."""
    return (folder / MODEL_FILE).is_file()


def check_free(out: Path, overwrite: bool) -> None:
    """Raises UsageError if a model may not be written to `out`."""
    if is_model(out) and not overwrite:
        raise UsageError(f"{out} holds a model already; add --overwrite to replace it, or choose another --out")
    if out.exists() and not is_model(out) and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists and is not a model; choose another --out")


def _read_scores(folder: Path) -> pl.DataFrame:
    path = folder / SCORES_FILE
    scores = read_parquet(path, {name: kind() for name, kind in SCORES.items()}, _MOST_ROWS, TRAIN_AGAIN)
    if not scores["score"].is_between(0, 1).all():
        raise BadData(f"{path} has scores that are no probabilities; {TRAIN_AGAIN}")
    return scores
