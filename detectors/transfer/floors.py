"""What stands beside detectors of units that are left out: floors that understand nothing, and judges that came along.

Each floor is fitted to what a detector would learn from, and scores what that would score.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from liescope.common.statistics import Floats
from liescope.detectors.detector import Progress
from liescope.detectors.transfer.cell_fits import Scores, players_of
from liescope.detectors.transfer.matrix import LEFT_OUT, Fit, TransferTable

LENGTH, POSITION, BEST_WORD, OF_OTHERS = "length", "position", "best word", "words of others"
FLOORS = {LENGTH: "length", POSITION: "position", BEST_WORD: "best_word", OF_OTHERS: "others"}
"""The controls that stand beside what is left out, by what they are called there."""


def floor_scores(table: TransferTable, fits: Sequence[Fit], seed: int, progress: Progress) -> list[Scores]:
    """The scores of every floor on each unit that is left out."""
    from liescope.detectors.study.controls import CONTEXT, CONTROLS, others_said, word_probe

    out = [fit for fit in fits if fit.protocol == LEFT_OUT and not fit.reason]
    found: list[Scores] = []
    for done, (name, control) in enumerate(FLOORS.items()):
        progress("floors", done, len(FLOORS))
        if not out:
            continue
        if name == OF_OTHERS:
            probe = word_probe([others_said(one) for one in table.examples(CONTEXT)], seed)
        else:
            probe = CONTROLS[control].made(table.frame, seed)
        found += [_whole(table, fit, name, probe(fit.learn, fit.score, table.y)) for fit in out]
    progress("floors", len(FLOORS), len(FLOORS))
    return found


def judge_scores(table: TransferTable, fits: Sequence[Fit]) -> list[Scores]:
    """The ratings of every judge that came with a unit that is left out."""
    found = []
    said = table.frame.select("corpus", "statement_id").with_row_index("row")
    for name in table.judges["judge"].unique().sort():
        rated = said.join(table.judges.filter(pl.col("judge") == name), on=["corpus", "statement_id"], how="inner")
        every = np.full(table.frame.height, np.nan)
        every[rated["row"].to_numpy()] = rated["score"].to_numpy()
        for fit in fits:
            if fit.protocol == LEFT_OUT and np.isfinite(every[fit.score]).any():
                found.append(_whole(table, fit, f"judge: {name}", every[fit.score]))
    return found


def _whole(table: TransferTable, fit: Fit, name: str, score: Floats) -> Scores:
    """As scores of the table. score: (rows of the fit,)."""
    scores, players = np.full(table.frame.height, np.nan), np.full(table.players.height, np.nan)
    scores[fit.score] = score
    if np.isfinite(score).all():
        every = table.examples(0)
        players[table.seats(fit.score)] = players_of([every[row] for row in fit.score], score)
    unheard = np.zeros(table.frame.height, bool)
    return Scores(fit.by, fit.protocol, fit.unit, name, scores, players, unheard, (), (), is_detector=False)
