"""Conversations in eval logs of inspect_ai and transcripts of Scout, with the value of a scorer or of a field as their
label; and the games that our own tasks played there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from liescope.common.errors import BadData, MissingPackage
from liescope.common.reading import Reading, regular
from liescope.common.settings import OptionsModel
from liescope.games.record import GameRecord
from liescope.generate.corpus.hub import download
from liescope.generate.importers.importer_protocol import Imported, Rejected, attempt
from liescope.generate.importers.label_column import OwnOptions
from liescope.generate.importers.own_data import ChatImporter
from liescope.generate.importers.tables import dataset_of, read_parquet
from liescope.generate.importers.text_files import Rows
from liescope.generate.runs.journal_reader import read_record

_LOGS = ("*.eval", "*.json")
RECORD = "liescope_record"
"""Where the metadata of a sample that Liescope's tasks played keep its record."""


class InspectImporter(ChatImporter):
    """A sample a conversation, by `id`, `messages`, `model`, `task`, the value of each scorer, and its metadata."""

    format: ClassVar[str] = "inspect"
    Options: ClassVar[type[OptionsModel]] = OwnOptions

    def rows(self, source: Path) -> Rows:
        return ((number, one if isinstance(one, Rejected) else _row(*one)) for number, one in _samples(source))


class InspectGamesImporter(InspectImporter):
    """A sample a game that Liescope's tasks played in an eval, by the record in the sample's metadata."""

    format: ClassVar[str] = "inspect-games"

    def game_texts(self) -> Mapping[str, str]:
        return {}

    def read(self, source: Path) -> Iterator[Imported | Rejected]:
        for number, one in _samples(source):
            self.receipt.rows += 1
            if isinstance(one, Rejected):
                yield one
            else:
                yield attempt(source.name, number, str(one[1].id), partial(_game, *one))


def _game(told: Any, sample: Any) -> GameRecord:
    """The record in a sample. Its id says which eval and epoch played it, since others play the same plan."""
    if (kept := (sample.metadata or {}).get(RECORD)) is None:
        raise BadData("it holds no game of Liescope's tasks; `import inspect` reads conversations")
    game = read_record(json.dumps(kept), f"sample {sample.id}")
    return replace(game, game_id=f"{game.game_id}-{told.eval.run_id[:8]}-{sample.epoch}")


def _samples(source: Path) -> Iterator[tuple[int, tuple[Any, Any] | Rejected]]:
    """Every sample of the logs with its log's header, numbered from 1."""
    try:
        from inspect_ai.log import read_eval_log, read_eval_log_samples
    except ImportError as error:
        raise MissingPackage("inspect_ai", "import inspect") from error
    number = 0
    for log in _files(source, _LOGS):
        try:
            with Reading(log.name, "it is no log of inspect_ai, or damaged"):
                told = read_eval_log(regular(log), header_only=True)
                if told.eval.dataset.sample_ids:
                    samples = read_eval_log_samples(log, all_samples_required=False, resolve_attachments=True)
                else:  # a log that lists no samples is read whole
                    samples = iter(read_eval_log(log, resolve_attachments=True).samples or ())
                for sample in samples:
                    number += 1
                    yield number, (told, sample)
        except BadData as error:
            yield number + 1, Rejected(log.name, number + 1, "", str(error))


def _files(source: Path, kinds: tuple[str, ...]) -> list[Path]:
    """The files of these kinds in a folder or a dataset on the Hub; any other source is one itself."""
    dataset = dataset_of(source)
    folder = source if dataset is None or source.is_dir() else download(dataset[0], kinds)
    folder.stat()
    return sorted(path for kind in kinds for path in folder.rglob(kind)) if folder.is_dir() else [folder]


def _row(told: Any, sample: Any) -> dict[str, Any]:
    scores = {name: score.value for name, score in (sample.scores or {}).items()}
    key = f"{told.eval.task}-{told.eval.run_id[:8]}-{sample.id}-{sample.epoch}"
    messages = [message.model_dump() for message in sample.messages]
    return _columns(
        sample.metadata or {}, scores, id=key, messages=messages, model=told.eval.model, task=told.eval.task
    )


def _columns(metadata: Mapping[Any, Any], scores: Mapping[str, Any], **own: Any) -> dict[str, Any]:
    """A conversation by columns. Scorers and metadata never replace the fields that every one has."""
    told = {name: value for name, value in scores.items() if isinstance(value, str | int | float | bool)}
    return {**{str(name): value for name, value in metadata.items()}, **told, **own}


_UNREAD = frozenset({"events", "events_data", "timelines"})  # large, and not needed for the messages


class ScoutImporter(ChatImporter):
    """A transcript a conversation, by `id` (its transcript_id), `messages`, `model`, `task` (its task_set), `score` or
    the values in it, `success`, and its metadata.
    """

    format: ClassVar[str] = "scout"
    Options: ClassVar[type[OptionsModel]] = OwnOptions

    def rows(self, source: Path) -> Rows:
        number = 0
        for file in _files(source, ("*.parquet",)):
            if "_index" in file.parts:
                continue
            for line, row in read_parquet(file, without=_UNREAD, at_once=16):
                number += 1
                yield number, row if isinstance(row, Rejected) else _transcript(file.name, line, row)


def _transcript(file: str, line: int, row: dict[str, Any]) -> dict[str, Any] | Rejected:
    own = ("transcript_id", "messages", "model", "task_set", "score")
    if "transcript_id" not in row:
        return Rejected(file, line, "", "it is no transcript of Scout: the column transcript_id is missing")
    key, messages, model, task, score = map(row.get, own)
    with suppress(ValueError, RecursionError):  # a plain word
        score = json.loads(score) if isinstance(score, str) else score
    scores = score if isinstance(score, dict) else {"score": score}
    rest = {name: value for name, value in row.items() if name not in own and value is not None}
    return _columns(rest, scores, id=key, messages=messages, model=model, task=task)
