"""Scoring statements with a saved detector."""

from __future__ import annotations

import os
from typing import Any

import polars as pl

from liescope.detectors.saved import LoadedDetector, load


def score(model: str | os.PathLike[str] | LoadedDetector, statements: Any, *, progress: bool = False) -> pl.DataFrame:
    """The probability that each statement is deceptive.

    model: a model folder, or what `load` returned. statements: a string; a mapping with `text` and, if known,
    `speaker`, `names` (of every player of the game) and `context` (earlier statements, oldest first: strings,
    (speaker, text) pairs or mappings); a list of these; or a frame of polars, pandas, pyarrow or `datasets` with these
    columns. Rows with `game_id` and no `context` have as their context the earlier rows of that
    game that everybody in their `audience` (empty or absent: everyone) had heard.

    For a statement without `names`, the names that were common in training are used as its players' names.

    Returns one row for each statement, in order: `statement_id` (if any was given), `text`, `score` in [0, 1],
    `flag_at_1pct_fpr` and `flag_at_5pct_fpr` (whether the score is above the threshold that keeps this false positive
    rate on the model's validation games; null if there was nothing to choose it on), and `score_null`, the reason
    if there is no score: no text, or a text that was lost before publication.

    Raises UsageError for something that is not a statement, BadData for a folder that is not a model, MissingExtra.

    Example:
        >>> liescope.score("models/tfidf", ["I investigated Bob. He is the mafioso."])
    """
    detector = model if isinstance(model, LoadedDetector) else load(model)
    return detector.score(statements, progress=progress)
