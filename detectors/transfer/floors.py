"""What stands beside detectors of units that are left out: floors that understand nothing, and judges that came along.

Each floor is fitted to what a detector would learn from, and scores what that would score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from liescope.common.statistics import Bools, Floats
from liescope.detectors.detector import Progress
from liescope.detectors.transfer.cell_fits import Scores, players_of
from liescope.detectors.transfer.matrix import LEFT_OUT, Fit, TransferTable

if TYPE_CHECKING:
    from liescope.detectors.audit.bench import Probe

LENGTH, POSITION, BEST_WORD, OF_OTHERS = "length", "position", "best word", "words of others"
FLOORS = {
    LENGTH: "how long the statement is",
    POSITION: "where in the game it stands",
    BEST_WORD: "the one word that tells most where the floor learns",
    OF_OTHERS: "what the others said before it, and nothing of its speaker",
}
CONTEXT = 10
"""How many earlier statements `OF_OTHERS` reads."""
_FEWEST = 20  # statements that a word must occur in


def floor_scores(table: TransferTable, fits: Sequence[Fit], seed: int, progress: Progress) -> list[Scores]:
    """The scores of every floor on each unit that is left out."""
    from liescope.detectors.audit.probes import others_said, word_probe
    from liescope.detectors.study.controls import CONTROLS

    out = [fit for fit in fits if fit.protocol == LEFT_OUT and not fit.reason]
    found: list[Scores] = []
    others: Probe | None = None
    for done, name in enumerate(FLOORS):
        progress("floors", done, len(FLOORS))
        for fit in out:
            if name == OF_OTHERS:
                others = others or word_probe([others_said(one) for one in table.examples(CONTEXT)], seed)
                score = others(fit.learn, fit.score, table.y)
            elif name == BEST_WORD:
                score = _best_word(table.frame["text"], fit, table.y, seed)
            else:
                score = CONTROLS[name](table.frame[fit.learn], table.y[fit.learn], table.frame[fit.score], seed)
            found.append(_whole(table, fit, name, score))
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


def _best_word(texts: pl.Series, fit: Fit, y: Bools, seed: int) -> Floats:
    """The probability given that the word is there, or is not."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.feature_selection import SelectKBest, chi2
    from sklearn.pipeline import make_pipeline

    from liescope.detectors.logistic import logistic

    words = CountVectorizer(binary=True, min_df=_FEWEST)
    one = make_pipeline(words, SelectKBest(chi2, k=1), logistic(10.0, seed))
    try:
        one.fit(texts[fit.learn].to_list(), y[fit.learn])
    except ValueError:  # no word occurs often enough
        return np.full(len(fit.score), y[fit.learn].mean())
    return np.asarray(one.predict_proba(texts[fit.score].to_list())[:, 1], dtype=np.float64)
