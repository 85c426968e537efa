"""What judges who read a game afterwards made of it: agreement with each other and the players, and roles named."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from liescope.benchmark.analyses.analysis import GUESSES, Analysis, two_raters
from liescope.benchmark.analyses.analysis_tables import Means, in_order
from liescope.benchmark.analyses.conditions_of_play import GAME, PLAYERS, RATER, united_roles
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, Zero, game_figure
from liescope.common.statistics import CHANGE, Floats

AGREEMENT = pl.Schema(
    {
        **dict.fromkeys((*GAME, "one", "other", "question"), pl.String()),
        **dict.fromkeys(("share_one", "share_other", "raw", "kappa", "lo", "hi"), pl.Float64()),
        **dict.fromkeys(("n", "games"), pl.Int64()),
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
    return pl.DataFrame(found, AGREEMENT, orient="row").sort(*GAME, "one", "other", in_order("question", QUESTIONS))


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


def _kappa(counts: Floats, size: int) -> tuple[Floats, Floats]:
    """Raw agreement and Cohen's kappa of tables of counts, shape (tables, size * size); NaN if chance is 1."""
    tables = counts.reshape(-1, size, size)
    total = tables.sum(axis=(1, 2))
    raw = np.trace(tables, axis1=1, axis2=2) / total
    chance = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1) / total**2
    room = np.where(chance < 1, 1 - chance, np.nan)
    return raw, (raw - chance) / room


ANALYSES_OF_JUDGES: tuple[Analysis, ...] = (
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


ALL = "all"


_NAMING = (*GAME, RATER, "observer_role", "target_role")


def _guesses(frames: Frames) -> pl.DataFrame:
    """The judge's guesses of hidden roles, and by chance: even_chance, one in the number of roles dealt, the paper's
    baseline; roster_chance, the accuracy of dealing the roster, without what the observer knows, at random. Each also
    with the role named, with the seat it looked from, and with both as "all".

    Everybody knows its own role and some roles know each other (`united_roles`), so their guesses about partners are
    left out.
    """
    dealt = frames.seats.group_by("game_id").agg(roles=pl.col("role").n_unique(), seats=pl.len())
    of_role = frames.seats.group_by("game_id", target_role="role").agg(of_role=pl.len())
    same = (pl.col("observer_role") == pl.col("target_role")).cast(pl.Int64)
    united = united_roles().rename({"role": "observer_role"}).with_columns(united=True)
    known = pl.when("united").then(pl.col("of_own")).otherwise(1)
    guesses = (
        frames.guesses.drop_nulls("guess")
        .join(united, on=["game", "observer_role"], how="left")
        .with_columns(pl.col("united").fill_null(False))
        .filter(~(pl.col("united") & (pl.col("observer_role") == pl.col("target_role"))))
        .join(dealt, on="game_id")
        .join(of_role, on=["game_id", "target_role"])
        .join(of_role.rename({"target_role": "observer_role", "of_role": "of_own"}), on=["game_id", "observer_role"])
        .select(
            "game_id",
            "family",
            *_NAMING,
            right=pl.col("guess") == pl.col("target_role"),
            even_chance=1 / pl.col("roles"),
            roster_chance=(pl.col("of_role").cast(pl.Int64) - same) / (pl.col("seats") - known),
        )
    )
    everyone = pl.lit(ALL)
    return pl.concat(
        [
            guesses.with_columns(observer_role=everyone, target_role=everyone),
            guesses.with_columns(observer_role=everyone),
            guesses.with_columns(target_role=everyone),
            guesses,
        ]
    )


ANALYSES_OF_NAMING: tuple[Analysis, ...] = (
    Analysis(
        "named_roles",
        "Hidden roles named by a judge",
        Means(
            _guesses,
            "right",
            _NAMING,
            also={name: pl.col(name).mean() for name in ("even_chance", "roster_chance")},
            sort=(*GAME, RATER, pl.col("observer_role") != ALL, pl.col("target_role") != ALL, *_NAMING[3:]),
        ),
        needs=(GUESSES,),
        source="section 5.4",
        note="At roster_chance, the judge read no more from the transcript than the roster tells that seat.",
        main=True,
    ),
)
