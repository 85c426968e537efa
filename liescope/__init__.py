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
    from liescope.benchmark.analysing import analyse
    from liescope.benchmark.fitting import fit
    from liescope.benchmark.reporting import report
    from liescope.detectors.probing.importing import import_probe
    from liescope.detectors.saved import load
    from liescope.detectors.scoring import score, score_file
    from liescope.detectors.study.audit import audit
    from liescope.detectors.study.bench import bench
    from liescope.detectors.study.evaluate import evaluate
    from liescope.detectors.study.transfer import transfer
    from liescope.detectors.training import train
    from liescope.generate.corpus.build import build
    from liescope.generate.corpus.read import read
    from liescope.generate.exports import export
    from liescope.generate.importers import import_games
    from liescope.generate.runs.forecast import forecast
    from liescope.generate.runs.fork import fork
    from liescope.generate.runs.play import play
    from liescope.generate.runs.rating import label
    from liescope.generate.runs.run_progress import status
    from liescope.generate.runs.withdraw import withdraw
    from liescope.live_table import environment
    from liescope.publishing import publish
    from liescope.web.play.serving import serve
    from liescope.web.view.game_file import view

_HERE = Path(__file__).parent
if not (_HERE / "games").is_dir():  # no links here (an sdist, Windows): the rooms stand beside this folder
    __path__.append(str(_HERE.parent))

__version__ = version("liescope")
__all__ = [
    "LiescopeError",
    "analyse",
    "audit",
    "bench",
    "build",
    "environment",
    "evaluate",
    "export",
    "fit",
    "forecast",
    "fork",
    "import_games",
    "import_probe",
    "label",
    "load",
    "play",
    "publish",
    "read",
    "report",
    "score",
    "score_file",
    "serve",
    "status",
    "train",
    "transfer",
    "view",
    "withdraw",
]

_ROOMS = {
    "liescope.generate.runs.play": ("play",),
    "liescope.generate.runs.rating": ("label",),
    "liescope.generate.runs.forecast": ("forecast",),
    "liescope.generate.runs.fork": ("fork",),
    "liescope.generate.runs.run_progress": ("status",),
    "liescope.generate.runs.withdraw": ("withdraw",),
    "liescope.generate.importers": ("import_games",),
    "liescope.generate.corpus.build": ("build",),
    "liescope.generate.corpus.read": ("read",),
    "liescope.generate.exports": ("export",),
    "liescope.live_table": ("environment",),
    "liescope.publishing": ("publish",),
    "liescope.detectors.probing.importing": ("import_probe",),
    "liescope.detectors.saved": ("load",),
    "liescope.detectors.scoring": ("score", "score_file"),
    "liescope.detectors.study.audit": ("audit",),
    "liescope.detectors.study.bench": ("bench",),
    "liescope.detectors.study.evaluate": ("evaluate",),
    "liescope.detectors.study.transfer": ("transfer",),
    "liescope.detectors.training": ("train",),
    "liescope.web.play.serving": ("serve",),
    "liescope.web.view.game_file": ("view",),
    "liescope.benchmark.analysing": ("analyse",),
    "liescope.benchmark.fitting": ("fit",),
    "liescope.benchmark.reporting": ("report",),
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'liescope' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
