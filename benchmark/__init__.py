"""Statistics of games: who deceives, who discloses, who responds."""

from liescope.benchmark.backend import Settings
from liescope.benchmark.capability import Posterior, fit, normalise, win_probability
from liescope.benchmark.counts import Counts, count_games
from liescope.benchmark.results import predictions, scores
from liescope.benchmark.sources import load_counts
from liescope.benchmark.tables import published_counts, published_scores, read_counts

__all__ = [
    "Counts",
    "Posterior",
    "Settings",
    "count_games",
    "fit",
    "load_counts",
    "normalise",
    "predictions",
    "published_counts",
    "published_scores",
    "read_counts",
    "scores",
    "win_probability",
]
