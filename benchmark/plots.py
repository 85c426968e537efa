"""Pictures of a fit: a tidy frame in, a Figure out. Nothing is saved or shown here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.identification import PARAMETERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"m": "deceives, m (mafioso)", "d": "discloses, d (detective)", "v": "responds, v (villager)"}
INK, MUTED, WARN = "#1f4e79", "#9aa5b1", "#c0392b"


def forest(table: pl.DataFrame) -> Figure:
    """Scores with their intervals, one panel each for m, d and v, models in the order of the table.

    table: as `liescope.benchmark.results.scores` gives it.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 1.6 + 0.34 * table.height), layout="constrained")
    panels = figure.subplots(1, len(PARAMETERS), sharey=True)
    places = table.with_row_index("place")
    for name, panel in zip(PARAMETERS, panels, strict=True):
        held = places.drop_nulls(name)
        panel.axvline(1.0 if name == "v" else 0.0, color=MUTED, linewidth=1, linestyle=":")
        panel.hlines(held["place"], held[f"{name}_lo"], held[f"{name}_hi"], color=INK, linewidth=1.6)
        panel.plot(held[name], held["place"], "o", color=INK, markersize=5)
        panel.set_title(TITLES[name], fontsize=10)
        panel.spines[["top", "right", "left"]].set_visible(False)
        panel.tick_params(axis="y", length=0)
        panel.grid(axis="y", color=MUTED, alpha=0.25)
    panels[0].set_yticks(places["place"], [_literal(model) for model in table["model"]])
    panels[0].set_ylim(table.height - 0.5, -0.5)
    figure.supxlabel(
        "posterior mean and central 95% interval; dotted: the mean over models of m (0) and v (1)", fontsize=9
    )
    return figure


def predictive(cells: pl.DataFrame) -> Figure:
    """Observed against predicted win rate of the mafia, one point a cell; red where the interval misses.

    cells: as `liescope.benchmark.results.predictions` gives it.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 6), layout="constrained")
    panel = figure.subplots()
    panel.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=":")
    for inside, colour, words in ((True, INK, "inside its interval"), (False, WARN, "outside its interval")):
        part = cells.filter(pl.col("inside") == inside)
        if part.height:
            panel.vlines(part["predicted"], part["lo"], part["hi"], color=colour, linewidth=1, alpha=0.35)
            panel.plot(
                part["predicted"], part["observed"], "o", color=colour, markersize=4, label=f"{words}: {part.height}"
            )
    panel.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    panel.set_xlabel("predicted win rate of the mafia")
    panel.set_ylabel("observed win rate, with the central 95% interval of new games")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, loc="upper left", fontsize=9)
    return figure


def _literal(text: str) -> str:
    """Text as it stands: a dollar sign would begin a formula."""
    return text.replace("$", r"\$")
