"""Whose words are evaluated: populations that a mean would mix.

Where models were held out of training, the evaluated statements fall into three populations, and no figure mixes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

SEEN = "seen"
HELD_OUT = "held-out"
OTHERS = "others-in-their-games"
POPULATIONS = {
    SEEN: "models that were in training, in games without a held-out model",
    HELD_OUT: "models that were held out of training",
    OTHERS: "models that were in training, in games with a held-out model",
}
SPEAKER = "speaker="


def populations(
    table: pl.DataFrame, split: str, hold_out: Sequence[str], speaker: str = "speaker_model"
) -> Iterator[tuple[str, pl.DataFrame]]:
    """(name, rows) of each population that has rows; the split alone if no held-out model sits in its games.

    table: `models`, all models of a row's game, and the model that the row is about in the column `speaker`.
    """
    held_out = list(hold_out)
    beside = pl.col("models").list.eval(pl.element().is_in(held_out)).list.any()
    if not held_out or not table.select(beside.any()).item():
        yield split, table
        return
    own = pl.col(speaker).is_in(held_out)
    for name, rows in {SEEN: ~own & ~beside, HELD_OUT: own, OTHERS: ~own & beside}.items():
        part = table.filter(rows)
        if part.height:
            yield f"{split}:{name}", part


def is_population(split: str) -> bool:
    """Whether a row's split names a split or one of its populations, and not a smaller part."""
    return split.partition(":")[2] in ("", *POPULATIONS)
