"""Statistics of games: who deceives, who discloses, who responds, and all analyses of a set of games."""

from liescope.benchmark.analysing import AnalysisResult, analyse
from liescope.benchmark.bench.bench_result import BenchResult
from liescope.benchmark.bench.benching import bench
from liescope.benchmark.capability.count_sources import published_counts, published_scores
from liescope.benchmark.fitting import ConditionFit, FitResult, fit
from liescope.benchmark.reporting import ReportResult, report

__all__ = [
    "AnalysisResult",
    "BenchResult",
    "ConditionFit",
    "FitResult",
    "ReportResult",
    "analyse",
    "bench",
    "fit",
    "published_counts",
    "published_scores",
    "report",
]
