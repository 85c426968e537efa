"""Eval logs of inspect_ai: a sample for each game, with its transcript, every call, the labels as scores, and usage.

The file is what inspect_ai 0.3 itself writes: a ZIP of JSON files, `header.json`, `summaries.json` and one for each
sample. It is written without that package, a game at a time.
"""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, ClassVar
from urllib.parse import quote
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from liescope.common.errors import BadData
from liescope.common.leaks import all_without_addresses
from liescope.data_cards.tables import TARGETS
from liescope.generate.exports.exporter_protocol import Exporter, GamesSource, SourceGame, Tally, json_line
from liescope.generate.exports.inspect_sample import Usage, sample_of
from liescope.generate.exports.shown import Shown
from liescope.generate.runs.run_folder import PLAN_FILE

_VERSION = 2  # of the layout of eval logs
_SUMMARY = 1000  # characters of a text in a summary, as inspect_ai cuts them


class InspectExporter(Exporter):
    """One `.eval` file for a run."""

    format: ClassVar[str] = "inspect"
    writes: ClassVar[str] = "an eval log of inspect_ai, one sample for each game"
    about: ClassVar[str] = (
        "An eval log of inspect_ai: one sample for each game, failed ones included. `inspect view` shows it and "
        "`inspect_ai.log.read_eval_log` reads it. Messages are the game's transcript, where what only some seats saw "
        "has an `audience` in its metadata; events are what happened and every request to a player, with its prompt, "
        "reply, tokens and problem. Scores are the winner, and for each label the share of the labelled statements "
        "that it calls deceptive."
    )
    limits: ClassVar[str] = (
        "Usage counts what was paid for: replies from a reply cache are marked and not counted. "
        "A run keeps no clock times: every time in the log counts latencies from the moment the run was made. Calls "
        "whose `prompt` is `rendered again` were made to players that ask no endpoint, who never saw that prompt. A "
        "score that a game has no label for is absent."
    )
    needs_run: ClassVar[bool] = True
    tabular: ClassVar[bool] = False

    def write(self, source: GamesSource, games: Iterator[SourceGame], folder: Path, tally: Tally) -> None:
        journal = source.journal
        if journal is None:
            raise BadData(f"{source.folder} is a corpus, which holds no calls; an eval log is made of a run")
        began = datetime.fromtimestamp((journal.path / PLAN_FILE).stat().st_mtime, UTC)
        name = quote(source.name, safe="")
        shown, sums = Shown(journal), _Sums()
        with ZipFile(folder / f"{name}.eval", "w") as log, TemporaryFile() as summaries:
            for game in games:
                sample = sample_of(game, journal, shown, began)
                _add(log, f"samples/{sample['id']}_epoch_1.json", json_line(sample))
                summaries.write(b",\n" if tally.rows[name] else b"[")
                summaries.write(json_line(_summary(sample)))
                sums.add(sample)
                tally.rows[name] += 1
            summaries.write(b"]" if tally.rows[name] else b"[]")
            head = _head(source, began, tally.rows[name])
            _add(log, "_journal/start.json", json_line(head))
            _copy(log, "summaries.json", summaries)
            _add(log, "header.json", json_line(_header(head, began, sums)))


class _Sums:
    """What the header says of all samples together."""

    def __init__(self) -> None:
        self.samples = self.completed = 0
        self.seconds = 0.0
        self.winners: Counter[str] = Counter()
        self.values: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])  # by score: how many, and their sum
        self.by_model: dict[str, Usage] = defaultdict(Usage)
        self.by_role: dict[str, Usage] = defaultdict(Usage)

    def add(self, sample: Mapping[str, Any]) -> None:
        self.samples += 1
        self.completed += "error" not in sample
        self.seconds = max(self.seconds, sample["total_time"])
        for name, score in (sample["scores"] or {}).items():
            if isinstance(score["value"], str):
                self.winners[score["value"]] += 1
            else:
                self.values[name][0] += 1
                self.values[name][1] += score["value"]
        for total, part in ((self.by_model, "model_usage"), (self.by_role, "role_usage")):
            for name, usage in sample[part].items():
                total[name].add(usage)

    def scores(self) -> list[dict[str, Any]]:
        decided = sum(self.winners.values())
        won = {team: _metric(team, games / decided) for team, games in sorted(self.winners.items())}
        found = [self._score("winner", decided, won)] if decided else []
        for name, (count, total) in self.values.items():
            found.append(self._score(name, int(count), {"mean": _metric("mean", total / count)}))
        return found

    def _score(self, name: str, scored: int, metrics: Mapping[str, Any]) -> dict[str, Any]:
        counts = {"scored_samples": scored, "unscored_samples": self.samples - scored}
        return {"name": name, "scorer": name, **counts, "params": {}, "metrics": metrics}


