"""All analyses in report order: what was played, who won, how, and what was learned."""

from __future__ import annotations

from liescope.benchmark.analyses import (
    conduct,
    deception,
    disclosure,
    fingerprint,
    first_claim,
    forks,
    names,
    outcomes,
    rated,
    votes,
)
from liescope.benchmark.analyses.analysis import Analysis
from liescope.common.registry import Registry

PACKAGES: Registry[tuple[Analysis, ...]] = Registry("set of analyses", "liescope.analyses", {})
"""The analyses of other packages: an entry point names a tuple of them."""

SUBJECTS: dict[str, tuple[Analysis, ...]] = {
    "configuration": outcomes.ANALYSES_OF_CONFIGURATION,
    "outcomes": outcomes.ANALYSES_OF_OUTCOMES,
    "endings": outcomes.ANALYSES_OF_ENDINGS,
    "votes": votes.ANALYSES_OF_VOTES,
    "accuracy": votes.ANALYSES_OF_ACCURACY,
    "last word": votes.ANALYSES_OF_LAST_WORD,
    "names": names.ANALYSES_OF_NAMES,
    "nights": conduct.ANALYSES_OF_NIGHTS,
    "bidding": conduct.ANALYSES_OF_BIDDING,
    "silence": conduct.ANALYSES_OF_SILENCE,
    "disclosure": disclosure.ANALYSES_OF_DISCLOSURE,
    "lengths": conduct.ANALYSES_OF_LENGTHS,
    "counter accusation": first_claim.ANALYSES_OF_COUNTER_ACCUSATION,
    "first claim": first_claim.ANALYSES_OF_FIRST_CLAIM,
    "game length": conduct.ANALYSES_OF_GAME_LENGTH,
    "deception": deception.ANALYSES_OF_DECEPTION,
    "suspicion": deception.ANALYSES_OF_SUSPICION,
    "calibration": deception.ANALYSES_OF_CALIBRATION,
    "detection": deception.ANALYSES_OF_DETECTION,
    "forks": forks.ANALYSES_OF_FORKS,
    "timeline": conduct.ANALYSES_OF_TIMELINE,
    "fingerprint": fingerprint.ANALYSES_OF_FINGERPRINT,
    "predictors": fingerprint.ANALYSES_OF_PREDICTORS,
    "raters": rated.ANALYSES_OF_RATERS,
    "naming": rated.ANALYSES_OF_NAMING,
    "lessons": rated.ANALYSES_OF_LESSONS,
    **{name: PACKAGES[name] for name in PACKAGES},
}
"""The analyses by subject. A new module takes two lines here, another package none."""
ANALYSES: tuple[Analysis, ...] = tuple(analysis for analyses in SUBJECTS.values() for analysis in analyses)
