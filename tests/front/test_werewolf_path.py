"""Triadic Werewolf from play to report, by commands: a small factorial of scripted players, judged once more."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from datasets import load_dataset

import liescope
from liescope import cli
from liescope.generate.corpus import read
from tests.common.without_figures import leave_out_figures

pytestmark = pytest.mark.long
GAMES = 4  # in each of four cells


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("werewolf")
    run, corpus = str(out / "run"), str(out / "corpus")
    players = ["--player", "scripted:steady", "--player", "scripted:bold?j=2"]
    play = ["play", "werewolf", "--design", "factorial", *players, "--learning", "off,on", "--games", str(GAMES)]
    caps = ["--debate-turns", "6", "--defence-turns", "3", "--assess", "--seed", "2", "--out", run]
    assert cli.main([*play, *caps]) == 0
    control = ["--games", "3", "--debate-turns", "4", "--seed", "3", "--out", str(out / "control")]
    assert cli.main(["play", "dyadic-werewolf", *control]) == 0
    judge = ["--judge", "scripted:novice", "--share", "0.5", "--roles", "--lessons", "--out", str(out / "judged")]
    assert cli.main(["label", run, *judge]) == 0
    assert cli.main(["build", run, str(out / "control"), "--out", corpus]) == 0
    assert cli.main(["build", str(out / "judged"), "--out", str(out / "judged-corpus")]) == 0
    with pytest.MonkeyPatch.context() as patch:
        leave_out_figures(patch)
        assert cli.main(["analyse", run, str(out / "control"), "--out", str(out / "report")]) == 0
    return out


def test_the_cells_are_the_players_with_learning_off_and_on(made: Path) -> None:
    games = read(made / "corpus", "games").collect().filter(pl.col("game") == "werewolf")
    assert set(games["status"]) == {"done"}
    assert games.group_by("model", "learning").len()["len"].to_list() == [GAMES] * 4
    assert set(games["winner"]) <= {"villagers", "werewolves", "jester", "nobody"}


def test_every_statement_has_its_labels_and_none_is_without_a_reason(made: Path) -> None:
    statements = read(made / "corpus", "statements").collect()
    played = statements.filter(pl.col("game") == "werewolf")
    assert set(played["phase"]) == {"discussion", "voting", "defence"}
    for label in ("label_claim", "label_self", "label_peer"):
        assert set(played[label].drop_nulls()) == {True, False}, label
        missing = statements.filter(pl.col(label).is_null())
        assert missing[f"{label}_null"].str.len_chars().gt(0).all(), label


def test_jesters_learn_from_game_to_game_and_their_lessons_are_a_config(made: Path) -> None:
    lessons = load_dataset(str(made / "corpus"), "lessons", cache_dir=str(made / "cache"))
    rows = pl.concat([split.to_polars() for split in lessons.values()])
    assert set(rows["author_model"]) == {"scripted:steady", "scripted:bold?j=2"}
    assert set(rows["order"]) <= {1, 2, 3}
    kept = rows.filter("kept")
    assert kept.height == kept.select("author_model", "text").unique().height
    files = list((made / "run" / "lessons").glob("*.jsonl"))
    assert len(files) == 2


def test_a_judges_labels_stand_apart_from_the_players_own(made: Path) -> None:
    own = read(made / "corpus", "ratings").collect()
    judged = read(made / "judged-corpus", "ratings").collect()
    assert set(own["observer_model"]) == {"scripted:steady", "scripted:bold?j=2"}
    assert set(judged["observer_model"]) == {"scripted:novice"}
    assert 0.2 * own.height < judged.height < 0.8 * own.height
    assert set(read(made / "judged-corpus", "games").collect()["judge"]) == {"scripted:novice"}


def test_a_detector_trains_on_what_they_said(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, model = str(made / "corpus"), str(made / "tfidf")
    assert cli.main(["train", "tfidf", "--corpus", corpus, "--target", "role", "--out", model]) == 0
    assert (
        cli.main(
            ["evaluate", model, "--corpus", corpus, "--observers", "--draws", "50", "--out", str(made / "evaluated")]
        )
        == 0
    )
    rows = json.loads((made / "evaluated" / "report.json").read_text(encoding="utf-8"))["rows"]
    assert {"tfidf", "control:length", "control:role_oracle"} <= {row["detector"] for row in rows}


def test_the_report_is_one_page_and_a_table_for_each_analysis(made: Path) -> None:
    page = (made / "report" / "report.html").read_text(encoding="utf-8")
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    tables = {path.stem for path in (made / "report" / "tables").glob("*.csv")}
    assert len(tables) >= 25
    wins = pl.read_csv(made / "report" / "tables" / "win_rates.csv")
    assert {"lo", "hi"} <= set(wins.columns)


def test_what_only_a_judge_can_tell_is_in_the_tables_of_judged_games_alone(made: Path) -> None:
    played = {path.stem for path in (made / "report" / "tables").glob("*.csv")}
    assert "named_roles" in liescope.analyse(made / "judged").tables.keys() - played
