"""Games in which a seat of a model gave no usable reply: in no count unless asked for, and told by every report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope.benchmark.capability.count_sources import load_conditions
from liescope.common.errors import UsageError
from liescope.generate.runs.journal import Journal

ALL, SILENT = 42, 14


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, every third game of it marked, with its corpus and a model; and a run of marked games alone."""
    folder = tmp_path_factory.mktemp("silent")
    players = ["scripted:bold", "scripted:novice", "scripted:steady"]
    liescope.play("mini-mafia", players=players, games=2, out=folder / "whole")
    with Journal.open(folder / "whole") as whole:
        games = list(whole.records())
        for name, every in (("run", 3), ("mute", 1)):
            with Journal.create(folder / name, whole.plan) as journal:
                for number, game in enumerate(games):
                    silent: dict[str, Any] = {} if number % every else {"silent": {game.seats[0].name: 3}}
                    journal.add_record(replace(game, meta={**game.meta, **silent}))
    liescope.build(folder / "run", out=folder / "corpus")
    liescope.train("tfidf", folder / "corpus", out=folder / "model")
    return folder


REPORTS: dict[str, Callable[[Path], list[str]]] = {
    "analyse": lambda made: list(liescope.analyse(made / "run").notes),
    "analyse a corpus": lambda made: list(liescope.analyse(made / "corpus").notes),
    "report": lambda made: liescope.report(made / "run", draws=50, tune=50, out=made / "report").data["notes"],
    "counts": lambda made: [f"{n} games: {why}" for n, why in excluded(made)],
    "audit": lambda made: list(liescope.audit(made / "run").notes),
    "audit a corpus": lambda made: list(liescope.audit(made / "corpus").notes),
    "evaluate": lambda made: list(liescope.evaluate(made / "model", made / "corpus").notes),
    "bench": lambda made: list(liescope.bench("tfidf", suite=suite_of(made), data=made).notes),
    "card": lambda made: [(made / "corpus" / "README.md").read_text(encoding="utf-8")],
    "kept": lambda made: list(liescope.analyse(made / "run", count_silent=True).notes),
    "kept in counts": lambda made: list(load_conditions([made / "corpus"], silent=True)[""].notes),
}


def suite_of(made: Path) -> Path:
    file = made / "suite.toml"
    file.write_text('about = "Own."\n[[data]]\nname = "own"\nfile = "corpus"\n', encoding="utf-8")
    return file


def excluded(made: Path) -> list[tuple[int, str]]:
    return [(count, why) for why, count in load_conditions([made / "run"])[""].excluded.items()]


@pytest.mark.long
@pytest.mark.parametrize("name", REPORTS)
def test_every_report_says_in_how_many_games_a_model_was_silent(name: str, made: Path) -> None:
    told = [note for note in REPORTS[name](made) if "no reply of one of the models could be used" in note]
    assert told
    assert all(f"{SILENT} games" in note for note in told)


@pytest.mark.long
@pytest.mark.parametrize("source", ["run", "corpus"])
def test_such_games_count_if_it_is_asked_for_and_only_then(source: str, made: Path) -> None:
    counted = {silent: load_conditions([made / source], silent=silent)[""].games for silent in (False, True)}
    assert counted == {False: ALL - SILENT, True: ALL}
    analysed = [liescope.analyse(made / source, count_silent=silent) for silent in counted]
    assert [(one.games, one.failed) for one in analysed] == [(ALL - SILENT, SILENT), (ALL, 0)]
    won = [sum(one.winners["mini-mafia"].values()) for one in analysed]
    assert won == [ALL - SILENT, ALL]


def test_where_all_games_are_such_the_way_to_count_them_is_named(made: Path) -> None:
    for make in (liescope.analyse, liescope.fit):
        with pytest.raises(UsageError, match=f"{ALL} .*no reply of one of the models .*--count-silent"):
            make(made / "mute")
    assert liescope.analyse(made / "mute", count_silent=True).games == ALL
