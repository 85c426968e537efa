"""People who read the games, beside the detectors, for an 80-column terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from liescope.common.people import PEOPLE
from liescope.detectors.evaluation.beside_people import JUDGED, SUSPECTED
from liescope.detectors.evaluation.crowd import OBSERVER
from liescope.detectors.evaluation.metrics import POOLED, WITHIN
from liescope.detectors.evaluation.rows import MetricRow

_SHOWN = (WITHIN, POOLED, "accuracy", "recall", "false_positive_rate")
_EVEN = {"people": "at people's FPR", "own": "at the detector's FPR"}


def people_lines(rows: Sequence[MetricRow]) -> Iterator[tuple[str, str]]:
    """(line, style) for each population that people judged: everybody on the same statements, then detectors and all
    people together at equal false positives.
    """
    here = [row for row in rows if row.split.endswith((f":{JUDGED}", f":{SUSPECTED}"))]
    for target, split in dict.fromkeys((row.target, row.split) for row in here):
        part = [row for row in here if (row.target, row.split) == (target, split)]
        values = {(row.detector, row.against, row.metric): row for row in part}
        pooled = values[PEOPLE, None, "alpha"]
        scorers = [row.detector for row in part if row.metric == POOLED]
        what = "players" if split.endswith(SUSPECTED) else "statements"
        counted = f"{pooled.statements:,} {what} of {pooled.games:,} games"
        judges = sum(name.startswith(OBSERVER) for name in scorers)
        agree = "" if pooled.value is None else f", alpha {pooled.value:.2f}"
        yield "", ""
        yield f"{target}, {split}:", "bold"
        yield f"{counted}, {judges} observers{agree}", "bold"
        yield f"{'':22}{'AUROC within games':23}{'pooled':>7}{'accuracy':>9}{'recall':>7}{'FPR':>7}", ""
        for name in scorers:
            auroc, *others = (values.get((name, None, metric)) for metric in _SHOWN)
            cells = "".join(f"{_value(row):>{width}}" for row, width in zip(others, (7, 9, 7, 7), strict=True))
            yield f"{_cut(name):22}{_with_interval(auroc):23}{cells}", ""
        for whose, where in _EVEN.items():
            for row in part:
                if row.against == PEOPLE and row.metric == f"lead_at_{whose}_fpr":
                    at = {
                        name: _value(values.get((row.detector, PEOPLE, f"{name}_{whose}_fpr")))
                        for name in ("recall_at", "people_at")
                    }
                    fpr = _value(values.get((row.detector, PEOPLE, f"{whose}_fpr")))
                    yield f"{where} ({fpr}): {row.detector} {at['recall_at']}, people {at['people_at']};", ""
                    yield f"  lead over people {_with_interval(row, '+.3f')}", ""


def _value(row: MetricRow | None) -> str:
    return "–" if row is None or row.value is None else f"{row.value:.3f}"


def _with_interval(row: MetricRow | None, form: str = ".3f") -> str:
    if row is None or row.value is None:
        return "–"
    value = format(row.value, form)
    return value if row.lo is None else f"{value} [{row.lo:{form}}, {row.hi:{form}}]"


def _cut(name: str) -> str:
    return name if len(name) <= 21 else f"{name[:20]}…"
