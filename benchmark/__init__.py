"""Statistics of games: who deceives, who discloses, who responds, and all analyses of a set of games."""

from liescope.benchmark.analysing import AnalysisResult, analyse
from liescope.benchmark.counting.tables import published_counts, published_scores
from liescope.benchmark.fitting import ConditionFit, FitResult, fit

__all__ = [
    "AnalysisResult",
    "ConditionFit",
    "FitResult",
    "analyse",
    "fit",
    "published_counts",
    "published_scores",
]
