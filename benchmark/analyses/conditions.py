"""How talk and ratings change from one condition to another."""

from __future__ import annotations

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import RATER
from liescope.benchmark.analyses.corrections import Zero
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_difference
from liescope.benchmark.analyses.needs import REPORTS_OR_RATINGS, two_conditions
from liescope.benchmark.analyses.outcomes import pairs_of_conditions

_KEYS = {"game": pl.String, "model": pl.String, "learning": pl.Boolean, RATER: pl.String, "role": pl.String}
_SCHEMA = pl.Schema(
    {
        **_KEYS,
        "metric": pl.String,
        "one": pl.String,
        "other": pl.String,
        "mean_one": pl.Float64,
        "mean_other": pl.Float64,
        "difference": pl.Float64,
        "lo": pl.Float64,
        "hi": pl.Float64,
        "games_one": pl.Int64,
        "games_other": pl.Int64,
    }
)


def condition_talk(frames: Frames) -> pl.DataFrame:
    """How talk and ratings differ between every two conditions of a game.

    metric: "reported" (share of statements that the speaker reports as deceptive), "flagged" (mean share of observers
    who flag a statement), "suspicion" (mean of the ratings), each by the speaker's role. Columns: game, model (the
    speaker's), learning, rater, role, metric, one, other (conditions), mean_one, mean_other, difference (one minus
    other), lo, hi (from a jackknife over games), games_one, games_other.
    """
    found = []
    for metric, rows in _metrics(frames):
        for key, part in rows.group_by(list(_KEYS), maintain_order=True):
            for one, other in pairs_of_conditions(frames):
                first, second = (part.filter(pl.col("condition") == name) for name in (one, other))
                if first.height and second.height:
                    figures = game_difference(first, second, "value")
                    means = [side["value"].mean() for side in (first, second)]
                    games = [side["game_id"].n_unique() for side in (first, second)]
                    found.append((*key, metric, one, other, *means, *figures, *games))
    return pl.DataFrame(found, _SCHEMA, orient="row").sort(list(_SCHEMA)[:8])


def _metrics(frames: Frames) -> list[tuple[str, pl.DataFrame]]:
    columns = ["game_id", "family", "condition", *_KEYS, "value"]
    return [
        (
            metric,
            rows.with_columns(role="speaker_role", value=value.cast(pl.Float64)).drop_nulls("value").select(columns),
        )
        for metric, rows, value in (
            ("reported", frames.statements, pl.col("label_self")),
            ("flagged", frames.statements, pl.col("peer_rate")),
            ("suspicion", frames.ratings, pl.col("suspicion")),
        )
    ]


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "condition_talk",
        "Talk and ratings: one condition against another",
        condition_talk,
        needs=(two_conditions, REPORTS_OR_RATINGS),
        otherwise="no model's statements were rated in two conditions",
        interval=Interval.MEAN_DIFFERENCE,
        note="Above zero, the first condition has more; an interval that contains zero leaves the sign open.",
        main=True,
        corrections=(Zero(draws=("games_one", "games_other")),),
    ),
)
