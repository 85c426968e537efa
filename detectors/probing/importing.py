"""Others' probes: a published checkpoint becomes a saved detector, with its own scores and threshold."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from liescope.common.errors import BadData, UsageError
from liescope.common.folders import replacing
from liescope.common.reading import read_text
from liescope.common.settings import takes
from liescope.common.statistics import expit
from liescope.common.stores import local, stored
from liescope.detectors.detector_registry import versions_of
from liescope.detectors.detector_settings import ImportProbeSettings
from liescope.detectors.kinds.probe import ProbeDetector, ProbeOptions
from liescope.detectors.learned_from import LearnedStatements
from liescope.detectors.model_file import CorpusName, ModelFile, OrdinaryChats, TrainingFacts
from liescope.detectors.probing.heads import FILE, SWEEP, Checkpoint, default_checkpoint
from liescope.detectors.saved import LoadedDetector, check_free, is_model, load, write_model
from liescope.detectors.study.scores import score_table
from liescope.detectors.text_form import TextConfig
from liescope.generate.corpus.hub import download, hub_repo

_CARD = "README.md"
_READ = {"apollo": "tokens", "dyl": "answer"}
"""What the published families of probes read, by their names."""


@takes(ImportProbeSettings)
@stored
def import_probe(source: str | os.PathLike[str], *, out: str | os.PathLike[str], **settings: Any) -> LoadedDetector:
    """Save a published probe as a detector that `score`, `evaluate`, `bench` and `publish` take, and open it.

    source: a checkpoint as `lie-detectors` reads it, a folder with `probe.pt` or `sweep.json`, or "USER/NAME" on the
    Hub; out: the folder for the model. Its log-odds become probabilities as they are, distances along a direction
    (`dim`) by their arsinh. Its threshold stands for 1% false positives on ordinary chats.

    **settings

    Raises BadData for a file that is no such checkpoint or would run code, UsageError for a folder that is taken or a
    language model that is not named or has other states.

    Example:
        >>> liescope.import_probe("me/apollo-smollm2", model="models/smollm2", out="models/apollo")
    """
    own = ImportProbeSettings.of(settings)
    check_free(Path(out), own.overwrite)
    path, card = _fetched(place := os.fspath(source).rstrip("/"), own.checkpoint)
    name = path.resolve().parent.name if Path(place).is_file() else Path(place).resolve().name
    named = re.search(r"^base_model: *[\"']?([\w./-]+)", card, re.MULTILINE)
    read = own.read or next((read for family, read in _READ.items() if family in name.split("-")), None)
    model = own.model or (named[1] if named else "")
    if not model:
        raise UsageError(f"{place} does not say which language model it reads; name it with --model")
    if not read:
        raise UsageError(f"{name} does not say what it reads; say it with --read, as of train probe: tokens, last, …")
    found = Checkpoint.read(path)
    if not found.layer and read != "yes-no":
        raise BadData(f"{path} does not say of which layer it reads states")
    how = {"model": model, "read": read, "layer": found.layer, "head": found.head.name}
    options = ProbeOptions.of({**own.model_dump(include={"questions", "form", "max_length"}), **how}, "probe")
    detector = ProbeDetector.of(TextConfig(mask_names=False, context=own.context), options, found.head)
    none = dict.fromkeys(("statements", "games", "without_label", "folds", "seed", "seconds"), 0)
    file = ModelFile(
        kind=detector.kind,
        target=own.target,
        text=detector.text,
        options=detector.options.model_dump(),
        corpus=CorpusName(id="", name=name),
        training=TrainingFacts.model_validate({**none, "prevalence": None, "sources": ["imported"], "models": []}),
        ordinary=OrdinaryChats(name=f"of the publishers of {name}", statements=0, at=float(expit(found.threshold))),
        versions=versions_of(detector.kind),
    )
    with replacing(Path(out), "model", is_model) as fresh:
        scores, called = score_table([], np.empty(0), Path(out).name, own.target), Path(out).name
        learned = LearnedStatements.of((), np.empty(0, np.str_))
        write_model(fresh, called, file, detector, scores, frozenset(), learned, None)
    return load(out)


def _fetched(source: str, checkpoint: str) -> tuple[Path, str]:
    """(the file of the checkpoint, the text of its card). Raises UsageError, BadData."""
    folder, repo = local(source), hub_repo(source, "model")
    if folder.is_file():
        return folder, ""
    if not folder.exists() and repo:
        folder = download(repo, [SWEEP, FILE, _CARD], "model")
    name = checkpoint or (FILE if (folder / FILE).is_file() else default_checkpoint(folder))
    path = folder / f"{name.removesuffix('.pt')}.pt"
    if not path.is_file() and repo and not local(source).exists():
        download(repo, [path.name], "model")
    if not path.is_file() or path.parent != folder:
        raise BadData(f"{source} has no checkpoint {path.name}; its {SWEEP} lists those it has")
    return path, read_text(folder / _CARD) if (folder / _CARD).is_file() else ""
