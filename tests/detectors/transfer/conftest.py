"""Planted corpora of self-play and of mixed tables, and a detector that records what it is shown."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from liescope.detectors.detector_registry import DETECTORS
from liescope.detectors.study.figures import Figure
from liescope.detectors.study.schemes import Fold
from liescope.detectors.study.transfer import TransferResult
from liescope.detectors.study.trials import Place, Trial, plan
from liescope.detectors.study.units import UnitTable
from tests.detectors.conftest import NAMES, Corpus, Rows, elsewhere, sentence
from tests.detectors.transfer.recording import RecordingDetector

Planted = Callable[..., Path]


def rows_of(
    found: TransferResult, protocol: str, metric: str, scorer: str = "", **place: Any
) -> list[tuple[Place, Figure]]:
    """The figures of one metric with their places; of a detector, unless a scorer is named. place: what else holds."""
    wanted = {"end": "", "after": False, **place}
    own = [scorer] if scorer else found.settings["detectors"]
    rows = [(found.places[row.where], row) for row in found.rows if row.metric == metric and row.against is None]
    return [
        (at, row)
        for at, row in rows
        if at.protocol == protocol and row.scorer in own and all(getattr(at, k) == v for k, v in wanted.items())
    ]


def each_fold(table: UnitTable, by: str) -> Iterator[tuple[Trial, Fold]]:
    """Every fold of every trial, in a trial of its own."""
    for trial in plan(table, by, seed=0):
        yield from ((replace(trial, folds=[fold]), fold) for fold in trial.folds)


def self_play(rows: Rows, models: Sequence[str]) -> None:
    """Every game gets one model in all its seats, in turn."""
    own = {game["game_id"]: models[i % len(models)] for i, game in enumerate(rows["games"])}
    for game in rows["games"]:
        for seat in game["seats"]:
            seat["model"] = own[game["game_id"]]
    for row in rows["statements"]:
        row["speaker_model"] = own[row["game_id"]]


def mixed(rows: Rows, models: Sequence[str]) -> None:
    """Every game gets two of the models, in turn, one in every other seat."""
    own: dict[str, dict[str, str]] = {}
    for i, game in enumerate(rows["games"]):
        pair = [models[(i + j) % len(models)] for j in (0, 1)]
        for at, seat in enumerate(game["seats"]):
            seat["model"] = pair[(at + i // len(models)) % 2]
        own[game["game_id"]] = {seat["name"]: seat["model"] for seat in game["seats"]}
    for row in rows["statements"]:
        row["speaker_model"] = own[row["game_id"]][row["speaker"]]


def reverse(rows: Rows) -> None:
    """What honest speakers say is now said by deceivers."""
    for row in rows["statements"]:
        row["label_role"] = not row["label_role"]


@pytest.fixture(scope="session")
def planted(make_corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Planted:
    """planted("name", models=…, change=…): a corpus of that name, with that name in its ids and words of its own.
    The same one is made once; nobody changes it.
    """

    @cache
    def make(
        name: str,
        models: tuple[str, ...] = ("ada",),
        games: int = 24,
        change: Callable[[Rows], None] = lambda rows: None,
        seated: Callable[[Rows, Sequence[str]], None] = self_play,
    ) -> Path:
        def changed(rows: Rows) -> None:
            elsewhere(rows, name)
            draw = random.Random(name)
            for row in rows["statements"]:
                row["text"] = sentence(draw, row["label_role"], NAMES, tell=0.6)
            seated(rows, models)
            change(rows)

        made = make_corpus(games=games, change=changed)
        return made.rename(tmp_path_factory.mktemp("planted") / name)

    return make


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[RecordingDetector]]:
    monkeypatch.setitem(DETECTORS, "recording", "tests.detectors.transfer.recording:RecordingDetector")
    RecordingDetector.seen.clear()
    yield RecordingDetector
    RecordingDetector.seen.clear()
