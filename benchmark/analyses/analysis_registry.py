"""All analyses in report order: what was played, who won, how, and what was learned."""

from __future__ import annotations

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.conduct import (
    ANALYSES_OF_BIDDING,
    ANALYSES_OF_GAME_LENGTH,
    ANALYSES_OF_LENGTHS,
    ANALYSES_OF_NIGHTS,
    ANALYSES_OF_SILENCE,
    ANALYSES_OF_TIMELINE,
)
from liescope.benchmark.analyses.deception import (
    ANALYSES_OF_CALIBRATION,
    ANALYSES_OF_DECEPTION,
    ANALYSES_OF_DETECTION,
    ANALYSES_OF_SUSPICION,
)
from liescope.benchmark.analyses.disclosure import ANALYSES_OF_DISCLOSURE
from liescope.benchmark.analyses.fingerprint import ANALYSES_OF_FINGERPRINT, ANALYSES_OF_PREDICTORS
from liescope.benchmark.analyses.first_claim import ANALYSES_OF_COUNTER_ACCUSATION, ANALYSES_OF_FIRST_CLAIM
from liescope.benchmark.analyses.forks import ANALYSES_OF_FORKS
from liescope.benchmark.analyses.judged import ANALYSES_OF_JUDGES, ANALYSES_OF_LESSONS, ANALYSES_OF_NAMING
from liescope.benchmark.analyses.lies import ANALYSES_OF_LIES
from liescope.benchmark.analyses.names import ANALYSES_OF_NAMES
from liescope.benchmark.analyses.outcomes import ANALYSES_OF_CONFIGURATION, ANALYSES_OF_ENDINGS, ANALYSES_OF_OUTCOMES
from liescope.benchmark.analyses.votes import ANALYSES_OF_ACCURACY, ANALYSES_OF_LAST_WORD, ANALYSES_OF_VOTES
from liescope.common.registry import Registry

PACKAGES: Registry[tuple[Analysis, ...]] = Registry("set of analyses", "liescope.analyses", {})
"""The analyses of other packages: an entry point names a tuple of them."""

SUBJECTS: dict[str, tuple[Analysis, ...]] = {
    "configuration": ANALYSES_OF_CONFIGURATION,
    "outcomes": ANALYSES_OF_OUTCOMES,
    "endings": ANALYSES_OF_ENDINGS,
    "votes": ANALYSES_OF_VOTES,
    "accuracy": ANALYSES_OF_ACCURACY,
    "last word": ANALYSES_OF_LAST_WORD,
    "names": ANALYSES_OF_NAMES,
    "nights": ANALYSES_OF_NIGHTS,
    "bidding": ANALYSES_OF_BIDDING,
    "silence": ANALYSES_OF_SILENCE,
    "disclosure": ANALYSES_OF_DISCLOSURE,
    "lengths": ANALYSES_OF_LENGTHS,
    "counter accusation": ANALYSES_OF_COUNTER_ACCUSATION,
    "first claim": ANALYSES_OF_FIRST_CLAIM,
    "game length": ANALYSES_OF_GAME_LENGTH,
    "deception": ANALYSES_OF_DECEPTION,
    "suspicion": ANALYSES_OF_SUSPICION,
    "calibration": ANALYSES_OF_CALIBRATION,
    "detection": ANALYSES_OF_DETECTION,
    "lies": ANALYSES_OF_LIES,
    "forks": ANALYSES_OF_FORKS,
    "timeline": ANALYSES_OF_TIMELINE,
    "fingerprint": ANALYSES_OF_FINGERPRINT,
    "predictors": ANALYSES_OF_PREDICTORS,
    "judges": ANALYSES_OF_JUDGES,
    "naming": ANALYSES_OF_NAMING,
    "lessons": ANALYSES_OF_LESSONS,
    **{name: PACKAGES[name] for name in PACKAGES},
}
"""The analyses by subject. A new module takes two lines here, another package none."""
ANALYSES: tuple[Analysis, ...] = tuple(analysis for analyses in SUBJECTS.values() for analysis in analyses)
