"""Conversations in eval logs of inspect_ai, with the value of a scorer or of a field as their label."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from liescope.common.errors import BadData, MissingPackage
from liescope.common.reading import Reading, regular
from liescope.generate.corpus.hub import download
from liescope.generate.importers.importer_protocol import Rejected
from liescope.generate.importers.own_data import ChatImporter
from liescope.generate.importers.tables import Rows, dataset_of

_LOGS = ("*.eval", "*.json")


class InspectImporter(ChatImporter):
    """A sample a conversation, by `id`, `messages`, `model`, `task`, the value of each scorer, and its metadata."""

    format: ClassVar[str] = "inspect"
    reads: ClassVar[str] = "eval logs of inspect_ai: .eval, .json, a folder of them, USER/NAME"
    origin: ClassVar[str] = "eval logs of inspect_ai"

    def rows(self, source: Path) -> Rows:
        try:
            from inspect_ai.log import read_eval_log, read_eval_log_samples
        except ImportError as error:
            raise MissingPackage("inspect_ai", "import inspect") from error
        dataset = dataset_of(source)
        folder = source if dataset is None or source.is_dir() else download(dataset[0], _LOGS)
        folder.stat()
        number = 0
        logs = sorted(path for kind in _LOGS for path in folder.rglob(kind)) if folder.is_dir() else [folder]
        for log in logs:
            try:
                with Reading(log.name, "it is no log of inspect_ai, or damaged"):
                    told = read_eval_log(regular(log), header_only=True)
                    if told.eval.dataset.sample_ids:
                        samples = read_eval_log_samples(log, all_samples_required=False, resolve_attachments=True)
                    else:  # a log that lists no samples is read whole
                        samples = iter(read_eval_log(log, resolve_attachments=True).samples or ())
                    for sample in samples:
                        number += 1
                        yield number, _row(told, sample)
            except BadData as error:
                yield number + 1, Rejected(log.name, number + 1, "", str(error))


def _row(told: Any, sample: Any) -> dict[str, Any]:
    """A sample by columns. Scorers and metadata never replace the fields that every sample has."""
    scores = {name: score.value for name, score in (sample.scores or {}).items()}
    return {
        **{str(name): value for name, value in (sample.metadata or {}).items()},
        **{name: value for name, value in scores.items() if isinstance(value, str | int | float | bool)},
        "id": f"{told.eval.task}-{told.eval.run_id[:8]}-{sample.id}-{sample.epoch}",
        "messages": [message.model_dump() for message in sample.messages],
        "model": told.eval.model,
        "task": told.eval.task,
    }
