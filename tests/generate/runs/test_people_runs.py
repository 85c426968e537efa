"""A game with people is a run like any other: replayed, resumed, built, judged, continued."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import liescope
from liescope import cli
from liescope.benchmark.capability.count_sources import load_conditions
from liescope.common.errors import RunPaused, UsageError
from liescope.common.model_names import PEOPLE, consent_hash
from liescope.games.core import Event
from liescope.generate.exports.exporting import EXPORTERS
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import answered, rebuild
from liescope.generate.runs.show_commands import list_games
from tests.generate.runs.people import FOX, HELD, OTTER, play_with_people, table


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people") / "table-1"
    assert play_with_people(table(), folder).done == 1
    return folder


def events(run: Path) -> tuple[Event, ...]:
    with Journal.open(run) as journal:
        (record,) = journal.records()
    return record.events


@pytest.mark.parametrize("answers", [0, 1, 4])
def test_a_table_that_people_left_goes_on_where_it_was(answers: int, tmp_path: Path) -> None:
    stopped = play_with_people(table(), tmp_path / "run", answers)
    assert isinstance(stopped.stop, RunPaused)
    with Journal.open(tmp_path / "run") as journal:
        (game,) = journal.begun()
        before = journal.answers(game)
    assert play_with_people(table(), tmp_path / "run").done == 1
    with Journal.open(tmp_path / "run") as journal:
        after = journal.answers(game)
        assert before.items() <= after.items()
        session = rebuild(journal, game)
        answered(journal, game, session, 1000)
        assert tuple(session.events) == events(tmp_path / "run")


def test_a_corpus_tells_peoples_words_from_others(run: Path, tmp_path: Path) -> None:
    built = liescope.build(run, out=tmp_path / "corpus")
    rows = built.statements.select("speaker", "source", "speaker_model").unique()
    expected = {
        (name, "human", spec[6:]) if spec[:6] == "human:" else (name, "scripted", spec) for name, spec in HELD.items()
    }
    assert set(rows.iter_rows()) <= expected
    assert "human" in built.facts.sources
    card = (built.folder / "README.md").read_text("utf-8")
    assert "> You are recorded." in card
    assert consent_hash(("You are recorded.", "You may withdraw.")) in card
    assert "waited 180 s for words" in " ".join(card.split())
    assert not any(one.terms.redistributable for one in built.facts.licences)
    with pytest.raises(UsageError, match="may not be redistributed"):
        liescope.publish(tmp_path / "corpus", "somebody/people", dry_run=True)


def test_every_format_takes_it(run: Path, tmp_path: Path) -> None:
    for name in EXPORTERS:
        assert cli.main(["export", str(run), "--to", name, "--out", str(tmp_path / name)]) == 0


def test_people_count_as_one_player_in_fits_and_train_detectors(run: Path, tmp_path: Path) -> None:
    runs = [run, *(tmp_path / f"table-{seed}" for seed in (6, 7, 8))]
    for seed, folder in zip((6, 7, 8), runs[1:], strict=True):
        play_with_people(table(seed), folder)
    counts = load_conditions(runs, pool=True)[""]
    players = set(counts.cells.select("mafioso", "detective", "villager").to_numpy().ravel())
    assert PEOPLE in players
    assert not {OTTER, FOX} & players
    corpus = liescope.build(runs, out=tmp_path / "corpus")
    trained = liescope.train("tfidf", corpus.folder, out=tmp_path / "detector", folds=0)
    assert "human" in json.loads((trained.model / "model.json").read_text("utf-8"))["training"]["sources"]


def test_a_judge_rates_what_people_said(run: Path, tmp_path: Path) -> None:
    judged = liescope.label(run, "scripted:bold", out=tmp_path / "judged")
    with Journal.open(judged.folder) as journal:
        (record,) = journal.records()
    assert record.meta["judge"] == "scripted:bold"
    assert {seat.model for seat in record.seats if seat.source == "human"} == {OTTER, FOX}


def test_people_are_not_asked_what_they_believe(run: Path, tmp_path: Path) -> None:
    judged = liescope.label(run, beliefs=True, out=tmp_path / "beliefs").folder
    with Journal.open(judged) as journal:
        asked = {call["seat"] for game in journal.game_ids() for call in journal.calls(game)}
    assert asked
    assert not {"Alice", "Bob"} & asked


def speaking(run: Path) -> int:
    """The step of the last statement of the game."""
    with Journal.open(run) as journal:
        (game,) = journal.game_ids()
        return max(call["step"] for call in journal.calls(game) if call["kind"] == "speak")


@pytest.mark.parametrize(
    "given", [{}, {"players": ["scripted:bold"]}, {"others": "scripted:bold", "players": ["human:Me"]}]
)
def test_a_person_cannot_be_asked_again(given: Mapping[str, Any], run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be asked again; name who plays on"):
        liescope.fork(run, "0", speaking(run), times=1, out=tmp_path / "fork", **given)


def test_what_people_said_before_a_fork_stays_theirs(run: Path, tmp_path: Path) -> None:
    where = tmp_path / "fork"
    liescope.fork(run, "0", speaking(run), players=["scripted:bold"], others="scripted:steady", times=2, out=where)
    built = liescope.build(where, out=tmp_path / "corpus")
    theirs = {event.text for event in events(run) if event.kind == "statement" and event.actor in ("Alice", "Bob")}
    assert theirs
    before = built.statements.filter(pl.col("text").is_in(theirs))
    assert set(before["source"]) == {"human"}
    assert set(before["speaker_model"]) <= {OTTER, FOX}
    assert set(built.games["source"]) == {"human+scripted"}
    assert "human" in built.facts.seat_sources
    assert not any(one.terms.redistributable for one in built.facts.licences)


def test_its_pages_in_the_terminal(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Journal.open(run) as journal:
        listed = "\n".join(line.plain for line in list_games(journal).lines)
        (record,) = journal.records()
    assert all(f"{seat.role}: {seat.model}" in listed for seat in record.seats)
    assert cli.main(["show", str(run), "0"]) == 0
    assert f"{OTTER} (human)" in capsys.readouterr().out
    assert cli.main(["status", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"]["done"] == 1
