"""What building a corpus keeps: every row, every game in one split, the same bytes from the same runs."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from liescope import cli
from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.data_cards.tables import SPLITS, TABLES
from liescope.generate.corpus.build import build
from liescope.generate.corpus.corpus_facts import CorpusFacts
from liescope.generate.corpus.publish import publish
from liescope.generate.corpus.read import check, read, split_of
from liescope.labeling.label import label_game
from tests.generate.corpus.games import fail, pack, play, stream

MakeRun = Callable[..., Path]


def test_a_run_comes_back_as_its_labels_say(make_run: MakeRun, tmp_path: Path) -> None:
    games = [play(number) for number in range(20)]
    build([make_run("one", games)], out=tmp_path / "corpus")
    rows = {config: read(tmp_path / "corpus", config).collect() for config in TABLES}
    labelled = {game.game_id: label_game(game) for game in games}
    statements = {row.statement_id: row for game in labelled.values() for row in game.statements}
    assert rows["statements"].height == len(statements)
    for row in rows["statements"].iter_rows(named=True):
        meant = statements[row["statement_id"]]
        for field in fields(meant):
            value = getattr(meant, field.name)
            assert row[field.name] == (list(value) if isinstance(value, tuple) else value)
    claims = [asdict(claim) for game in games for claim in labelled[game.game_id].claims]
    made = [{**claim, "evidence": list(claim["evidence"])} for claim in claims]
    assert sorted(rows["claims"].drop("split").to_dicts(), key=str) == sorted(made, key=str)
    assert rows["ratings"].height == sum(len(game.ratings) for game in labelled.values())
    assert rows["votes"].height == sum(len(game.votes) for game in labelled.values())
    assert set(rows["games"]["game_id"]) == set(labelled)
    assert set(rows["games"]["run"]) == {"one"}


def test_who_plays_is_one_name_by_roles_where_the_models_differ(tmp_path: Path) -> None:
    game = play(1)
    villagers = [seat.name for seat in game.by_role("villager")]
    seats = tuple(replace(seat, model="other") if seat.name == villagers[0] else seat for seat in game.seats)
    alone = tuple(replace(seat, model="one") for seat in game.seats)
    games = [replace(game, seats=seats), replace(game, seats=alone, game_id="alone")]
    pack(stream(games), tmp_path / "corpus")
    names = dict(read(tmp_path / "corpus", "games").select("game_id", "model").collect().iter_rows())
    models = {role: game.by_role(role)[0].model for role in ("detective", "mafioso")}
    shared = "+".join(sorted({"other", game.by_role("villager")[1].model}))
    assert names == {game.game_id: f"{models['detective']} | {models['mafioso']} | {shared}", "alone": "one"}


@pytest.fixture(scope="module")
def held_out(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CorpusFacts]:
    """Sixty games, in half of which a model plays that is held out."""
    folder = tmp_path_factory.mktemp("held-out") / "corpus"
    games = [play(number, models=("a", "b", "c") if number % 2 else ("a", "a", "a")) for number in range(60)]
    return folder, pack(stream(games), folder, ["b"])


def test_games_of_a_held_out_model_are_all_in_the_test_split_and_every_game_is_in_one(
    held_out: tuple[Path, CorpusFacts],
) -> None:
    folder, _ = held_out
    seen: dict[str, set[str]] = {}
    for config in TABLES:
        for game, split in read(folder, config).select("game_id", "split").collect().iter_rows():
            seen.setdefault(game, set()).add(split)
    for row in read(folder, "games").collect().iter_rows(named=True):
        plays = any(seat["model"] == "b" for seat in row["seats"])
        assert seen[row["game_id"]] == {"test" if plays else split_of(row["game_id"])}
    trained = read(folder, "statements", "train").collect()
    assert trained.height
    assert "b" not in set(trained["speaker_model"])
    check(folder)


def test_the_facts_count_what_the_rows_hold(held_out: tuple[Path, CorpusFacts]) -> None:
    folder, facts = held_out
    statements = read(folder, "statements").collect()
    assert facts.statements == statements.height
    for label in facts.labels:
        column = statements[f"label_{label.target}"]
        assert (label.labelled, label.positive) == (column.count(), column.sum())
        assert sum(label.nulls.values()) == column.null_count()
    assert sum(model.statements for model in facts.models) == statements.height
    assert json.loads((folder / "corpus.json").read_text("utf-8")) == json.loads(json.dumps(facts.to_json()))


def test_the_check_finds_a_game_that_was_moved_by_hand_and_it_is_not_published(
    tmp_path: Path, leak: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(stream([play(number) for number in range(30)]), tmp_path / "corpus")
    leak(tmp_path / "corpus")
    with pytest.raises(BadData, match="more than one split"):
        check(tmp_path / "corpus")
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "hf_writer_token")
    with pytest.raises(BadData, match="more than one split"):
        publish(tmp_path / "corpus", "me/games")


def test_the_splits_are_about_70_15_15() -> None:
    drawn = pl.Series([split_of(f"any game {number}") for number in range(20_000)]).value_counts(normalize=True)
    shares = dict(drawn.iter_rows())
    assert shares == pytest.approx({"train": 0.70, "validation": 0.15, "test": 0.15}, abs=0.01)


def test_a_game_keeps_its_split_whatever_else_is_in_the_corpus(tmp_path: Path) -> None:
    games = [play(number) for number in range(12)]
    pack(stream(games), tmp_path / "all")
    drawn = dict(read(tmp_path / "all", "games").select("game_id", "split").collect().iter_rows())
    for game in games[:2]:
        pack(stream([game]), tmp_path / "alone")
        assert read(tmp_path / "alone", "games").collect()["split"].to_list() == [drawn[game.game_id]]


def test_a_held_out_model_is_held_out_under_every_name_it_has_and_they_are_said(
    make_run: MakeRun, tmp_path: Path
) -> None:
    named = ("gpt-4.1-mini", "openai/gpt-4.1_mini", "gpt-4.1-mini-2025-04-14", "gpt-4.1-nano")
    games = [play(number, models=(named[number % 4],) * 3) for number in range(60)]
    made = build([make_run("one", games)], out=tmp_path / "corpus", hold_out_models=["gpt-4.1_mini"])
    trained = read(tmp_path / "corpus", "statements", "train").collect()
    assert set(trained["speaker_model"]) == {"gpt-4.1-nano"}
    assert set(made.facts.hold_out) == set(named[:3])
    (words,) = made.notes
    assert all(name in words for name in named[:3])


def test_an_unknown_held_out_model_names_those_that_play(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("one", [play(1)])
    with pytest.raises(UnknownName, match="model-a, model-b, model-c"):
        build([run], out=tmp_path / "corpus", hold_out_models=["model-d"])
    assert not (tmp_path / "corpus").exists()


def test_the_same_runs_give_the_same_bytes(make_run: MakeRun, tmp_path: Path) -> None:
    runs = [make_run("one", [play(n) for n in range(12)]), make_run("two", [play(n) for n in range(12, 20)])]
    for name in ("first", "second"):
        build(runs, out=tmp_path / name / "corpus", hold_out_models=["model-a"])
    written = sorted(path.relative_to(tmp_path / "first") for path in (tmp_path / "first").rglob("*.parquet"))
    assert len(written) == len(TABLES) * len(SPLITS)
    for path in written:
        assert (tmp_path / "first" / path).read_bytes() == (tmp_path / "second" / path).read_bytes()


def test_a_game_that_two_runs_share_is_refused(make_run: MakeRun, tmp_path: Path) -> None:
    runs = [make_run("one", [play(1), play(2)]), make_run("two", [play(2), play(3)])]
    with pytest.raises(UsageError, match=r"game-00002.*'one' and 'two'"):
        build(runs, out=tmp_path / "corpus")
    with pytest.raises(UsageError, match="'one' twice"):
        build([runs[0], runs[0]], out=tmp_path / "corpus")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs"]


def test_failed_games_are_listed_with_their_reason_and_their_words_left_out(tmp_path: Path) -> None:
    games = [play(number) for number in range(12)]
    games[4] = fail(games[4], "the endpoint went away")
    facts = pack(stream(games), tmp_path / "corpus")
    table = read(tmp_path / "corpus", "games").filter(pl.col("status") == "failed").collect()
    assert table.select("game_id", "failure", "winner").rows() == [("game-00004", "the endpoint went away", None)]
    for config in ("statements", "votes", "ratings"):
        assert "game-00004" not in set(read(tmp_path / "corpus", config).collect()["game_id"])
    assert (facts.games, facts.failed, facts.failures) == (11, 1, {"the endpoint went away": 1})


def test_one_class_is_enough(tmp_path: Path) -> None:
    game = play(2, assess=False)
    seats = tuple(replace(seat, deceives=False) for seat in game.seats)
    facts = pack(stream([replace(game, seats=seats)]), tmp_path / "corpus")
    assert facts.labels[0].positive == 0
    assert facts.rows["ratings"] == dict.fromkeys(SPLITS, 0)
    assert read(tmp_path / "corpus", "ratings").collect().height == 0


def test_any_text_survives_the_way_through_but_half_a_surrogate_pair(tmp_path: Path) -> None:
    text = 'a\x00\x1b[31m\x85 c\r\n\td \u202e\u2067שלום\u2069"}\n---\n{{ 7 }} {% raw %} \U0010ffff' + " word" * 4000
    pack(stream([play(1, said=f"{text} so \ud83d it is")]), tmp_path / "corpus")
    assert set(read(tmp_path / "corpus", "statements").collect()["text"]) == {f"{text} so \ufffd it is"}


def test_names_of_models_do_not_break_the_card(tmp_path: Path) -> None:
    models = ("a|b\n# heading", "{{ x }}</td>", "\u202e**bold**`")
    pack(stream([play(number, models=models) for number in range(3)]), tmp_path / "corpus", [models[0]])
    card = (tmp_path / "corpus" / "README.md").read_text("utf-8")
    assert "\n# heading" not in card
    assert "{{" not in card
    assert "</td>" not in card
    rows = [line for line in card.splitlines() if line.startswith("|") and "bold" in line]
    assert [line.count("|") for line in rows] == [5]


def test_a_corpus_of_the_same_runs_is_replaced_with_a_word_and_any_other_only_when_asked(
    make_run: MakeRun, tmp_path: Path
) -> None:
    one, two, out = make_run("one", [play(1)]), make_run("two", [play(2), play(3)]), tmp_path / "corpus"
    assert build(one, out=out).notes == ()
    assert "same runs, which is replaced" in build(one, out=out).notes[-1]
    before = sorted((path, path.read_bytes()) for path in out.rglob("*") if path.is_file())
    held_out = {"hold_out_models": ["model-a"]}
    for runs, options in ((two, {}), ([one, two], {}), (one, {"transcript": True}), (one, held_out)):
        with pytest.raises(UsageError, match="--overwrite"):
            build(runs, out=out, **options)
    assert sorted((path, path.read_bytes()) for path in out.rglob("*") if path.is_file()) == before
    assert build(two, out=out, overwrite=True).facts.games == 2


def test_runs_without_a_finished_game_are_refused(make_run: MakeRun, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no finished game"):
        build([make_run("empty", [])], out=tmp_path / "corpus")
    with pytest.raises(UsageError, match="at least one run"):
        build([], out=tmp_path / "corpus")


def test_a_full_disk_is_one_line_and_leaves_nothing_behind(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run("one", [play(1)])

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    assert cli.main(["build", str(run), "--out", str(tmp_path / "corpus")]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"error: {tmp_path / 'corpus'} cannot be written")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs"]


def test_it_tells_what_it_made_and_what_is_left_to_play(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run("one", [play(number) for number in range(3)])
    head = json.loads((run / "run.json").read_text(encoding="utf-8"))
    head["plan"] = {**head["plan"], "cells": [["a"] * 3, ["b"] * 3], "games": 4}
    (run / "run.json").write_text(json.dumps(head), encoding="utf-8")
    assert build(run, out=tmp_path / "corpus").unplayed == 5
    assert cli.main(["build", str(run), "--out", str(tmp_path / "corpus")]) == 0
    printed = capsys.readouterr()
    assert "of 3 games" in printed.out
    assert "3/3 games" in printed.err  # and no progress on standard output
    assert "5 games of these runs are not played yet" in printed.err