def _metric(name: str, value: float) -> dict[str, Any]:
    return {"name": name, "value": value, "params": {}}


def _head(source: GamesSource, began: datetime, samples: int) -> dict[str, Any]:
    """The part of a log that says what was evaluated."""
    assert source.journal is not None
    plan = all_without_addresses(source.journal.plan)
    name = sha256(json_line({"run": source.name, "plan": plan})).hexdigest()
    players = plan.get("players") or ["imported"]
    return {
        "version": _VERSION,
        "eval": {
            "eval_id": name[:22],
            "run_id": name[22:44],
            "task_id": name[42:],
            "created": began.isoformat(timespec="seconds"),
            "task": str(plan.get("game") or plan.get("judged") or plan.get("import")),
            "task_version": 0,
            "task_attribs": {},
            "task_args": {key: value for key, value in plan.items() if key not in ("players", "cells")},
            "tags": ["liescope"],
            "dataset": {"name": source.name, "samples": samples, "shuffled": False},
            "model": " + ".join(map(str, players)),
            "model_generate_config": {},
            "model_args": {},
            "config": {"epochs": 1},
            "packages": {"liescope": version("liescope")},
            "metadata": {"licences": source.licences},
            "scorers": [{"name": name} for name in ("winner", *(f"label_{target}" for target in TARGETS))],
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
    }


def _header(head: Mapping[str, Any], began: datetime, sums: _Sums) -> dict[str, Any]:
    return {
        "version": head["version"],
        "status": "success",
        "eval": head["eval"],
        "plan": head["plan"],
        "results": {
            "total_samples": sums.samples,
            "completed_samples": sums.completed,
            "scores": sums.scores(),
        },
        "stats": {
            "started_at": began.isoformat(timespec="seconds"),
            "completed_at": datetime.fromtimestamp(began.timestamp() + sums.seconds, UTC).isoformat(),
            "model_usage": {model: asdict(usage) for model, usage in sums.by_model.items()},
            "role_usage": {role: asdict(usage) for role, usage in sums.by_role.items()},
        },
    }


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a sample in the viewer's list."""
    kept = ("id", "epoch", "input", "target", "model_usage", "role_usage", "started_at", "completed_at")
    few = {name: value for name, value in sample["metadata"].items() if not isinstance(value, dict | list)}
    return {
        **{name: sample[name] for name in (*kept, "total_time", "working_time", "uuid")},
        "input": sample["input"][:_SUMMARY],
        "metadata": {name: value[:_SUMMARY] if isinstance(value, str) else value for name, value in few.items()},
        "scores": sample["scores"],
        **({"error": sample["error"]["message"][:_SUMMARY]} if "error" in sample else {}),
        "completed": True,
        "message_count": len(sample["messages"]),
    }


def _add(log: ZipFile, name: str, content: bytes) -> None:
    with _member(log, name) as file:
        file.write(content)


def _copy(log: ZipFile, name: str, content: IO[bytes]) -> None:
    content.seek(0)
    with _member(log, name) as file:
        shutil.copyfileobj(content, file)


def _member(log: ZipFile, name: str) -> IO[bytes]:
    """A file in the ZIP, of no date, so that the same run gives the same bytes."""
    info = ZipInfo(name)
    info.compress_type = ZIP_DEFLATED
    return log.open(info, "w", force_zip64=True)
