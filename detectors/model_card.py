"""The card of a model, with figures from reports of `evaluate`; and publishing a detector to the Hub as
a model that plain libraries can open.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import read_json
from liescope.common.sentence_encoder import encoder_id
from liescope.common.stores import local
from liescope.detectors.detector_registry import DETECTORS, load_parts
from liescope.detectors.examples import Example
from liescope.detectors.logistic import TRAIN_AGAIN
from liescope.detectors.model_file import MODEL_FILE, ModelFile, path_on_hub, read_model_file
from liescope.detectors.study.figures import Figure
from liescope.detectors.study.metrics import LEVELS, POOLED, WITHIN, words_of
from liescope.detectors.study.scores import CONTROL
from liescope.detectors.text_form import textualize
from liescope.generate.corpus.hub import check_repo, writer
from liescope.generate.corpus.publish import Parcel, Published, check_no_links, push, say
from liescope.generate.importers.importer_protocol import fingerprint

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
THIS = "this model"


class Reported(BaseModel):
    """The contents of report.json of an evaluation: its corpus, and by name the model.json of its models."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    corpus: str = ""
    models: dict[str, dict[str, Any]] = {}
    figures: list[Figure]

    def of(self, model: ModelFile) -> Reported:
        """The figures of one model, and of controls for its target. Raises UsageError if there are none of it."""
        rows = [row for row in self.figures if row.against is None and row.value is not None]
        trained = model.training.model_dump(mode="json"), model.corpus.id
        facts = {name: (one.get("training"), (one.get("corpus") or {}).get("id")) for name, one in self.models.items()}
        if not (mine := [name for name, other in facts.items() if other == trained]):
            raise UsageError(f"it evaluates {', '.join(self.models) or 'no model'}, not this training of this model")
        named = [replace(row, scorer=THIS if row.scorer == mine[0] else row.scorer) for row in rows]
        kept = [row for row in named if row.target == model.target and row.metric in _shown(row.scorer)]
        return self.model_copy(update={"figures": kept})

    @property
    def own(self) -> list[Figure]:
        """The figures of the model itself."""
        return [row for row in self.figures if row.scorer == THIS]


def _shown(scorer: str) -> tuple[str, ...]:
    return _SHOWN if scorer == THIS else (WITHIN, POOLED) if scorer.startswith(CONTROL) else ()


def read_reports(folders: Iterable[Path], model: ModelFile) -> list[Reported]:
    """The reports of evaluations, reduced to what they say about this model.

    Raises BadData for a folder that is no report, UsageError for a report about other models.
    """
    found = []
    for folder in folders:
        advice = "name a report of this version, by liescope evaluate"
        if not (folder / "report.json").is_file():
            raise BadData(f"{folder} is not a report: it has no report.json; {advice}")
        try:
            found.append(read_json(folder / "report.json", TypeAdapter(Reported), _LARGEST, advice).of(model))
        except UsageError as error:
            if isinstance(error, BadData):
                raise
            raise UsageError(f"{folder} cannot be shown on this card: {error}; name a report of this model") from error
    return found


_IN_GAMES = ("I investigated Bob. He is the mafioso.", "Nobody doubts me yet, so I accuse Bob.")
_ELSEWHERE = ("I was at home all night.", "Nobody can know that I went out.")
_METRICS = {
    WITHIN: "auroc_within_games",
    POOLED: "roc_auc",
    "average_precision": "average_precision",
    "brier": "brier_score",
}
"""The metrics of the Hub's metadata, by the Hub's names for them, where it has one."""


def model_card(name: str, file: ModelFile, *, repo: str | None = None, reports: Sequence[Reported] = ()) -> str:
    """README.md of a model. repo: where it is published; None for the card in its own folder."""
    from liescope.data_cards.cards import render_model_card

    chosen = DETECTORS[file.kind]
    detector = chosen(file.text, chosen.options_type.of(file.options, file.kind))
    use = detector.publication
    config = {**file.text.model_dump(), **file.options}
    said, thought = _IN_GAMES if file.units.are_games else _ELSEWHERE
    read = textualize(Example("", "", "speaker", "", said, ("Bob",), reasoning=thought), file.text)
    place = repo or f"models/{name}"
    literals = {"repo": json.dumps(place, ensure_ascii=False), "text": json.dumps(read, ensure_ascii=False)}
    return render_model_card(
        {
            "detector": name,
            "kind": file.kind,
            "target": file.target,
            "corpus": file.corpus.name,
            "training": file.training.model_dump(),
            "words": [one.model_dump() for one in file.corpus.words],
            "config": config | ({"encoder": "bundled all-MiniLM-L6-v2"} if config.get("encoder") == "" else {}),
            "figures": [_row(file, row) for row in file.figures],
            "reports": [{"corpus": one.corpus, "rows": [_row(file, row) for row in one.figures]} for one in reports],
            "thresholds": {f"{level[0]}%": at for level in LEVELS if (at := file.thresholds.get(level)) is not None},
            "ordinary": file.ordinary and {**file.ordinary.model_dump(), "rates": file.ordinary.rates},
            "calibration": file.confidence.words(),
            "calibrated_on": sets.games if (sets := file.confidence.labels) else None,
            "place": place,
            "said": said,
            "thought": thought,
            "plain_use": use.plain_use.format(**literals) if repo else "",
            "needs": use.needs,
            "extra": detector.extra or "",
            "library": use.library if repo else "liescope",
            "base_model": encoder_id(file.options[use.built_on]) or "" if use.built_on else "",
            "liescope": file.versions["liescope"],
            "results": [
                *_results(file, file.corpus.name, file.figures),
                *(one for report in reports for one in _results(file, report.corpus, report.own)),
            ],
        }
    )


