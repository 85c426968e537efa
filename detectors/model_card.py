"""The card of a detector, in its folder and on the Hub: the same page, filled from model.json and any reports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from liescope.detectors.card_reports import Evaluated, Transferred
from liescope.detectors.evaluation.metrics import LEVELS, POOLED, WITHIN, words_of
from liescope.detectors.examples import Example
from liescope.detectors.model_file import Figure, ModelFile
from liescope.detectors.registry import detector_class
from liescope.detectors.textualize import textualize

_SAID = "I investigated Bob. He is the mafioso."
_METRICS = {
    WITHIN: "auroc_within_games",
    POOLED: "roc_auc",
    "average_precision": "average_precision",
    "brier": "brier_score",
}
"""The metrics of the Hub's metadata, by the Hub's names for them, where it has one."""


def model_card(
    name: str,
    file: ModelFile,
    *,
    repo: str | None = None,
    evaluated: Sequence[Evaluated] = (),
    transferred: Sequence[Transferred] = (),
) -> str:
    """README.md of a model. repo: where it is published; None for the card in its own folder."""
    from liescope.data_cards import render_model_card

    chosen = detector_class(file.kind)
    options = chosen.options_type.of(file.kind, file.options)
    config = {**file.text.model_dump(), **file.options}
    read = textualize(Example("", "", "speaker", "", _SAID, ("Bob",)), file.text)
    place = repo or f"models/{name}"
    return render_model_card(
        {
            "detector": name,
            "kind": file.kind,
            "target": file.target,
            "corpus": file.corpus.name,
            "training": file.training.model_dump(),
            "words": [one.model_dump() for one in file.corpus.words],
            "config": config | ({"encoder": "bundled all-MiniLM-L6-v2"} if config.get("encoder") == "" else {}),
            "adapted": file.adapted.model_dump() if file.adapted else None,
            "figures": [_row(row) for row in file.figures],
            "evaluated": [
                {"corpus": report.corpus, "rows": [_row(row) | {"detector": row.detector} for row in report.rows]}
                for report in evaluated
            ],
            "transferred": [
                {
                    "corpora": list(report.targets),
                    "headline": [row.model_dump() | {"metric": words_of(row.metric)} for row in report.headline],
                    "slices": [row.model_dump() | {"metric": words_of(row.metric)} for row in report.slices],
                }
                for report in transferred
            ],
            "thresholds": {f"{level[0]}%": at for level in LEVELS if (at := file.thresholds.get(level)) is not None},
            "calibration": calibration.words() if (calibration := file.confidence.statements) else "",
            "calibrated_on": sets.games if (sets := file.confidence.labels) else None,
            "place": place,
            "said": _SAID,
            "plain_use": chosen.plain_use.format(repo=_code(place), text=_code(read)) if repo else "",
            "library": chosen.library if repo else "liescope",
            "verbatim": chosen.verbatim(options),
            "base_model": chosen.base_model(options) or "",
            "liescope": file.versions["liescope"],
            "results": [
                *_results(file, file.corpus.name, file.figures),
                *(one for report in evaluated for one in _results(file, report.corpus, _own(report))),
            ],
        }
    )


def eval_results(file: ModelFile, evaluated: Iterable[Evaluated]) -> str:
    """The file in `.eval_results` with the AUROC within games on corpora that are on the Hub; "" for none. JSON is
    YAML.
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    entries = [
        EvalResultEntry(
            dataset_id=report.corpus,
            task_id=f"label_{file.target}",
            value=row.value,
            notes=(
                f"{words_of(row.metric)} on {row.split}, 95% interval {row.lo} to {row.hi}, "
                f"{row.statements} statements of {row.games} games"
            ),
        )
        for report in evaluated
        for row in _own(report)
        if "/" in report.corpus and row.metric == WITHIN
    ]
    return json.dumps(eval_result_entries_to_yaml(entries), indent=1) + "\n" if entries else ""


def _code(text: str) -> str:
    """A Python string literal."""
    return json.dumps(text, ensure_ascii=False)


def _own(report: Evaluated) -> list[Figure]:
    return [row for row in report.rows if row.detector == "this model"]


def _row(row: Figure) -> dict[str, Any]:
    return {**row.model_dump(), "metric": words_of(row.metric)}


def _results(file: ModelFile, corpus: str, rows: Iterable[Figure]) -> list[dict[str, Any]]:
    """Figures as the arguments of the Hub's `EvalResult`."""
    return [
        {
            "task_type": "text-classification",
            "task_name": f"label_{file.target}",
            "dataset_type": corpus,
            "dataset_name": f"{corpus}, {row.split}",
            "dataset_config": "statements",
            "dataset_split": row.split,
            "metric_type": _METRICS[row.metric],
            "metric_value": round(row.value, 4),
            "metric_name": words_of(row.metric),
        }
        for row in rows
        if row.metric in _METRICS and row.value is not None
    ]
