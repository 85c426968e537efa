"""The chapters of a report, in the order of the Mini-Mafia paper's sections, and what stands in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.calibration import ANALYSES_OF_CALIBRATION, ANALYSES_OF_JUDGES
from liescope.benchmark.analyses.conduct import (
    ANALYSES_OF_BIDDING,
    ANALYSES_OF_LENGTHS,
    ANALYSES_OF_MISHAPS,
    ANALYSES_OF_SILENCE,
)
from liescope.benchmark.analyses.deception import ANALYSES_OF_DECEPTION, ANALYSES_OF_DETECTION, ANALYSES_OF_SUSPICION
from liescope.benchmark.analyses.disclosure import ANALYSES_OF_DISCLOSURE, ANALYSES_OF_INJECTION
from liescope.benchmark.analyses.endings import ANALYSES_OF_CONDITIONS
from liescope.benchmark.analyses.fingerprint import ANALYSES_OF_FINGERPRINT, ANALYSES_OF_PREDICTORS
from liescope.benchmark.analyses.first_claim import ANALYSES_OF_COUNTER_ACCUSATION, ANALYSES_OF_FIRST_CLAIM
from liescope.benchmark.analyses.forks import ANALYSES_OF_FORKS
from liescope.benchmark.analyses.influence import ANALYSES_OF_INFLUENCE
from liescope.benchmark.analyses.lies import ANALYSES_OF_LIES, ANALYSES_OF_MOVES
from liescope.benchmark.analyses.names import ANALYSES_OF_NAMES
from liescope.benchmark.analyses.outcomes import ANALYSES_OF_CONFIGURATION
from liescope.benchmark.analyses.people import ANALYSES_OF_PEOPLE
from liescope.benchmark.analyses.votes import ANALYSES_OF_ACCURACY, ANALYSES_OF_LAST_WORD
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.counting.counts import Counts
from liescope.benchmark.fitting import FitResult
from liescope.common.report.contents import Report, by_condition

Method = Callable[[Mapping[str, Counts], FitResult | None], Report]


def backgrounds(conditions: Mapping[str, Counts], fit: FitResult | None) -> Report:
    """Scores against fixed backgrounds, and their agreement with the capability model."""
    from liescope.benchmark.background.part import part_of_conditions

    return part_of_conditions({name: counts.cells for name, counts in conditions.items()}, _posteriors(fit))


def ratings(conditions: Mapping[str, Counts], fit: FitResult | None) -> Report:
    """Ratings of the games of each condition, and where methods disagree."""
    from liescope.benchmark.ratings.part import part

    posteriors = _posteriors(fit)
    return by_condition({name: part(counts.cells, posteriors.get(name)) for name, counts in conditions.items()})


def _posteriors(fit: FitResult | None) -> dict[str, Posterior]:
    return {one.condition: one.posterior for one in fit.fits} if fit else {}


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter. To add a method on counts, put its function into `method`; to move an analysis here, name it.

    title: its heading. method: of counts (`liescope.benchmark.reporting.chapters`). analyses: those that stand here.
    rest: also those that no chapter names.
    """

    title: str
    method: Method | None = None
    analyses: tuple[Analysis, ...] = ()
    rest: bool = False


CAPABILITIES = "Who deceives, who detects, who discloses"
PEOPLE = "People"
SETTINGS = "Games and settings"

CHAPTERS = (
    Chapter(CAPABILITIES),
    Chapter("Against fixed backgrounds", backgrounds),
    Chapter("Ratings", ratings),
    Chapter(
        "Votes, names and the last word", analyses=(*ANALYSES_OF_ACCURACY, *ANALYSES_OF_NAMES, *ANALYSES_OF_LAST_WORD)
    ),
    Chapter(
        "What players disclose, claim and leave unsaid",
        analyses=(
            *ANALYSES_OF_DISCLOSURE,
            *ANALYSES_OF_COUNTER_ACCUSATION,
            *ANALYSES_OF_FIRST_CLAIM,
            *ANALYSES_OF_INJECTION,
            *ANALYSES_OF_LENGTHS,
            *ANALYSES_OF_BIDDING,
            *ANALYSES_OF_FINGERPRINT,
        ),
    ),
    Chapter(
        "Silences, unusable replies and drawn votes",
        analyses=(*ANALYSES_OF_SILENCE, *ANALYSES_OF_MISHAPS, *ANALYSES_OF_INFLUENCE),
    ),
    Chapter(
        "Does the lie work",
        analyses=(
            *ANALYSES_OF_MOVES,
            *ANALYSES_OF_LIES,
            *ANALYSES_OF_FORKS,
            *ANALYSES_OF_DECEPTION,
            *ANALYSES_OF_SUSPICION,
            *ANALYSES_OF_CALIBRATION,
            *ANALYSES_OF_DETECTION,
            *ANALYSES_OF_PREDICTORS,
            *ANALYSES_OF_JUDGES,
        ),
    ),
    Chapter("Who wins, and who is voted out", rest=True),
    Chapter("The same games under other conditions", analyses=ANALYSES_OF_CONDITIONS),
    Chapter(PEOPLE, analyses=ANALYSES_OF_PEOPLE),
    Chapter(SETTINGS, analyses=ANALYSES_OF_CONFIGURATION),
)
