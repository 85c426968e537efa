"""Publishing a detector to the Hub as a model that plain libraries open too."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path

from liescope.common.errors import BadData, UsageError
from liescope.detectors.card_reports import read_reports
from liescope.detectors.model_card import eval_results, model_card
from liescope.detectors.model_file import MODEL_FILE, ModelFile, path_on_hub, read_model_file
from liescope.detectors.protocol import TRAIN_AGAIN
from liescope.detectors.registry import detector_class
from liescope.generate.corpus.hub import check_repo, writer
from liescope.generate.corpus.publish import Parcel, Published, check_no_links, push, say

_STALE = ("*.json", "*.skops", "*.npy", "*.safetensors", "*.txt", "*.parquet", "*.model", ".eval_results/liescope.yaml")


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
    evaluated, transferred = read_reports([Path(report) for report in reports], file)
    if not dry_run:
        writer()
    say("checking the model", progress)
    check_no_links(folder, [MODEL_FILE, *file.files], TRAIN_AGAIN)
    _check_whole(folder, file)
    chosen = detector_class(file.kind)
    options = chosen.options_type.of(file.kind, file.options)
    verbatim = chosen.verbatim(options)
    _check_permitted(folder, file, verbatim)
    own = {path_on_hub(name): folder / name for name in (MODEL_FILE, *file.files)}
    name = folder.resolve().name
    results = eval_results(file, evaluated)
    parcel = Parcel(
        kind="model",
        name=f"{name}, Liescope {file.versions['liescope']}",
        files={**chosen.published_beside(options), **own},
        card=model_card(name, file, repo=repo, evaluated=evaluated, transferred=transferred),
        advice=f"remove it from the games and {TRAIN_AGAIN}",
        texts={".eval_results/liescope.yaml": results} if results else {},
        stale=_STALE,
        notices=_notices(file, verbatim, public),
    )
    return push(parcel, repo, public=public, gated=gated, dry_run=dry_run, progress=progress)


def _check_whole(folder: Path, file: ModelFile) -> None:
    if not file.files:
        raise BadData(f"{folder} lists none of its files; {TRAIN_AGAIN}")
    for name, expected in file.files.items():
        try:
            with (folder / name).open("rb") as stream:
                found = file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise BadData(f"{folder / name} cannot be read ({error.strerror}); {TRAIN_AGAIN}") from error
        if found != expected:
            raise BadData(f"{folder / name} was changed after training: its SHA-256 is another; {TRAIN_AGAIN}")


def _check_permitted(folder: Path, file: ModelFile, verbatim: bool) -> None:
    """Raises UsageError for statements, word for word, that their publisher does not let anyone pass on."""
    bound = [words.origin for words in file.corpus.words if not words.redistributable]
    if verbatim and bound:
        raise UsageError(
            f"{folder} holds statements word for word as examples, and those of {', '.join(bound)} may not be passed "
            "on; train it without --shots to publish it"
        )


def _notices(file: ModelFile, verbatim: bool, public: bool) -> tuple[str, ...]:
    """Warnings for publishing a model that learned from words of these sources."""
    sources = set(file.training.sources)
    found = []
    if sources & {"imported", "human"} or not all(words.redistributable for words in file.corpus.words):
        kept = "a TF-IDF vocabulary holds" if file.kind == "tfidf" else "its weights may repeat"
        kept = "its examples are" if verbatim else kept
        found.append(
            f"this model learned from words that others wrote, and {kept} some of them: check their licence"
            + (" before you keep it public" if public else " before you make it public")
        )
    if "scripted" in sources:
        found.append("this model learned from scripted games: its figures are not findings about models or people")
    return tuple(found)
