"""Runs of the first version, whose journals have format 1: they open, replay, go on and give the labels of then.

Each archive in old_runs/ holds a run folder as that version left it, and the labels that it gave the run's games.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from liescope import cli
from liescope.common.errors import BadData
from liescope.games.core import Event
from liescope.games.record import GameRecord
from liescope.generate.runs import playing, runner, tables
from liescope.generate.runs.call_prompt import RENDERED, prompt_of_call
from liescope.generate.runs.folder import FORMAT
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan import read_plan
from liescope.generate.runs.playing import Playing
from liescope.generate.runs.rebuild import rebuild
from liescope.labeling.label import label_game

FOLDER = Path(__file__).parent / "old_runs"
PLAYED, JUDGED = ("mini", "wolves"), ("mini-judged", "wolves-judged")
SINCE = frozenset({"drawn"})  # facts that the rules have noted on events since then


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("old")
    for name in (*PLAYED, *JUDGED):
        with tarfile.open(FOLDER / f"{name}.tar.xz") as archive:
            archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def old(unpacked: Path, tmp_path: Path) -> Callable[[str], Path]:
    """old(name): a copy of that run's folder."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(unpacked / name, tmp_path / name))

    return copy


def games_of(run: Path) -> list[GameRecord]:
    with Journal.open(run) as journal:
        return list(journal.records())


def as_then(events: Sequence[Event]) -> list[Event]:
    """The events without what the rules did not note then."""
    return [
        replace(event, data={name: value for name, value in event.data.items() if name not in SINCE})
        for event in events
    ]


def table(file: Path) -> list[list[object]]:
    rows = file.read_text(encoding="utf-8").splitlines()[1:]
    return [[json.loads(cell) for cell in row.split("\t")] for row in rows]


@pytest.mark.parametrize("name", [*PLAYED, *JUDGED])
def test_an_old_run_is_read_and_left_as_it_is(name: str, unpacked: Path) -> None:
    before = (unpacked / name / "journal.sqlite").read_bytes()
    with Journal.open(unpacked / name) as journal:
        assert len(list(journal.records())) == len(journal.game_ids()) > 0
        assert all(journal.calls(game_id) for game_id in journal.game_ids())
    assert (unpacked / name / "journal.sqlite").read_bytes() == before


@pytest.mark.parametrize("name", [*PLAYED, *JUDGED])
def test_its_games_replay_to_the_same_events(name: str, unpacked: Path) -> None:
    with Journal.open(unpacked / name) as journal:
        for game in journal.records():
            session = rebuild(journal, game.game_id)
            for batch in journal.replies(game.game_id):
                session.send(batch)
            assert as_then(session.events) == as_then(game.events)
            assert session.outcome == game.outcome


@pytest.mark.parametrize("name", [*PLAYED, *JUDGED])
def test_it_gives_the_labels_of_then(name: str, unpacked: Path) -> None:
    statements, ratings = [], []
    for game in games_of(unpacked / name):
        labels = label_game(game)
        statements += [
            [
                row.statement_id,
                row.label_role,
                row.label_claim,
                row.label_self,
                row.self_type,
                row.label_peer,
                row.peer_rate,
                row.planted_type,
            ]
            for row in labels.statements
        ]
        ratings += [[r.statement_id, r.observer, r.flag, r.suspicion, r.running_suspicion] for r in labels.ratings]
    assert sorted(statements) == sorted(table(unpacked / name / "statements.tsv"))
    assert sorted(ratings, key=str) == sorted(table(unpacked / name / "ratings.tsv"), key=str)


