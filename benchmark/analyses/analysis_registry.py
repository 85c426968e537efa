"""All analyses in report order: what was played, who won, how, and what was learned."""

from __future__ import annotations

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.calibration import ANALYSES_OF_CALIBRATION, ANALYSES_OF_JUDGES
from liescope.benchmark.analyses.conduct import (
    ANALYSES_OF_BIDDING,
    ANALYSES_OF_LENGTHS,
    ANALYSES_OF_MISHAPS,
    ANALYSES_OF_NIGHTS,
    ANALYSES_OF_SILENCE,
)
from liescope.benchmark.analyses.deception import ANALYSES_OF_DECEPTION, ANALYSES_OF_DETECTION, ANALYSES_OF_SUSPICION
from liescope.benchmark.analyses.disclosure import ANALYSES_OF_DISCLOSURE, ANALYSES_OF_INJECTION
from liescope.benchmark.analyses.endings import (
    ANALYSES_OF_CONDITIONS,
    ANALYSES_OF_ENDINGS,
    ANALYSES_OF_GAME_LENGTH,
    ANALYSES_OF_TIMELINE,
)
from liescope.benchmark.analyses.fingerprint import ANALYSES_OF_FINGERPRINT, ANALYSES_OF_PREDICTORS
from liescope.benchmark.analyses.first_claim import ANALYSES_OF_COUNTER_ACCUSATION, ANALYSES_OF_FIRST_CLAIM
from liescope.benchmark.analyses.forks import ANALYSES_OF_FORKS
from liescope.benchmark.analyses.influence import ANALYSES_OF_INFLUENCE
from liescope.benchmark.analyses.lessons import ANALYSES_OF_LESSONS
from liescope.benchmark.analyses.lies import ANALYSES_OF_LIES, ANALYSES_OF_MOVES
from liescope.benchmark.analyses.names import ANALYSES_OF_NAMES, ANALYSES_OF_NAMING
from liescope.benchmark.analyses.outcomes import ANALYSES_OF_CONFIGURATION, ANALYSES_OF_OUTCOMES
from liescope.benchmark.analyses.people import ANALYSES_OF_PEOPLE
from liescope.benchmark.analyses.votes import ANALYSES_OF_ACCURACY, ANALYSES_OF_LAST_WORD, ANALYSES_OF_VOTES
from liescope.common.registry import Registry

PACKAGES: Registry[tuple[Analysis, ...]] = Registry("set of analyses", "liescope.analyses", {})
"""The analyses of other packages: an entry point names a tuple of them."""

ANALYSES: tuple[Analysis, ...] = (
    *ANALYSES_OF_CONFIGURATION,
    *ANALYSES_OF_OUTCOMES,
    *ANALYSES_OF_CONDITIONS,
    *ANALYSES_OF_ENDINGS,
    *ANALYSES_OF_VOTES,
    *ANALYSES_OF_ACCURACY,
    *ANALYSES_OF_LAST_WORD,
    *ANALYSES_OF_NAMES,
    *ANALYSES_OF_NIGHTS,
    *ANALYSES_OF_BIDDING,
    *ANALYSES_OF_SILENCE,
    *ANALYSES_OF_DISCLOSURE,
    *ANALYSES_OF_MISHAPS,
    *ANALYSES_OF_INFLUENCE,
    *ANALYSES_OF_LENGTHS,
    *ANALYSES_OF_COUNTER_ACCUSATION,
    *ANALYSES_OF_FIRST_CLAIM,
    *ANALYSES_OF_INJECTION,
    *ANALYSES_OF_GAME_LENGTH,
    *ANALYSES_OF_DECEPTION,
    *ANALYSES_OF_SUSPICION,
    *ANALYSES_OF_CALIBRATION,
    *ANALYSES_OF_DETECTION,
    *ANALYSES_OF_MOVES,
    *ANALYSES_OF_LIES,
    *ANALYSES_OF_FORKS,
    *ANALYSES_OF_PEOPLE,
    *ANALYSES_OF_TIMELINE,
    *ANALYSES_OF_FINGERPRINT,
    *ANALYSES_OF_PREDICTORS,
    *ANALYSES_OF_JUDGES,
    *ANALYSES_OF_NAMING,
    *ANALYSES_OF_LESSONS,
    *(analysis for name in PACKAGES for analysis in PACKAGES[name]),
)
"""Those of a new module take two lines here, those of another package none."""
