"""The picture of the results, drawn from the reports that `liescope evaluate` wrote; no figure stands in this file.

Run: python docs/make_figures.py REPORTS

REPORTS: a folder of reports on Mini-Mafia, one for each model that was held out and one for none, each evaluated with
`--observers`. Writes docs/images/held_out.svg.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liescope.common.colours import COLOURS

OUT = Path(__file__).parent / "images" / "held_out.svg"
SAME_MODELS = "none (other games\nof the same models)"
KINDS = {"tfidf": "TF-IDF", "embedding": "embedding", "encoder": "encoder"}
CHANCE = 0.5  # of an AUROC, and of naming one of two players


@dataclass(frozen=True)
class Series:
    """What one symbol stands for. detector: whose rows of the report, None for the detector that it evaluates."""

    detector: str | None
    metric: str
    label: str
    colour: str
    marker: str
    numbers: bool = True


@dataclass(frozen=True)
class EvaluateReport:
    """A report.json: the models held out, the detector evaluated and its kind, and the figures."""

    held_out: tuple[str, ...]
    split: str
    detector: str
    kind: str
    rows: list[dict[str, Any]]

    @property
    def name(self) -> str:
        return " and ".join(self.held_out) or SAME_MODELS

    def figure(self, detector: str | None, metric: str) -> tuple[float, float, float]:
        """Value and 95% interval, on the held-out model where there is one."""
        unit = "mafioso" if metric == "names_mafioso" else "model"
        where = f"{self.split}:{unit}={self.held_out[0]}" if self.held_out else self.split
        wanted = detector or self.detector, metric, where
        for row in self.rows:
            if (row["scorer"], row["metric"], row["where"]) == wanted and not row.get("against"):
                return row["value"], row["lo"], row["hi"]
        sys.exit(f"the report on {self.name!r} has no row {wanted}; evaluate with --observers")


def read(path: Path) -> EvaluateReport:
    data = json.loads(path.read_text(encoding="utf-8"))
    if len(data["models"]) != 1:
        sys.exit(f"{path} holds {len(data['models'])} detectors; the picture shows one")
    [(name, model)] = data["models"].items()
    return EvaluateReport(tuple(data["hold_out"]), data["split"], name, model["kind"], data["figures"])


def draw(axes: Axes, reports: list[EvaluateReport], series: list[Series], title: str) -> None:
    """A row for each report, in it a symbol with its interval for each series."""
    for one in series:
        figures = [report.figure(one.detector, one.metric) for report in reports]
        values, lows, highs = zip(*figures, strict=True)
        places = range(len(reports))
        axes.hlines(places, lows, highs, color=one.colour, linewidth=2)
        axes.plot(values, places, one.marker, color=one.colour, markersize=5, label=one.label, zorder=3)
        for place, value in enumerate(values if one.numbers else ()):
            axes.text(value, place - 0.16, f"{value:.2f}", ha="center", va="bottom", fontsize=9, color=one.colour)
    axes.vlines(CHANCE, -0.65, len(reports) - 0.72, color=COLOURS["grey"], linewidth=1, linestyle=":", zorder=0)
    axes.text(CHANCE, len(reports) - 0.47, "chance", ha="center", fontsize=8, color="#666666")
    axes.set_yticks(range(len(reports)), [report.name for report in reports])
    axes.set(ylim=(len(reports) - 0.4, -0.65), xlim=(0.2, 1.0), xticks=[0.2, 0.4, 0.6, 0.8, 1.0])
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color=COLOURS["grey"], alpha=0.25)
    axes.set_axisbelow(True)
    axes.set_title(title, loc="left", x=-0.52, fontsize=10.5, fontweight="bold", pad=24)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.53, 1.0), ncols=2, frameon=False, fontsize=9.5, borderaxespad=0.2)


def picture(reports: list[EvaluateReport]) -> Figure:
    """Two panels, narrow enough for a phone: AUROC within games, and the mafioso named from the villager's seat."""
    detector = f"{KINDS[reports[0].kind]} detector"
    own, length = (COLOURS["blue"], "o"), (COLOURS["orange"], "D")
    figure = Figure(figsize=(4.5, 6.2))
    top, bottom = figure.subplots(2, 1)
    auroc = [
        Series("control:length", "auroc_within", "length alone", *length, numbers=False),
        Series(None, "auroc_within", detector, *own),
    ]
    seat = [
        Series("observers:villager_vote", "names_mafioso", "villager's vote", COLOURS["vermillion"], "s"),
        Series(None, "names_mafioso", detector, *own),
    ]
    draw(top, reports, auroc, "Role from one statement (AUROC within games)")
    draw(bottom, reports, seat, "Games in which the mafioso is named (share)")
    bottom.set_xlabel("Rows: the model held out of training. Lines: 95% intervals.", fontsize=9, x=0.17)
    figure.subplots_adjust(left=0.345, right=0.965, top=0.9, bottom=0.085, hspace=0.42)
    return figure


def main(folder: Path, out: Path = OUT) -> None:
    reports = [read(path) for path in sorted(folder.glob("*/report.json"))]
    if len({report.kind for report in reports}) != 1:
        sys.exit(f"{folder} must hold reports on one kind of detector, a folder for each held-out model")
    reports.sort(key=lambda report: (bool(report.held_out), -report.figure(None, "auroc_within")[0]))
    matplotlib.rcParams.update({"font.size": 10, "svg.hashsalt": "liescope"})
    out.parent.mkdir(exist_ok=True)
    picture(reports).savefig(out, metadata={"Date": None, "Title": "A detector on models that it has never heard"})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
