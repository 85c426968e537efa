"""All analyses in the order in which a report reads best: what was played, who won, how it came, what was learned."""

from __future__ import annotations

from liescope.benchmark.analyses import (
    bidding,
    calibration,
    configuration,
    deception,
    detection,
    endings,
    fingerprint,
    game_length,
    lessons,
    naming,
    nights,
    outcomes,
    predictors,
    suspicion,
    timeline,
    votes,
)
from liescope.benchmark.analyses.analysis import Analysis

ANALYSES: tuple[Analysis, ...] = (
    *configuration.ANALYSES,
    *outcomes.ANALYSES,
    *endings.ANALYSES,
    *votes.ANALYSES,
    *nights.ANALYSES,
    *bidding.ANALYSES,
    *game_length.ANALYSES,
    *deception.ANALYSES,
    *suspicion.ANALYSES,
    *calibration.ANALYSES,
    *detection.ANALYSES,
    *timeline.ANALYSES,
    *fingerprint.ANALYSES,
    *predictors.ANALYSES,
    *naming.ANALYSES,
    *lessons.ANALYSES,
)

# The analyses whose tables a short account shows.
MAIN = (
    "win_rates",
    "learning_effect",
    "triadic_dyadic",
    "wolf_losses",
    "jester_fate",
    "wolf_votes_first_day",
    "vote_ranks",
    "deception_rates",
    "suspicion_attracted",
    "calibration_gap",
    "detection_by_speaker",
    "fingerprint",
    "predictors",
    "named_roles",
    "lesson_orders",
    "lesson_third_order",
)
