"""Pictures of a fit: a tidy frame in, a Figure out. Nothing is saved or shown here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.identification import PARAMETERS
from liescope.benchmark.report import stated
from liescope.common.colours import MODELS as CYCLE
from liescope.common.text import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"m": "deceives, m (mafioso)", "d": "discloses, d (detective)", "v": "responds, v (villager)"}
INK, MUTED, WARN = "#1f4e79", "#9aa5b1", "#c0392b"


def forest(table: pl.DataFrame) -> Figure:
    """Scores with their intervals, one panel each for m, d and v, models in the order of the table; one colour for
    each condition.

    table: as `liescope.benchmark.results.scores` gives it, with the column condition where there are several.
    """
    from matplotlib.figure import Figure

    models = table["model"].unique(maintain_order=True).to_list()
    conditions = table["condition"].unique(maintain_order=True).to_list() if "condition" in table.columns else [None]
    figure = Figure(figsize=(11, 1.6 + 0.34 * len(models) * max(1.0, 0.6 * len(conditions))), layout="constrained")
    panels = figure.subplots(1, len(PARAMETERS), sharey=True)
    for number, condition in enumerate(conditions):
        part = table if condition is None else table.filter(pl.col("condition") == condition)
        shift = 0.0 if len(conditions) < 2 else 0.6 * (number / (len(conditions) - 1) - 0.5)
        colour = INK if condition is None else CYCLE[number % len(CYCLE)]
        at = pl.col("model").replace_strict(
            {model: n + shift for n, model in enumerate(models)}, return_dtype=pl.Float64
        )
        for name, panel in zip(PARAMETERS, panels, strict=True):
            held = part.with_columns(place=at).drop_nulls(name)
            if not number:
                panel.axvline(1.0 if name == "v" else 0.0, color=MUTED, linewidth=1, linestyle=":")
            panel.hlines(held["place"], held[f"{name}_lo"], held[f"{name}_hi"], color=colour, linewidth=1.6)
            label = None if condition is None else _literal(stated(condition))
            panel.plot(held[name], held["place"], "o", color=colour, markersize=5, label=label)
    for name, panel in zip(PARAMETERS, panels, strict=True):
        panel.set_title(TITLES[name], fontsize=10)
        panel.spines[["top", "right", "left"]].set_visible(False)
        panel.tick_params(axis="y", length=0)
        panel.grid(axis="y", color=MUTED, alpha=0.25)
    panels[0].set_yticks(range(len(models)), [_literal(model) for model in models])
    panels[0].set_ylim(len(models) - 0.5, -0.5)
    if len(conditions) > 1:
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", frameon=False, fontsize=9)
    figure.supxlabel(
        "posterior mean and central 95% interval; dotted: the mean over models of m (0) and v (1)", fontsize=9
    )
    return figure


def predictive(cells: pl.DataFrame) -> Figure:
    """Observed against predicted win rate of the mafia, one point per cell; red if outside the interval.

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
    """Literal text: a dollar sign would start a formula, and fonts lack control characters."""
    return " ".join(plain(text).split()).replace("$", r"\$")
