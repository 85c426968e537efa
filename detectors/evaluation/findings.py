"""What was found, in three sentences: how well the best detector does, beside what, and whom it wrongs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from liescope.common.report.contents import with_interval
from liescope.detectors.evaluation.metrics import DIFFERENCE, POOLED, WITHIN
from liescope.detectors.evaluation.result import EvaluationResult
from liescope.detectors.evaluation.rows import MetricRow
from liescope.detectors.evaluation.scores import CONTROL, HELD_OUT, SPEAKER, is_population


def sentences(evaluation: EvaluationResult) -> tuple[str, str, str]:
    """About the best detector of the first target within games, on held-out models where there are any; pooled over
    games where no game has both classes.
    """
    target = evaluation.rows[0].target
    rows = [row for row in evaluation.rows if row.target == target]
    ranked = [row for row in rows if row.against is None and is_population(row.split) and row.value is not None]
    ranked = [row for row in ranked if not row.detector.startswith(CONTROL)]
    own = [row for row in ranked if row.metric == WITHIN]
    if not own:
        pooled = [row for row in ranked if row.metric == POOLED]
        if not pooled:
            return (f"No AUROC is defined for {target}.", "Nothing can be compared.", "The notes below say why.")
        best = max(pooled, key=lambda row: row.value or 0.0)
        return (
            f"No game has both deceptive and honest statements ({target}), so that nothing can be said within games.",
            f"Pooled over games, {best.detector} has an AUROC of {_figure(best)} on {best.split}: it may know no more "
            "than in which games many deceive.",
            _lean(rows, best),
        )
    places = list(dict.fromkeys(row.split for row in own))
    place = next((split for split in places if split.endswith(f":{HELD_OUT}")), places[0])
    best = max((row for row in own if row.split == place), key=lambda row: row.value or 0.0)
    others = [row for row in own if row.detector == best.detector and row.split != place]
    elsewhere = "".join(f", on {row.split} {_figure(row)}" for row in others)
    pooled = [row for row in ranked if (row.metric, row.split, row.detector) == (POOLED, place, best.detector)]
    beside = "".join(f"; pooled over all games {_figure(row)}" for row in pooled)
    return (
        f"Within games, on {place}, {best.detector} ranks deceptive above honest statements ({target}) with an AUROC "
        f"of {_figure(best)}{elsewhere}{beside}.",
        _beside(rows, best),
        _lean(rows, best),
    )


def _beside(rows: Sequence[MetricRow], best: MetricRow) -> str:
    """The smallest of its leads over a control or another detector; a control may be ahead of it."""
    leads = [
        row if row.detector == best.detector else _turned(row)
        for row in rows
        if (row.split, row.metric) == (best.split, best.metric + DIFFERENCE)
        and best.detector in (row.detector, row.against)
        and row.value is not None
    ]
    if not leads:
        return "No cheap control could be set beside it."
    least = min(leads, key=lambda row: row.value or 0.0)
    ahead = (least.value or 0.0) < 0
    lead = _turned(least) if ahead else least
    clear = "" if lead.lo is None or lead.lo > 0 else ", which chance may explain"
    if ahead:
        return (
            f"On {best.split}, of what it was compared with, {least.against} is ahead of it by {_figure(lead)}{clear}."
        )
    return (
        f"On {best.split}, the closest of what it was compared with, {least.against}, is behind it by "
        f"{_figure(lead)}{clear}."
    )


def _turned(row: MetricRow) -> MetricRow:
    """A difference the other way round."""
    value, lo, hi = (None if number is None else -number for number in (row.value, row.hi, row.lo))
    return replace(row, detector=row.against or "", against=row.detector, value=value, lo=lo, hi=hi)


def _lean(rows: Sequence[MetricRow], best: MetricRow) -> str:
    mine = [row for row in rows if row.detector == best.detector and row.value is not None]
    error = next((row for row in mine if (row.metric, row.split) == ("calibration_error", best.split)), None)
    said = f"Its debiased calibration error is {_figure(error)}" if error else "Its calibration is not defined"
    offsets = sorted((row for row in mine if row.metric == "offset"), key=lambda row: row.value or 0.0)
    if not offsets:
        return f"{said}."
    low, high = (f"{row.split.partition(SPEAKER)[2]} ({row.value:+.2f})" for row in (offsets[0], offsets[-1]))
    return f"{said}; on honest statements its log-odds lie lowest for {low} and highest for {high}."


def _figure(row: MetricRow) -> str:
    return with_interval(row.value, row.lo, row.hi)