def _row(file: ModelFile, row: Figure) -> dict[str, Any]:
    return {**row.to_json(), "metric": file.units.say(words_of(row.metric))}


def _results(file: ModelFile, corpus: str, rows: Iterable[Figure]) -> list[dict[str, Any]]:
    """Figures as the arguments of the Hub's `EvalResult`."""
    return [
        {
            "task_type": "text-classification",
            "task_name": f"label_{file.target}",
            "dataset_type": corpus,
            "dataset_name": f"{corpus}, {row.where}",
            "dataset_config": "statements",
            "dataset_split": row.where,
            "metric_type": _METRICS[row.metric],
            "metric_value": round(row.value, 4),
            "metric_name": file.units.say(words_of(row.metric)),
        }
        for row in rows
        if row.metric in _METRICS and row.value is not None
    ]


_STALE = ("*.json", "*.skops", "*.npy", "*.safetensors", "*.txt", "*.parquet", "*.model", "*.jinja")


def publish(
    model: str | os.PathLike[str],
    repo: str,
    *,
    reports: Sequence[str | os.PathLike[str]] = (),
    public: bool = False,
    gated: bool = False,
    dry_run: bool = False,
    progress: bool = False,
) -> Published:
    """Push a model folder to the model `repo` ("USER/NAME"); see `liescope.publish`.

    Only the files that training wrote are pushed, those of its encoder at the root. Raises MissingExtra, MissingKey,
    BadData for a folder that is no model, was changed after training or was trained by an earlier version, and
    UsageError for a report about another model, a link, something like a secret, or a refusal of the Hub.
    """
    check_repo(repo)
    folder = Path(model)
    file = read_model_file(folder)
    read = read_reports(map(local, reports), file)
    if not dry_run:
        writer()
    say("checking the model", progress)
    check_no_links(folder, [MODEL_FILE, *file.files], TRAIN_AGAIN)
    _check_whole(folder, file)
    own = {path_on_hub(name): folder / name for name in (MODEL_FILE, *file.files)}
    name = folder.resolve().name
    detector = load_parts(file.kind, folder, file.text, file.options)
    parcel = Parcel(
        kind="model",
        name=f"{name}, Liescope {file.versions['liescope']}",
        files={**own, **detector.published_beside()},
        card=model_card(name, file, repo=repo, reports=read),
        advice=f"remove it from the games and {TRAIN_AGAIN}",
        stale=_STALE,
        notices=_notices(file, public),
    )
    return push(parcel, repo, public=public, gated=gated, dry_run=dry_run, progress=progress)


def _check_whole(folder: Path, file: ModelFile) -> None:
    if not file.files:
        raise BadData(f"{folder} lists none of its files; {TRAIN_AGAIN}")
    for name, expected in file.files.items():
        try:
            found = fingerprint(folder / name)
        except OSError as error:
            raise BadData(f"{folder / name} cannot be read ({error.strerror}); {TRAIN_AGAIN}") from error
        if found != expected:
            raise BadData(f"{folder / name} was changed after training: its SHA-256 is another; {TRAIN_AGAIN}")


def _notices(file: ModelFile, public: bool) -> tuple[str, ...]:
    """Warnings when publishing a model that learned from these sources."""
    sources = set(file.training.sources)
    found = []
    if sources & {"imported", "human"} or not all(words.redistributable for words in file.corpus.words):
        kept = "a TF-IDF vocabulary holds" if file.kind == "tfidf" else "its weights may repeat"
        found.append(
            f"this model learned from words that others wrote, and {kept} some of them: check their licence"
            + (" before you keep it public" if public else " before you make it public")
        )
    if "scripted" in sources:
        found.append("this model learned from scripted games: its figures are not findings about models or people")
    return tuple(found)
