"""Models added to a published fit: all games are fitted together, on the scale of the models that were there before.

Scores compare only within one fit, because the mean of all m is 0 and that of all v is 1. A model more moves both
means, and with them every score. Here each draw is shifted and scaled so that these means are those of the models that
set the scale of the old report; no win probability changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.count_sources import read_counts
from liescope.benchmark.capability.counts import Counts, add
from liescope.benchmark.capability.results import ROLES, Fit
from liescope.benchmark.capability.variants import PARAMETERS
from liescope.common.errors import BadData, UsageError
from liescope.common.figures import svg
from liescope.common.reading import read_text, regular
from liescope.common.report.contents import Column, Report, Section, Table, with_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# of a report's folder
COUNTS, SCORES, SUMMARY, EXTENDED = "counts.csv", "capability.csv", "capability.json", "extended.csv"
SETS_SCALE = "sets_scale"
_ENDS = ("", "_lo", "_hi")


@dataclass(frozen=True, slots=True)
class OldReport:
    """A report that `fit` wrote. scores: model, and m, m_lo, m_hi and the same of d and v; reference: for m and v, the
    models whose mean sets the scale: those that held the role; variant: the model that was fitted, "" if it does not
    say.
    """

    folder: Path
    counts: Counts
    scores: pl.DataFrame
    reference: Mapping[str, tuple[str, ...]]
    variant: str = ""

    def joined(self, conditions: Mapping[str, Counts], without: Sequence[str] = ()) -> dict[str, Counts]:
        """New games, by condition, with those of the report. without: models left out of the new games. Raises
        UsageError if they are of several conditions, or if games of a model that is left out are in the report.
        """
        if kept := sorted(set(without) & set(self.scores["model"])):
            raise UsageError(f"{self.folder} counts games of {kept[0]}, which --without cannot take out; fit them anew")
        if len(conditions) > 1:
            raise UsageError(
                f"the new games are of {len(conditions)} conditions, and {self.folder} reports one: name runs that "
                "were played as its games were, or choose them with --condition"
            )
        return {condition: add([self.counts, counts]) for condition, counts in conditions.items()}


def read_report(folder: Path) -> OldReport:
    """Raises UsageError for a folder that is no report of one condition, BadData for one that cannot be read."""
    if missing := [name for name in (COUNTS, SCORES) if not (folder / name).is_file()]:
        raise UsageError(f"{folder} has no {missing[0]}; --extend takes the folder of a report that fit has written")
    scores = _table(folder / SCORES)
    if "condition" in scores.columns:
        raise UsageError(f"{folder} reports several conditions; extend a report of one, or one with all of them pooled")
    wanted = [f"{name}{end}" for name in PARAMETERS for end in ("", "_lo", "_hi")]
    if lacking := [name for name in ("model", *wanted) if name not in scores.columns]:
        raise BadData(f"{folder / SCORES} lacks the column {lacking[0]}; fit its games again")
    scores = scores.with_columns(pl.col(wanted).cast(pl.Float64, strict=False)).cast({"model": pl.String})
    counts = read_counts(folder / COUNTS)
    setters = set(scores["model"])
    if (folder / EXTENDED).is_file():  # it went on from another report, and has the scale of that one
        earlier = _table(folder / EXTENDED)
        if not {"model", SETS_SCALE} <= set(earlier.columns):
            raise BadData(f"{folder / EXTENDED} lacks the columns model and {SETS_SCALE}; fit its games again")
        setters = set(earlier.filter(pl.col(SETS_SCALE).cast(pl.String) == "true")["model"].cast(pl.String))
    held = {name: setters & set(counts.cells[ROLES[name]]) for name in ("m", "v")}
    if not all(held.values()):
        raise BadData(f"the counts and the scores in {folder} are not of the same models; fit its games again")
    reference = {name: tuple(sorted(models)) for name, models in held.items()}
    return OldReport(folder, counts, scores, reference, _variant(folder / SUMMARY))


def _variant(path: Path) -> str:
    try:
        data = json.loads(read_text(path))
    except (BadData, OSError, ValueError, RecursionError):
        return ""
    return str(data.get("variant", "")) if isinstance(data, dict) else ""


def _table(path: Path) -> pl.DataFrame:
    try:
        return pl.read_csv(regular(path))
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        raise BadData(f"{path} cannot be read as a table ({error}); fit the games of this report again") from None


def anchored(fit: Fit, reference: Mapping[str, Sequence[str]]) -> Fit:
    """The same fit on the scale of some of its models: their mean m is 0, v is 1 and, with an offset, b is 0, in every
    draw. reference: those models, for m and for v (and b). No logit changes.

    Raises UsageError if one of them has no score in this fit, or if their mean v is not above 0 in every draw.
    """

    def mean(name: str) -> Array:
        of = reference["m" if name == "m" else "v"]
        if missing := sorted(set(of) - set(fit.names[name])):
            raise UsageError(
                f"{missing[0]} sets the scale of the old report and has no {name} in this fit; keep its games"
            )
        places = [fit.names[name].index(model) for model in of]
        return np.asarray(draws[name][..., places].mean(axis=-1, keepdims=True), dtype=np.float64)

    draws = dict(fit.draws)
    unit = mean("v") if "v" in draws else np.ones_like(draws["m"][..., :1])
    if (unit <= 0).any():
        raise UsageError("the mean v of the old models may be 0 or less, so it gives no unit; play more games of them")
    if "b" in draws:  # d moved by c and b by c v leave v (m - d) + b as it is
        c = -mean("b") / unit
        draws["d"], draws["b"] = draws["d"] + c, draws["b"] + c * draws.get("v", np.ones(1))
    zero = mean("m")
    draws["m"], draws["d"] = (draws["m"] - zero) * unit, (draws["d"] - zero) * unit
    if "v" in draws:
        draws["v"] = draws["v"] / unit
    return replace(fit, draws=draws)


def beside_old(old: OldReport, scores: pl.DataFrame) -> pl.DataFrame:
    """One row for each old score: model, parameter, old, old_lo, old_hi, new, new_lo, new_hi, outside (whether the new
    one lies outside the old interval), sets_scale. scores: of the new fit, on the old scale.
    """
    setters, parts = _setters(old), []
    for name in PARAMETERS:
        was, now = (
            table.drop_nulls(name).select("model", *(pl.col(f"{name}{end}").alias(f"{when}{end}") for end in _ENDS))
            for when, table in (("old", old.scores), ("new", scores))
        )
        both = was.join(now, on="model", how="inner").with_columns(
            outside=~pl.col("new").is_between("old_lo", "old_hi"),
            sets_scale=pl.col("model").is_in(setters),
        )
        parts.append(both.select("model", pl.lit(name).alias("parameter"), pl.all().exclude("model")))
    return pl.concat(parts).sort("model", "parameter")


def _figure(old: OldReport, scores: pl.DataFrame) -> Figure:
    from liescope.benchmark.capability.fit_report import forest

    columns = ["model", *(f"{name}{end}" for name in PARAMETERS for end in _ENDS)]
    sides = {"with the new games": scores, "old report": old.scores}
    return forest(pl.concat([side.select(pl.lit(name).alias("condition"), *columns) for name, side in sides.items()]))


def _setters(old: OldReport) -> list[str]:
    return sorted(set().union(*old.reference.values()))


_COLUMNS = (
    Column("model"),
    Column("parameter"),
    Column("old", interval=True),
    Column("new", interval=True),
    Column("outside"),
)


def part(old: OldReport, scores: pl.DataFrame) -> Report:
    """Old scores beside the new ones, and what a reader must know of their common scale. scores: of the new fit, on the
    old scale.
    """
    table = beside_old(old, scores)
    added = sorted(set(scores["model"]) - set(old.scores["model"]))
    setters = _setters(old)
    moved = table.filter("outside")
    named = "; ".join(
        f"{row['parameter']} of {row['model']}, "
        f"{with_interval(row['old'], row['old_lo'], row['old_hi'])} before and {row['new']:.2f} now"
        for row in moved.to_dicts()
    )
    notes = (
        f"The scale is that of {old.folder}: over the models {', '.join(setters)} the mean of m is 0 and that of v is "
        f"1. {'Added: ' + ', '.join(added) if added else 'No model is new'}. The games of that report "
        "are counted with the new ones; that those are others, and were played in the same way, its counts cannot say.",
        f"{moved.height} of {table.height} old scores are now outside their old 95% interval"
        f"{f': {named}' if named else ''}.",
    )
    section = Section(
        "extended",
        "Old scores beside the new",
        notes,
        "Means with 95% intervals, both on the old scale; outside: the new mean lies outside the old interval.",
        svg(_figure(old, scores), "extended"),
        "Scores of each model in the old report and in this one, with 95% intervals.",
        table=Table.of(table, _COLUMNS),
        file=EXTENDED,
    )
    return Report(sections=(section,), tables={EXTENDED.removesuffix(".csv"): table}, notes=notes)
