"""Tables of scores: statement_id, detector, target, score, fold.

fold is the cross-validation fold that a training statement was held out in, -1 for a statement scored by the finished
detector.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray

from liescope.common.errors import BadData
from liescope.common.statistics import codes
from liescope.detectors.evaluation.metrics import Scored
from liescope.detectors.evaluation.offsets import centred
from liescope.detectors.evaluation.rows import resampled_as
from liescope.detectors.examples import target_column

SCORES = {
    "statement_id": pl.String,
    "detector": pl.String,
    "target": pl.String,
    "score": pl.Float64,
    "fold": pl.Int32,
}
FINISHED = -1
CONTROL = "control:"
"""The prefix of the names of cheap scorers."""


def score_table(
    ids: Sequence[str] | pl.Series,
    score: NDArray[np.float64],
    detector: str,
    target: str,
    fold: NDArray[np.int64] | None = None,
) -> pl.DataFrame:
    """Scores of one detector as a table. Raises BadData for a score that is not a probability."""
    if not np.all((score >= 0) & (score <= 1)):
        raise BadData(f"{detector} gave a score that is no probability; the model is damaged, train it again")
    return pl.DataFrame(
        {
            "statement_id": list(ids),
            "detector": [detector] * len(ids),
            "target": [target] * len(ids),
            "score": score,
            "fold": np.full(len(ids), FINISHED) if fold is None else fold,
        },
        schema=SCORES,
    )


def write_scores(scores: pl.DataFrame, path: Path) -> None:
    """Write a score table as Parquet. Raises OSError."""
    pq.write_table(scores.to_arrow(), path, compression="zstd")


def per_detector(scores: pl.DataFrame, statements: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """(detector, target, table) in the order of the score table; table: the labelled statements with score, y, and
    `centred`, for which all scored statements of a game count.
    """
    for detector, target in scores.select("detector", "target").unique(maintain_order=True).iter_rows():
        label = pl.col(target_column(target))
        mine = scores.filter((pl.col("detector") == detector) & (pl.col("target") == target))
        table = mine.join(statements.with_columns(y=label), on="statement_id", how="inner", maintain_order="right")
        yield detector, target, centred(table).filter(pl.col("y").is_not_null())


def scored(table: pl.DataFrame, column: str = "score") -> Scored:
    game, games = codes(table[resampled_as(table)].to_numpy())
    own, _ = codes(table["game_id"].to_numpy())
    return Scored(table["y"].to_numpy().astype(bool), table[column].to_numpy(), game, games, own)


def scripted_warning(sources: Collection[str]) -> str:
    """The warning that must go with figures based on scripted words; "" if there are none."""
    if "scripted" not in sources:
        return ""
    if len(sources) == 1:
        return "The words are scripted: scripted text is not model text, and nothing here is a finding about models."
    return "Some of the words are scripted: scripted text is not model text, and figures over all of them mix the two."