@pytest.mark.parametrize("name", [*PLAYED, *JUDGED])
def test_it_is_upgraded_without_loss_when_it_goes_on(name: str, old: Callable[[str], Path]) -> None:
    def everything(run: Path) -> list[object]:
        with Journal.open(run) as journal:
            ids = journal.game_ids()
            return [
                list(journal.records()),
                [journal.calls(game_id) for game_id in ids],
                [journal.answers(game_id) for game_id in ids],
                journal.plan,
                journal.versions,
                journal.spent_by_kind(),
            ]

    run = old(name)
    before = everything(run)
    Journal.open(run, write=True).close()
    assert everything(run) == before
    assert json.loads((run / "run.json").read_text())["format"] == FORMAT
    with sqlite3.connect(run / "journal.sqlite") as base:
        assert base.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        base.execute("UPDATE replies SET raw = 'x' WHERE rowid = 1")
    base.close()
    with pytest.raises(BadData, match="row of replies"):
        everything(run)


def test_an_upgrade_that_breaks_off_leaves_the_run_as_it_was(
    old: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = old("mini")
    before = games_of(run)
    rows = iter(range(300))  # a full disk or a kill after so many rows

    def fails(row: Sequence[object]) -> int:
        return next(rows)

    with monkeypatch.context() as patched:
        patched.setattr(tables, "checksum", fails)
        with pytest.raises(BadData):
            Journal.open(run, write=True)
    assert json.loads((run / "run.json").read_text())["format"] == 1
    assert games_of(run) == before
    Journal.open(run, write=True).close()
    assert games_of(run) == before


def cut(run: Path, number: int, step: int) -> None:
    """As if the run had been killed in that game: it has replies up to the step, later games of its kind have none."""
    base = sqlite3.connect(run / "journal.sqlite")
    with base:
        ids = dict(base.execute("SELECT number, game_id FROM games WHERE number >= ?", (number,)).fetchall())
        base.execute("DELETE FROM games WHERE number >= ?", (number,))
        for place, game_id in ids.items():
            base.execute(
                "DELETE FROM replies WHERE game_id = ? AND step > ?", (game_id, step if place == number else -1)
            )
    base.close()


def test_the_same_command_goes_on_with_it_and_plays_the_same_games(
    old: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    run = old("mini")
    whole = games_of(run)
    cut(run, 12, 4)
    words = ["--player", "scripted:bold", "--player", "scripted:novice", "--games", "3", "--seed", "5", "--assess"]
    code = cli.main(["play", "mini-mafia", *words, "--out", str(run)])
    assert (code, capsys.readouterr().out.splitlines()[0][:8]) == (0, "24 of 24")
    again = games_of(run)
    assert [(game.game_id, as_then(game.events), game.outcome) for game in again] == [
        (game.game_id, as_then(game.events), game.outcome) for game in whole
    ]


def test_a_learning_run_goes_on_with_its_lessons(old: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def unlike(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.eye(len(texts), dtype=np.float32)

    monkeypatch.setattr(playing, "open_similarity", lambda: unlike)
    run = old("wolves")
    whole = games_of(run)
    cut(run, 4, 9)
    with Journal.open(run) as journal:
        plan = read_plan(journal.plan, run)
    tally = asyncio.run(runner.run(Playing(plan, run), run))
    again = games_of(run)
    assert (tally.done, len(again)) == (6, 6)
    assert as_then(again[4].events) == as_then(whole[4].events)
    assert [game.meta["learning"] for game in again] == [game.meta["learning"] for game in whole]


def test_judging_goes_on_too(old: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    run, judged = old("mini"), old("mini-judged")
    whole = games_of(judged)
    cut(judged, 20, 2)
    words = ["label", str(run), "--judge", "scripted:steady", "--roles", "--out", str(judged)]
    assert cli.main(words) == 0
    capsys.readouterr()
    again = games_of(judged)
    assert [(game.game_id, game.events, game.meta["judge"]) for game in again] == [
        (game.game_id, game.events, game.meta["judge"]) for game in whole
    ]


@pytest.mark.parametrize("name", [*PLAYED, *JUDGED])
def test_the_prompts_of_then_are_rendered_again(name: str, unpacked: Path) -> None:
    with Journal.open(unpacked / name) as journal:
        game_id = journal.game_ids()[0]
        for call in journal.calls(game_id)[::100]:
            shown = prompt_of_call(journal, game_id, call["step"], call["seat"])
            assert (shown.origin, shown.kind) == (RENDERED, call["kind"])
