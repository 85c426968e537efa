"""Statistics of games: who deceives, who discloses, who responds."""

from benchmark.backend import Settings
from benchmark.capability import Posterior, fit, normalise, win_probability
from benchmark.counts import Counts, count_games
from benchmark.results import predictions, scores
from benchmark.sources import load_counts
from benchmark.tables import published_counts, published_scores, read_counts

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
