"""Writes docs/settings.md, the tables of all settings, from their declarations: python docs/make_settings.py"""

from __future__ import annotations

from pathlib import Path

from liescope.benchmark.benchmark_settings import (
    AnalyseSettings,
    FitSettings,
    ReportSettings,
)
from liescope.common.settings import settings_of, settings_table
from liescope.detectors.detector_settings import (
    AuditSettings,
    BenchSettings,
    EvaluateSettings,
    ScoreFileSettings,
    TrainSettings,
    TransferSettings,
)
from liescope.games.game_registry import game_options
from liescope.generate.corpus.build import BuildSettings
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.fork import ContinuationSettings
from liescope.generate.runs.plan_games import PlanSettings
from liescope.generate.runs.play import RatingSettings
from liescope.publishing import PublishSettings
from liescope.web.web_settings import ServeSettings, ViewSettings

FILE = Path(__file__).with_name("settings.md")
TABLES = {
    "play": PlanSettings,
    "play: options of games": game_options(),
    "play, fork, label: limits, which may differ each time a run is resumed": Limits,
    "fork": ContinuationSettings,
    "label": RatingSettings,
    "build": BuildSettings,
    "train": TrainSettings,
    "score": ScoreFileSettings,
    "evaluate": EvaluateSettings,
    "bench": BenchSettings,
    "transfer": TransferSettings,
    "audit": AuditSettings,
    "fit": FitSettings,
    "analyse": AnalyseSettings,
    "report": ReportSettings,
    "publish": PublishSettings,
    "view": ViewSettings,
    "serve": ServeSettings,
}


CONFIG = """\
## A config file

Every command takes its options from a file, too: `liescope train --config study.toml`. The file is TOML, with a section
for each command that it is for:

```toml
[train]
kind = "linear"             # an argument, by its name
corpus = "corpus/first"     # an option, without its dashes
out = "models/linear"
strength = 2.0              # an option of the kind
mask-role-words = true      # false is --no-mask-role-words; mask_role_words is the same

[evaluate]
models = ["models/linear"]  # what may be repeated is a list
corpus = "corpus/first"
out = "reports/linear"
observers = true            # a switch
```

What is typed wins over the file; a list that is typed replaces that of the file. Paths are those of the folder in which
the command runs. Texts are in quotes, numbers and `true` or `false` are not. A key that is no option, a value of
another type or beyond its limits is an error that names the file, the key and what is allowed, before anything is done.

A file holds no secrets: one with a key or token in it is refused, and keys of models come from the environment. Where a
key may go is typed as well: `allow_key` is refused in a file.

The `run.toml` that `play`, `fork` and `label` write into a run is such a file. In the folder of a run, `out` is that
folder where the file says nothing else, so that `liescope play --config runs/first/run.toml` goes on with the run.
"""


def page() -> str:
    """The page, made of the declarations."""
    lines = [
        "# Settings",
        "",
        "The settings of each command and of the function of its name, which takes them as keywords: `--max-cost` is",
        "`max_cost`, and what may be repeated is a list (`--player` is `players`). This page is made of the",
        "declarations.",
        "",
        *CONFIG.splitlines(),
    ]
    for heading, declared in TABLES.items():
        lines += [
            "",
            f"## {heading}",
            "",
            *settings_table(declared if isinstance(declared, list) else settings_of(declared).values()),
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
