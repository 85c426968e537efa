"""Liescope: deception datasets from social-deduction games, lie detectors trained on them, and measures of who deceives
best.

Every function here does what the command of its name does, and returns a small result with polars frames:

- `play`, `fork`, `label`, `import_games`: games into a run; `status`: how far a run has got;
  `withdraw`: remove a person's words.
- `forecast`: what a run will cost, before any request is sent.
- `build`, `read`, `publish`: runs into a labelled dataset, and out to the Hub; `export`: into formats of other tools.
- `train`, `load`, `score`, `score_file`, `evaluate`, `transfer`, `audit`: lie detectors; `bench`: many of them
  on a suite of data sets; `import_probe`: one that others published.
- `fit`, `analyse`: what the games say about the players; `report`: all of it on one page.
- `view`: games in a browser; `serve`: games that people play; `environment`: a game that anybody's agents play.

`liescope.parallel` does some of it in parts on a Ray cluster.

Nothing is imported before it is used: `import liescope` loads neither torch nor pymc nor the command line.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liescope.common.errors import LiescopeError

if TYPE_CHECKING:
    from liescope.benchmark.analysing import analyse as analyse
    from liescope.benchmark.fitting import fit as fit
    from liescope.benchmark.reporting import report as report
    from liescope.detectors.probing.importing import import_probe as import_probe
    from liescope.detectors.saved import load as load
    from liescope.detectors.scoring import score as score
    from liescope.detectors.scoring import score_file as score_file
    from liescope.detectors.study.audit import audit as audit
    from liescope.detectors.study.bench import bench as bench
    from liescope.detectors.study.evaluate import evaluate as evaluate
    from liescope.detectors.study.transfer import transfer as transfer
    from liescope.detectors.training import train as train
    from liescope.generate.corpus.build import build as build
    from liescope.generate.corpus.read import read as read
    from liescope.generate.exports import export as export
    from liescope.generate.importers import import_games as import_games
    from liescope.generate.runs.forecast import forecast as forecast
    from liescope.generate.runs.fork import fork as fork
    from liescope.generate.runs.play import play as play
    from liescope.generate.runs.rating import label as label
    from liescope.generate.runs.run_progress import status as status
    from liescope.generate.runs.withdraw import withdraw as withdraw
    from liescope.live_table import environment as environment
    from liescope.publishing import publish as publish
    from liescope.web.play.serving import serve as serve
    from liescope.web.view.game_file import view as view

_HERE = Path(__file__).parent
if not (_HERE / "games").is_dir():  # no links here (an sdist, Windows): the rooms stand beside this folder
    __path__.append(str(_HERE.parent))

__version__ = version("liescope")

_HOMES = {
    "play": "liescope.generate.runs.play",
    "label": "liescope.generate.runs.rating",
    "forecast": "liescope.generate.runs.forecast",
    "fork": "liescope.generate.runs.fork",
    "status": "liescope.generate.runs.run_progress",
    "withdraw": "liescope.generate.runs.withdraw",
    "import_games": "liescope.generate.importers",
    "build": "liescope.generate.corpus.build",
    "read": "liescope.generate.corpus.read",
    "export": "liescope.generate.exports",
    "environment": "liescope.live_table",
    "publish": "liescope.publishing",
    "import_probe": "liescope.detectors.probing.importing",
    "load": "liescope.detectors.saved",
    "score": "liescope.detectors.scoring",
    "score_file": "liescope.detectors.scoring",
    "audit": "liescope.detectors.study.audit",
    "bench": "liescope.detectors.study.bench",
    "evaluate": "liescope.detectors.study.evaluate",
    "transfer": "liescope.detectors.study.transfer",
    "train": "liescope.detectors.training",
    "serve": "liescope.web.play.serving",
    "view": "liescope.web.view.game_file",
    "analyse": "liescope.benchmark.analysing",
    "fit": "liescope.benchmark.fitting",
    "report": "liescope.benchmark.reporting",
}
__all__ = ["LiescopeError", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'liescope' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
