"""Agreement between raters of the same games: judges with each other, and with the players.

The unit is one statement rated from one seat, one statement's report, or one player's role named from one seat.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import GAME, PLAYERS, RATER
from liescope.benchmark.analyses.corrections import Zero
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_figure
from liescope.benchmark.analyses.needs import two_raters
from liescope.common.statistics import CHANGE

AGREEMENT = pl.Schema(
    {
        "game": pl.String,
        "condition": pl.String,
        "one": pl.String,
        "other": pl.String,
        "question": pl.String,
        "share_one": pl.Float64,
        "share_other": pl.Float64,
        "raw": pl.Float64,
        "kappa": pl.Float64,
        "lo": pl.Float64,
        "hi": pl.Float64,
        "n": pl.Int64,
        "games": pl.Int64,
    }
)
QUESTIONS = ("report", "flag", "type", "role")


def rater_agreement(frames: Frames) -> pl.DataFrame:
    """Agreement of every two raters of the same games on the same questions (compare Appendix L, Table 21).

    question: "report" (is my statement deceptive?), "flag" (is this statement deceptive?, from the same seat), "type"
    (which kind of deception, where both flagged it), "role" (who holds which role, from the same seat). Columns: game,
    condition, one, other (raters; "players" reported and rated themselves), question, share_one and share_other (how
    often each answers yes; null for type and role), raw (share of equal answers), kappa (Cohen's; null if chance
    alone would agree fully), lo, hi (of kappa, over games), n (questions that both
    answered), games.
    """
    found = []
    for question, answers, unit in _answers(frames):
        for key, part in answers.group_by(GAME, maintain_order=True):
            raters = sorted(part[RATER].unique(), key=lambda name: (name != PLAYERS, name))
            for one, other in combinations(raters, 2):
                both = part.filter(pl.col(RATER) == one).join(
                    part.filter(pl.col(RATER) == other).drop("family"), on=unit, suffix="_other"
                )
                if both.height:
                    found.append((*key, one, other, question, *_figures(both)))
    place = pl.col("question").replace_strict({name: at for at, name in enumerate(QUESTIONS)}, return_dtype=pl.Int64)
    return pl.DataFrame(found, AGREEMENT, orient="row").sort(*GAME, "one", "other", place)


def _answers(frames: Frames) -> list[tuple[str, pl.DataFrame, list[str]]]:
    """For each question: the rows with an answer (game, condition, rater, game_id, answer) and the key of a unit."""
    seen = ["game_id", "statement_id", "observer"]
    both = frames.ratings.filter("flag")
    kept = ["family", *GAME, RATER, "answer"]
    return [
        (name, rows.with_columns(answer=answer).drop_nulls("answer").select(*kept, *unit), unit)
        for name, rows, answer, unit in (
            ("report", frames.statements, pl.col("label_self").cast(pl.String), seen[:2]),
            ("flag", frames.ratings, pl.col("flag").cast(pl.String), seen),
            ("type", both, pl.col("type"), seen),
            ("role", frames.guesses, pl.col("guess"), ["game_id", "observer", "target"]),
        )
    ]


def _figures(both: pl.DataFrame) -> tuple[object, ...]:
    """share_one, share_other, raw, kappa, lo, hi, n, games of the answers in the columns answer and answer_other."""
    names = sorted({*both["answer"], *both["answer_other"]})
    size = len(names)
    cells = [(pl.col("answer") == one) & (pl.col("answer_other") == other) for one in names for other in names]
    table = both.select("game_id", "family", *(cell.cast(pl.Float64).alias(str(at)) for at, cell in enumerate(cells)))
    sums = table.drop("game_id", "family").sum().to_numpy()
    kappa, lo, hi = game_figure(table, lambda drawn: _kappa(drawn, size)[1], CHANGE)
    yes = [int((both[column] == "true").sum()) / both.height for column in ("answer", "answer_other")]
    shares = yes if set(names) <= {"true", "false"} else [None, None]
    raw = float(_kappa(sums, size)[0][0])
    return (*shares, raw, kappa, lo, hi, both.height, both["game_id"].n_unique())


def _kappa(counts: npt.NDArray[np.float64], size: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Raw agreement and Cohen's kappa of tables of counts, shape (tables, size * size); NaN if chance is 1."""
    tables = counts.reshape(-1, size, size)
    total = tables.sum(axis=(1, 2))
    raw = np.trace(tables, axis1=1, axis2=2) / total
    chance = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1) / total**2
    room = np.where(chance < 1, 1 - chance, np.nan)
    return raw, (raw - chance) / room


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "rater_agreement",
        "Judges against each other and against the players",
        rater_agreement,
        needs=(two_raters,),
        otherwise="no two raters answered the same question",
        interval=Interval.MEANS,
        source="Appendix L",
        note="Cohen's kappa is 1 for full agreement and 0 for chance agreement; lo and hi are the interval of kappa.",
        main=True,
        corrections=(Zero("kappa"),),
    ),
)
