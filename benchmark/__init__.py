"""Statistics of games: who deceives, who discloses, who responds, and all analyses of a set of games."""

from liescope.benchmark.analysing import AnalysisResult, analyse
from liescope.benchmark.fitting import ConditionFit, FitResult, fit
from liescope.benchmark.tables import published_counts, published_scores

__all__ = [
    "AnalysisResult",
    "ConditionFit",
    "FitResult",
    "analyse",
    "fit",
    "published_counts",
    "published_scores",
]
