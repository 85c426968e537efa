"""Tables of scores: statement_id, scorer, target, scheme, unit, fold, score.

scheme says what was kept from the scorer while it learned (`NONE`, `GROUPS_OUT`, `SPLIT_OUT`); unit is the group that a
statement was held out with, and fold the number of the fold, -1 where there was none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.common.errors import BadData
from liescope.common.statistics import codes
from liescope.data_cards.tables import SPLITS
from liescope.detectors.examples import target_column
from liescope.detectors.study.metrics import NO_THRESHOLDS, Scored, Thresholds

ALL = "all"
"""Every split of a corpus at once, for a model that never trained there."""
OUT_OF_FOLD = "out-of-fold"
"""All of it, every group scored by what learned from others."""
THRESHOLDS_ON = {"train": "validation", "validation": "train", "test": "validation"}
"""The split whose games choose the thresholds for an evaluated split; never the games being evaluated."""


@dataclass(frozen=True, slots=True)
class ScoringPlan:
    """What to compute. split: of the corpus, or "all"; hold_out: evaluated models that no detector heard; frozen:
    thresholds, by detector, of those that chose theirs elsewhere; the others' are chosen on `threshold_split`; alike:
    whether tasks get equal weight, as when scorers have scored different parts of them.
    """

    split: str
    hold_out: tuple[str, ...] = ()
    seed: int = 0
    frozen: Mapping[str, Thresholds] = field(default_factory=dict)
    alike: bool = False

    @property
    def threshold_split(self) -> str | None:
        return THRESHOLDS_ON.get(self.split)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits of the corpus that are evaluated."""
        return SPLITS if self.split in (ALL, OUT_OF_FOLD) else (self.split,)

    def crossed(self, scorer: str) -> bool:
        """Whether the thresholds of a scorer are chosen on other folds."""
        return self.split == OUT_OF_FOLD and scorer not in self.frozen

    def evaluated(self, table: pl.DataFrame) -> pl.DataFrame:
        return table.filter(pl.col("split").is_in(self.splits))

    def concerned(self, table: pl.DataFrame) -> pl.DataFrame:
        """The statements that are evaluated or used to choose thresholds."""
        return table.filter(pl.col("split").is_in({*self.splits, self.threshold_split} - {None}))


WITHIN_TASK = "within_task"
"""Where a statement is compared with those of its task, because no game has several with a label."""


def in_tasks(table: pl.DataFrame, label: pl.Expr) -> bool:
    """Whether it names several tasks and no game has more than one labelled statement: then pairs are formed within
    tasks, since a game's share of lies would give the label away.
    """
    named = "task" in table.columns and not table["task"].null_count() and table["task"].n_unique() > 1
    return named and bool(table.select((label.count().over("game_id") <= 1).all()).item())


def with_tasks(table: pl.DataFrame, label: pl.Expr) -> pl.DataFrame:
    """The table with `WITHIN_TASK`, if pairs are formed `in_tasks`."""
    return table.with_columns(pl.col("task").alias(WITHIN_TASK)) if in_tasks(table, label) else table


def compared_in(table: pl.DataFrame) -> str:
    """The column that names the unit within which a statement is compared: its game or its task."""
    return WITHIN_TASK if WITHIN_TASK in table.columns else "game_id"


def in_pairs(table: pl.DataFrame) -> pl.DataFrame:
    """The rows of games or other units with both deceptive and honest ones."""
    return table.filter(pl.col("y").cast(pl.Int8).n_unique().over(compared_in(table)) > 1)


def resampled_as(table: pl.DataFrame) -> str:
    """The column that names what is left out together: games, with one name for those that share a beginning."""
    return "siblings" if "siblings" in table.columns else "game_id"


CUT = "cut_"
"""The prefix of columns with thresholds."""


def scored(table: pl.DataFrame, column: str = "score") -> Scored:
    """table: y, game_id, that column and, if there are such, thresholds."""
    game, games = codes(table[resampled_as(table)].to_numpy())
    own, _ = codes(table[compared_in(table)].to_numpy())
    held = [name for name in NO_THRESHOLDS if CUT + name in table.columns and not table[CUT + name].null_count()]
    cuts = {name: table[CUT + name].to_numpy() for name in held}
    return Scored(table["y"].to_numpy().astype(bool), table[column].to_numpy(), game, games, own, cuts)


SCORES = {
    **dict.fromkeys(("statement_id", "scorer", "target", "scheme", "unit"), pl.String),
    "fold": pl.Int32,
    "score": pl.Float64,
}
NONE, GROUPS_OUT, SPLIT_OUT = "none", "group folds", "train split to the rest"
"""Schemes: scored by what had learned elsewhere or not at all, by what learned from other groups, by what learned from
the split train."""
FINISHED = -1
CONTROL = "control:"
"""The prefix of the names of cheap scorers."""


def score_table(
    ids: Sequence[str] | pl.Series,
    score: NDArray[np.float64],
    detector: str,
    target: str,
    scheme: str | NDArray[np.str_] = NONE,
    unit: str | NDArray[np.str_] = "",
    fold: int | NDArray[np.int64] = FINISHED,
) -> pl.DataFrame:
    """Scores of one detector as a table. Raises BadData for a score that is not a probability."""
    if not np.all((score >= 0) & (score <= 1)):
        raise BadData(f"{detector} gave a score that is no probability; the model is damaged, train it again")
    named = {"scorer": detector, "target": target, "scheme": scheme, "unit": unit}
    return pl.DataFrame({"statement_id": ids, **named, "fold": fold, "score": score}, SCORES)


def per_detector(scores: pl.DataFrame, statements: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """(detector, target, table) in the order of the score table; table: the labelled statements with score and y."""
    for detector, target in scores.select("scorer", "target").unique(maintain_order=True).iter_rows():
        mine = scores.filter(scorer=detector, target=target)
        said = statements.with_columns(y=pl.col(target_column(target)))
        table = mine.join(said, on="statement_id", how="inner", maintain_order="right")
        yield detector, target, with_tasks(table, pl.col("y")).filter(pl.col("y").is_not_null())


def scripted_warning(sources: Collection[str]) -> str:
    """The warning that must go with figures based on scripted words; "" if there are none."""
    if "scripted" not in sources:
        return ""
    if len(sources) == 1:
        return "The words are scripted: scripted text is not model text, and nothing here is a finding about models."
    return "Some of the words are scripted: scripted text is not model text, and figures over all of them mix the two."


SPEAKER = "model="
BROKEN_DOWN = {"task": "task", "model": "speaker_model", "script": "script"}
"""What figures are broken down by: the column of each unit."""
SCRIPTS = ("Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Devanagari", "Han", "Hiragana", "Hangul", "Thai")
_FEW = 20  # the fewest statements for a script to count as a unit


def with_script(statements: pl.DataFrame) -> pl.DataFrame:
    """The statements with `script`, that of most letters; null for all if nearly all share one script."""
    letters = pl.concat_list(pl.col("text").str.count_matches(rf"\p{{{name}}}") for name in SCRIPTS).list
    name = letters.arg_max().replace_strict(dict(enumerate(SCRIPTS)), return_dtype=pl.String)
    named = statements.with_columns(script=pl.when(letters.max() > 0).then(name))
    often = named.select(pl.when(pl.len().over("script") >= _FEW).then("script")).to_series()
    return named.with_columns(script=often if often.drop_nulls().n_unique() > 1 else pl.lit(None, pl.String))
