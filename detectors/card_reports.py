"""The figures that a model's card takes from reports of `liescope evaluate` and `liescope transfer`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import read_bytes
from liescope.detectors.evaluation.metrics import METRIC, POOLED, WITHIN
from liescope.detectors.model_file import Figure, ModelFile

_LARGEST = 2**26
_SHOWN = (
    WITHIN,
    POOLED,
    "average_precision",
    "recall_at_1pct_fpr",
    "recall_at_5pct_fpr",
    "macro_f1",
    "brier",
    "calibration_error",
)
_READ = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Measured(Figure):
    """A figure of an evaluation. against: for a difference, whose figure was subtracted."""

    model_config = _READ

    detector: str
    target: str
    against: str | None = None


class Evaluated(BaseModel):
    """What report.json of an evaluation says. models: name to the contents of model.json."""

    model_config = _READ

    corpus: str
    models: dict[str, dict[str, Any]]
    rows: list[Measured]

    def of(self, model: ModelFile) -> Evaluated:
        """The figures of this model, under the name "this model", and of the cheap controls for its target. Raises
        UsageError if the report is about other models.
        """
        trained = model.training.model_dump(mode="json"), model.corpus.id
        mine = [
            name
            for name, other in self.models.items()
            if (other.get("training"), (other.get("corpus") or {}).get("id")) == trained
        ]
        if not mine:
            raise UsageError(f"it evaluates {', '.join(self.models) or 'no model'}, not this training of this model")
        rows = [
            row.model_copy(update={"detector": "this model" if row.detector == mine[0] else row.detector})
            for row in self.rows
            if row.target == model.target
            and row.against is None
            and row.value is not None
            and row.metric in (_SHOWN if row.detector == mine[0] else (WITHIN, POOLED))
            and (row.detector == mine[0] or row.detector.startswith("control:"))
        ]
        return self.model_copy(update={"rows": rows})


class Headline(BaseModel):
    """The worst and the mean AUROC of detectors of one kind, tested where they were not trained. metric: within games,
    or pooled over them, as reports of older versions have it alone.
    """

    model_config = _READ

    by: str
    protocol: str
    detector: str
    kind: str = "online"
    metric: str = POOLED
    train: str | None
    test: str | None
    worst: float | None
    worst_lo: float | None
    worst_hi: float | None
    mean: float | None
    mean_lo: float | None
    mean_hi: float | None


class Slice(BaseModel):
    """AUROC in a part of the games of a unit that was left out."""

    model_config = _READ

    by: str
    test: str
    detector: str
    slice: str
    kind: str = "online"
    metric: str = POOLED
    value: float | None
    lo: float | None
    hi: float | None
    statements: int


class Transferred(BaseModel):
    """What report.json of a transfer says. It is about a kind of detector, trained anew for every unit."""

    model_config = _READ

    targets: dict[str, Any]
    headline: list[Headline]
    slices: list[Slice]

    def of(self, model: ModelFile) -> Transferred:
        """The figures of this model's kind. Raises UsageError if the report has none."""
        headline = [row for row in self.headline if row.detector == model.kind and row.worst is not None]
        headline = [row for row in headline if row.metric in METRIC]
        if not headline:
            raise UsageError(f"it has no figure of a detector of the kind {model.kind}")
        slices = [row for row in self.slices if row.detector == model.kind and row.value is not None]
        return self.model_copy(update={"headline": headline, "slices": slices})


def read_reports(folders: Iterable[Path], model: ModelFile) -> tuple[list[Evaluated], list[Transferred]]:
    """The reports of evaluations and of transfers, reduced to what they say of this model.

    Raises BadData for a folder that is no report, UsageError for a report about other models.
    """
    evaluated: list[Evaluated] = []
    transferred: list[Transferred] = []
    for folder in folders:
        data = _report(folder)
        try:
            if "headline" in data:
                transferred.append(Transferred.model_validate(data).of(model))
            else:
                evaluated.append(Evaluated.model_validate(data).of(model))
        except ValidationError as error:
            first = error.errors()[0]
            where = "".join(f"{str(part)[:50]}: " for part in first["loc"][:4])
            raise BadData(f"{folder} is not what this version reports ({where}{first['msg'][:100]})") from error
        except UsageError as error:
            raise UsageError(f"{folder} cannot be shown on this card: {error}; name a report of this model") from error
    return evaluated, transferred


def _report(folder: Path) -> Mapping[str, Any]:
    path = folder / "report.json"
    try:
        data = json.loads(read_bytes(path, _LARGEST))
    except (BadData, OSError, ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise BadData(f"{folder} is not a report: it has no readable report.json; make one with liescope evaluate")
    return data
