"""Scoring statements with a saved detector, given in memory or in a file of any length."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from liescope.common.settings import resolve, takes
from liescope.detectors.detector_settings import ScoreSettings
from liescope.detectors.progress import shown
from liescope.detectors.saved import LoadedDetector, load
from liescope.detectors.score_files import Share, score_writer, statements_of


@dataclass(frozen=True, slots=True)
class ScoredFile:
    """A file of scores. model: as named by the caller; statements, scored: its rows, and those with a score; seconds:
    wall-clock time, without loading the model; notes: what the user should know of the scores.
    """

    model: str
    out: Path
    statements: int
    scored: int
    seconds: float
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What `liescope score --out … --json` prints."""
        return {**asdict(self), "out": str(self.out)}


@takes(ScoreSettings)
def score(
    model: str | os.PathLike[str] | LoadedDetector,
    statements: Any,
    *,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Unpack[ScoreSettings],
) -> pl.DataFrame:
    """The probability that each statement is deceptive.

    model: a model folder, or what `load` returned. statements: a string; a mapping with `text` and, if known,
    `speaker`, `names` (of every player of the game) and `context` (earlier statements, oldest first: strings,
    (speaker, text) pairs or mappings); a list of these; or a frame of polars, pandas, pyarrow or `datasets` with these
    columns. Rows with `game_id` and no `context` have as their context the earlier rows of that
    game that everybody in their `audience` (empty or absent: everyone) had heard.

    For a statement without `names`, the names that were common in training are used as its players' names.

    Returns one row for each statement, in order: `statement_id` (if any was given), `text`, `score` in [0, 1],
    `flag_at_1pct_fpr` and `flag_at_5pct_fpr` (whether the score is above the threshold that keeps this false positive
    rate on the model's validation games; null if there was nothing to choose it on), `verdict` ("deceptive", "honest"
    or "abstain"; null for a model that is too old to have one), `abstains`, why a verdict does, and `score_null`, the
    reason if there is no score: no text, or a text that was lost before publication.

    coverage: how much of either class the verdicts may not get wrong, in games like those of the model's corpus, from
    0.5 to 0.99: of deceptive statements at most 1 - coverage are called honest, of honest ones at most as many
    deceptive. Whether the texts are like those is tested, with games as units; where they are not, nothing is
    promised, and fewer verdicts are given: `abstains` says so, and `load(model).notes` after its `score`.

    reasons: how many words or claims to name for each score, those that weigh most in its log-odds, in a column
    `reasons`; for the kinds that have them.

    cache: the folder for the replies of a chat model, for the kinds that ask one.

    Raises UsageError for something that is not a statement, a coverage out of range or a kind without reasons, BadData
    for a folder that is not a model, MissingExtra.

    Example:
        >>> liescope.score("models/tfidf", ["I investigated Bob. He is the mafioso."])
    """
    own, detector = resolve(ScoreSettings, settings), opened(model, cache)
    return detector.score(statements, coverage=own["coverage"], reasons=own["reasons"], progress=progress)


@takes(ScoreSettings)
def score_file(
    model: str | os.PathLike[str] | LoadedDetector,
    statements: str | os.PathLike[str] | Iterable[object],
    *,
    out: str | os.PathLike[str],
    cache: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: bool = False,
    **settings: Unpack[ScoreSettings],
) -> ScoredFile:
    """Score the statements of a file into another, a few thousand at a time, so that memory use stays flat.

    model, coverage, reasons, cache: see `score`; statements: a .jsonl, .jsonl.gz, .parquet or .csv file with a column
    `text` and any other that `score` reads, or an iterable of statements; out: a file with one of these endings, which
    gets the columns of `score`, one row for each statement, in order. It appears when it is complete, however the
    scoring ends.
    overwrite: replace an existing `out`.

    Raises what `score` raises, UsageError for an ending or an `out` that is taken or cannot be written, and BadData for
    a damaged file.

    Example:
        >>> liescope.score_file("models/tfidf", "said.parquet", out="scores.parquet")
    """
    own, detector = resolve(ScoreSettings, settings), opened(model, cache)
    coverage, reasons = own["coverage"], own["reasons"]
    name = detector.name if isinstance(model, LoadedDetector) else os.fspath(model)
    if isinstance(statements, str | os.PathLike):
        with statements_of(Path(statements)) as (rows, share):
            return _score_into(detector, name, rows, share, Path(out), coverage, reasons, overwrite, progress)
    return _score_into(detector, name, statements, lambda: 1.0, Path(out), coverage, reasons, overwrite, progress)


def opened(model: str | os.PathLike[str] | LoadedDetector, cache: str | os.PathLike[str] | None) -> LoadedDetector:
    """A detector that keeps the replies of a chat model, if it asks one, in a folder. Raises UsageError without one for
    a detector that was trained with a folder of its own, and what `load` raises.
    """
    found = model if isinstance(model, LoadedDetector) else load(model)
    found.detector.keep_replies_in(None if cache is None else Path(cache))
    return found


def _score_into(
    model: LoadedDetector,
    name: str,
    statements: Iterable[object],
    share: Share,
    out: Path,
    coverage: float,
    reasons: int,
    overwrite: bool,
    progress: bool,
) -> ScoredFile:
    began = time.perf_counter()
    rows = scored = 0
    with score_writer(out, overwrite) as write, shown(progress) as show:

        def estimated(what: str, done: int, read: int) -> None:
            show(what, done, max(read, round(read / (share() or 1.0))))

        for table in model.score_stream(statements, estimated, coverage, reasons):
            write(table)
            rows += table.height
            scored += table["score"].count()
        if not rows:
            write(model.score_batch([], reasons=reasons))
    return ScoredFile(name, out, rows, scored, time.perf_counter() - began, model.notes)
