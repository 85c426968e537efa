"""Writes docs/settings.md, the tables of all settings, from their declarations: python docs/make_settings.py"""

from __future__ import annotations

from pathlib import Path

from liescope.benchmark.benchmark_settings import AnalyseSettings, FitSettings, LeaderboardSettings, ReportSettings
from liescope.common.settings import settings_table
from liescope.detectors.detector_settings import (
    AdaptSettings,
    AuditSettings,
    EvaluateSettings,
    ScoreSettings,
    TrainSettings,
    TransferSettings,
)
from liescope.games.game_registry import table_options
from liescope.generate.corpus.build import BuildSettings
from liescope.generate.players.run_limits import RunSettings
from liescope.generate.runs.fork import ContinuationSettings
from liescope.generate.runs.plan_games import PlanSettings
from liescope.generate.runs.play import RatingSettings
from liescope.publishing import PublishSettings
from liescope.web.web_settings import ServeSettings, ViewSettings

FILE = Path(__file__).with_name("settings.md")
TABLES = {
    "play": PlanSettings,
    "play: options of games": table_options(),
    "play, fork, label: limits, which may differ each time a run is resumed": RunSettings,
    "fork": ContinuationSettings,
    "label": RatingSettings,
    "build": BuildSettings,
    "train": TrainSettings,
    "score": ScoreSettings,
    "evaluate": EvaluateSettings,
    "transfer": TransferSettings,
    "adapt": AdaptSettings,
    "audit": AuditSettings,
    "fit": FitSettings,
    "analyse": AnalyseSettings,
    "report": ReportSettings,
    "leaderboard": LeaderboardSettings,
    "publish": PublishSettings,
    "view": ViewSettings,
    "serve": ServeSettings,
}


def page() -> str:
    """The page, made of the declarations."""
    lines = [
        "# Settings",
        "",
        "The settings of each command and of the function of its name, which takes them as keywords: `--max-cost` is",
        "`max_cost`, and what may be repeated is a list (`--player` is `players`). This page is made of the",
        "declarations.",
    ]
    for heading, declared in TABLES.items():
        lines += ["", f"## {heading}", "", *settings_table(declared)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
