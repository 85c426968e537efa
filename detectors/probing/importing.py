"""Others' probes: a published checkpoint becomes a saved detector, with its own scores and threshold."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from liescope.common.errors import BadData, UsageError
from liescope.common.folders import replacing
from liescope.common.reading import read_text
from liescope.common.settings import takes
from liescope.common.statistics import expit
from liescope.common.stores import local, stored
from liescope.common.text import plain
from liescope.detectors.detector import shown
from liescope.detectors.detector_registry import versions_of
from liescope.detectors.detector_settings import ImportProbeSettings
from liescope.detectors.examples import target_column
from liescope.detectors.kinds.probe import ProbeDetector, ProbeOptions
from liescope.detectors.learned_from import LearnedStatements
from liescope.detectors.model_file import CorpusName, ModelFile, OrdinaryChats, TrainingFacts
from liescope.detectors.probing.published import FILE, SWEEP, Checkpoint, default_checkpoint
from liescope.detectors.saved import check_free, is_model, write_model
from liescope.detectors.study.scores import score_table
from liescope.detectors.text_form import TextConfig
from liescope.generate.corpus.hub import download, hub_repo

_CARD = "README.md"
_FAMILIES = {r"(targeted-)?apollo": "tokens", "dyl": "answer"}
"""What probes read, by how their names begin."""


@dataclass(frozen=True, slots=True)
class ImportedProbe:
    """A published probe that was saved as a detector. model: its folder; file: the contents of its model.json."""

    model: Path
    file: ModelFile

    def to_json(self) -> dict[str, Any]:
        """What `liescope import probe --json` prints: `model`, and model.json."""
        return {"model": str(self.model), **self.file.model_dump()}

    def lines(self) -> Iterator[str]:
        """What it is, for a terminal."""
        o, ordinary = self.file.options, self.file.ordinary
        where = f"{o['read']} of layer {o['layer']}" if o["layer"] else o["read"]
        yield plain(f"{self.file.corpus.name}: {o['head']}, reads {where} of {o['model']}")
        if ordinary and ordinary.at is not None:
            yield f"its threshold for 1% false positives is a score of {ordinary.at:.3g}"
        yield f"model: {plain(str(self.model))}"


@takes(ImportProbeSettings)
@stored
def import_probe(
    source: str | os.PathLike[str], *, out: str | os.PathLike[str], progress: bool = False, **settings: Any
) -> ImportedProbe:
    """Save a published probe as a detector that `score`, `evaluate`, `bench` and `publish` take.

    Its log-odds become probabilities as they are; distances along a direction (`dim`) do by their arsinh. Its threshold
    stands for 1% false positives on ordinary chats.

    Parameters
    ----------
    source : str or path
        A checkpoint as `lie-detectors` reads it, a folder with `probe.pt` or `sweep.json`, or "USER/NAME" on the Hub.
    out : str or path
        The folder for the model.
    progress : bool
        Show bars on standard error.
    **settings

    Raises
    ------
    BadData
        For a file that is no such checkpoint or would run code.
    UsageError
        For a folder that is taken, a checkpoint that is not there, or a language model that is not named or has other
        states.

    Examples
    --------
    >>> liescope.import_probe("me/apollo-smollm2", model="models/smollm2", out="models/apollo")
    """
    own = ImportProbeSettings.of(settings)
    target_column(own.target)
    check_free(Path(out), own.overwrite)
    place = os.fspath(source).rstrip("/")
    path, card = _fetched(place, own.checkpoint)
    named = re.search(r"^base_model: *[\"']?([\w./-]+)", card, re.MULTILINE)
    if not (model := own.model or (named[1] if named else "")):
        raise UsageError(f"{place} does not say which language model it reads; name it with --model")
    name = path.resolve().parent.name if Path(place).is_file() else Path(place).resolve().name
    found = Checkpoint.read(path)
    options = ProbeOptions.of(
        {
            **own.model_dump(include={"questions", "form", "max_length"}),
            **{"model": model, "layer": found.layer, "head": found.head.name, "read": own.read or _read_by(name)},
        },
        "probe",
    )
    text = TextConfig(mask_names=False, context=own.context)
    with shown(progress) as show:
        show("reading the language model", 0, 1)
        detector = ProbeDetector.of(text, options, found.head)
        show("reading the language model", 1, 1)
    facts = dict.fromkeys(("statements", "games", "without_label", "folds", "seed", "seconds"), 0)
    file = ModelFile(
        kind=ProbeDetector.kind,
        target=own.target,
        text=text,
        options=detector.options.model_dump(),
        corpus=CorpusName(id="", name=name),
        training=TrainingFacts.model_validate({**facts, "prevalence": None, "sources": ["imported"], "models": []}),
        ordinary=OrdinaryChats(name=f"of the publishers of {name}", statements=0, at=float(expit(found.threshold))),
        versions=versions_of(ProbeDetector.kind),
    )
    with replacing(Path(out), "model", is_model) as fresh:
        none = score_table([], np.empty(0), Path(out).name, own.target)
        learned = LearnedStatements.of((), np.empty(0, np.str_))
        file = write_model(fresh, Path(out).name, file, detector, none, frozenset(), learned, None)
    return ImportedProbe(Path(out), file)


def _read_by(name: str) -> str:
    """What a probe of this name reads. Raises UsageError."""
    for family, read in _FAMILIES.items():
        if re.match(family, name):
            return read
    raise UsageError(
        f"{name} does not say what it reads; say it with --read: tokens (states at what was said), last, answer (at "
        "the answer to whether it was a lie) or yes-no (that answer's log-odds)"
    )


def _fetched(source: str, checkpoint: str) -> tuple[Path, str]:
    """(the file of the checkpoint, the text of its card). Raises UsageError, BadData."""
    folder, repo = local(source), hub_repo(source, "model")
    if folder.is_file():
        return folder, ""
    if not folder.exists() and repo:
        folder = download(repo, [SWEEP, FILE, _CARD], "model")
    name = checkpoint or ("" if (folder / FILE).is_file() else default_checkpoint(folder))
    path = folder / (f"{name.removesuffix('.pt')}.pt" if name else FILE)
    if not path.is_file() and repo and not local(source).exists():
        download(repo, [path.name], "model")
    if not path.is_file() or path.parent != folder:
        raise BadData(f"{source} has no checkpoint {path.name}; its {SWEEP} lists those it has")
    return path, read_text(folder / _CARD) if (folder / _CARD).is_file() else ""
