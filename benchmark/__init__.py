"""Statistics of games: who deceives, who discloses, who responds, and all analyses of a set of games."""

from liescope.benchmark.analysing import AnalysisResult, analyse
from liescope.benchmark.capability.count_sources import published_counts, published_scores
from liescope.benchmark.fitting import ConditionFit, FitResult, fit
from liescope.benchmark.reporting import ReportResult, report

__all__ = [
    "AnalysisResult",
    "ConditionFit",
    "FitResult",
    "ReportResult",
    "analyse",
    "fit",
    "published_counts",
    "published_scores",
    "report",
]
