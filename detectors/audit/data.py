"""A corpus as the checks of an audit read it: one table of statements, with what is known about each game."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.detectors.examples import Example, Labelled, label_counts, make_examples, read_statements, target_column
from liescope.generate.corpus import collected, read

CONTEXT = 10
"""How many earlier statements a probe of the context reads."""

_NUMBER = r"(?i)[\W_]*(?:game)?[\W_]*\d+$"
_GAMES_A_BATCH = 3


@dataclass(frozen=True)
class Audited:
    """What is audited. spoken: every statement in order of play, with `missing` (no label) and `lost` (no text);
    texts: those whose text is left, with `batch`, `condition`, `run` and `prompt_version` of their game; examples: one
    for each of `texts`, with their context; labelled: which of `texts` have the label, (n,) bool; games: the table.
    """

    target: str
    spoken: pl.DataFrame
    texts: pl.DataFrame
    examples: tuple[Example, ...]
    labelled: NDArray[np.bool_]
    games: pl.DataFrame

    @property
    def table(self) -> pl.DataFrame:
        """The rows of `texts` that have the label."""
        return self.texts.filter(pl.Series(self.labelled))

    @property
    def data(self) -> Labelled:
        """The labelled examples, with their context."""
        table = self.table
        examples = tuple(example for example, kept in zip(self.examples, self.labelled, strict=True) if kept)
        y = table[target_column(self.target)].to_numpy().astype(bool)
        groups, left_out = table["game_id"].to_numpy().astype(np.str_), int((~self.labelled).sum())
        return Labelled(examples, y, groups, left_out, label_counts(self.texts))


def read_audited(corpus: str | os.PathLike[str], target: str) -> Audited:
    """Read a corpus folder. Raises BadData if it is damaged, UnknownName for a target."""
    label = pl.col(target_column(target))
    everything = read_statements(corpus, keep_lost=True)
    kept = read_statements(corpus)
    spoken = everything.with_columns(
        missing=label.is_null(), lost=~pl.col("statement_id").is_in(kept["statement_id"].implode())
    )
    games = collected(read(Path(corpus), "games"), corpus).with_columns(batch=_batch())
    about = games.select("game_id", "batch", "condition", "run", "prompt_version")
    texts = kept.join(about, on="game_id", how="left", maintain_order="left")
    has_label = texts.select(label.is_not_null()).to_series().to_numpy()
    return Audited(target, spoken, texts, make_examples(kept, CONTEXT), has_label, games)


def _batch() -> pl.Expr:
    """What games played together share: the game's id without the number at its end; null if that tells most games
    apart, so that it names no batches.
    """
    stem = pl.col("game_id").str.replace(_NUMBER, "")
    return pl.when(stem.n_unique() * _GAMES_A_BATCH <= pl.len()).then(stem)
