"""What is left out is never learned from, nor used to choose options; units, targets and their errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import liescope
from liescope import cli
from liescope.common.errors import UnknownName, UsageError
from liescope.detectors.detector import silent
from liescope.detectors.material import canaries
from liescope.detectors.study.transfer import transfer
from liescope.detectors.study.trials import LEFT_OUT, PAIR, learned_in, plan
from liescope.detectors.study.units import UNITS, UnitTable, read_table
from liescope.detectors.text_form import TextConfig
from liescope.detectors.training import Recipe
from tests.detectors.conftest import Corpus, Rows
from tests.detectors.transfer.conftest import Planted, each_fold, mixed, rows_of
from tests.detectors.transfer.recording import RecordingDetector


@pytest.fixture(scope="module")
def table(planted: Planted) -> UnitTable:
    """Two corpora; four models play among themselves, each in one of them."""
    return read_table([planted("north", ("ada", "bo")), planted("south", ("cy", "di"))], "role")


@pytest.mark.parametrize("by", ["model", "corpus"])
def test_no_fit_ever_sees_a_game_that_is_scored(by: str, table: UnitTable, recording: type[RecordingDetector]) -> None:
    recipe = Recipe(recording.kind, "", TextConfig(), {}, 0)
    frame = table.frame.with_columns(unit=UNITS[by])
    facts = {key: (game, unit) for key, game, unit in frame.select("statement_id", "game_id", "unit").iter_rows()}
    ids = table.frame["statement_id"].to_numpy()
    for trial, fit in each_fold(table, by):
        recording.seen.clear()
        list(learned_in(table, [trial], recipe, silent))
        (first, learned), (last, scored) = recording.seen
        assert (first, last) == ("fit", "score")
        assert learned == set(ids[fit.learn])
        assert scored == set(ids[fit.score])
        assert not {facts[key][0] for key in learned} & {facts[key][0] for key in scored}
        if trial.protocol == LEFT_OUT:
            assert trial.unit not in {facts[key][1] for key in learned}


def test_every_statement_of_every_game_is_scored_once_by_each_pair_fit(table: UnitTable) -> None:
    for by in ("model", "corpus"):
        for unit in set(table.units(by)):
            of_unit = [fold for trial, fold in each_fold(table, by) if (trial.protocol, trial.unit) == (PAIR, unit)]
            scored = [row for fold in of_unit for row in fold.score]
            assert sorted(scored) == list(range(table.frame.height))


def test_at_mixed_tables_a_model_left_out_is_judged_by_its_own_words_and_nothing_said_to_it_is_learned_from(
    planted: Planted, recording: type[RecordingDetector]
) -> None:
    corpus = planted("mixed", ("ada", "bo", "cy"), seated=mixed)
    table = read_table([corpus], "role")
    game, who, ids = (table.frame[name].to_numpy() for name in ("game_id", "speaker_model", "statement_id"))
    recording.seen.clear()
    found = transfer(corpus, by="model", detector=recording.kind, protocols="left-out", context=0)
    for model in ("ada", "bo", "cy"):
        own = who == model
        tables = np.isin(game, game[own])
        assert len(set(who[tables])) == 3  # others speak at its tables, to it and about it
        ((fit,),) = (one.folds for one in plan(table, "model", 0) if (one.protocol, one.unit) == (LEFT_OUT, model))
        assert not tables[fit.learn].any()
        assert sorted(ids[fit.score]) == sorted(ids[tables])
        ((_, pooled),) = rows_of(found, LEFT_OUT, "auroc", test=model)
        ((_, within),) = rows_of(found, LEFT_OUT, "auroc_within", test=model)
        assert pooled.statements == own.sum() < tables.sum()
        both = [name for name in set(game[own]) if len(set(table.y[own & (game == name)])) == 2]
        assert within.games == len(both) < pooled.games
        assert within.statements == np.isin(game[own], both).sum()


def test_a_model_at_every_table_cannot_be_left_out_and_its_cell_says_so(
    corpus: Path, recording: type[RecordingDetector]
) -> None:
    found = transfer(corpus, by="model", detector=recording.kind, context=0, smoothing=1.0)
    empty = [row for _, row in rows_of(found, LEFT_OUT, "auroc")]
    assert [row.value for row in empty] == [None, None]
    assert [row.why for row in empty] == [
        f"{m} speaks everywhere, so that nothing is left to learn from" for m in ("model-a", "model-b")
    ]
    assert all(row.value is not None for _, row in rows_of(found, PAIR, "auroc"))


def test_people_are_one_source_and_models_another_whether_played_here_or_imported(
    planted: Planted, recording: type[RecordingDetector]
) -> None:
    def from_elsewhere(rows: Rows) -> None:
        for row in rows["statements"]:
            row["source"] = "imported"

    def people(rows: Rows) -> None:
        for row in rows["statements"]:
            row["source"] = row["speaker_model"] = "human"

    corpora = [planted("here"), planted("there", change=from_elsewhere), planted("people", change=people)]
    found = transfer(corpora, by="source", detector=recording.kind, protocols="left-out", context=0, smoothing=1.0)
    assert {place.test for place in found.places.values()} == {"human", "model", ""}
    assert found.metrics["value"].null_count() == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"by": "corpus"}, "only one corpus, north"),
        ({"by": "model", "target": "west=self"}, "no corpus is called 'west'"),
        ({"by": "model", "target": "truth"}, "unknown target"),
        ({"by": "speaker"}, "--by"),
        ({"by": "model", "protocols": "left"}, "--only"),
        ({"by": "model", "detector": "oracle"}, "unknown kind of detector"),
        ({"by": "model", "epochs": 3.0}, "--epochs"),
    ],
)
def test_a_mistake_is_named(arguments: dict[str, object], words: str, planted: Planted) -> None:
    with pytest.raises((UsageError, UnknownName), match=words):
        transfer(planted("north", ("ada", "bo"), games=4), **arguments)  # type: ignore[arg-type]


def test_two_corpora_with_a_game_in_common_are_refused(make_corpus: Corpus, tmp_path: Path) -> None:
    first, second = (make_corpus(games=4).rename(tmp_path / name) for name in ("first", "second"))
    with pytest.raises(UsageError, match="'game-00000' is in first and in second"):
        transfer([first, second], by="corpus")


def test_a_unit_with_one_class_and_a_corpus_without_the_target_are_empty_cells_with_their_reasons(
    planted: Planted, recording: type[RecordingDetector]
) -> None:
    def honest(rows: Rows) -> None:
        for row in rows["statements"]:
            row["label_role"] = False

    def silenced(rows: Rows) -> None:
        for row in rows["statements"]:
            row["label_self"] = None

    corpora = [planted("lies"), planted("honest", change=honest), planted("unasked", change=silenced)]
    settings = {"detector": recording.kind, "protocols": PAIR, "context": 0, "smoothing": 1.0}
    found = transfer(corpora, by="corpus", target=["role", "unasked=self"], **settings)
    assert found.targets == {"lies": "role", "honest": "role", "unasked": "self"}
    why = {(place.train, place.test): row.why for place, row in rows_of(found, PAIR, "auroc")}
    assert why["lies", "lies"] == ""
    assert why["lies", "honest"] == "honest: all 144 statements are honest"
    assert why["lies", "unasked"] == "unasked: no statement has a label"
    assert why["honest", "lies"] == "honest: all 144 statements are honest"
    assert why["unasked", "lies"] == "unasked: no statement has a label"
    ((mean, row),) = rows_of(found, PAIR, "auroc_within", end="mean")
    assert (mean.cells, row.value) == (0, None)
    assert "unasked: 144 of 144 statements have no self label; labels there are: role 144, claim 70" in found.notes


def test_a_model_with_two_names_is_one_unit_and_that_is_said(planted: Planted) -> None:
    found = read_table([planted("north", ("gpt-4.1-mini",)), planted("south", ("openai/gpt-4.1_mini", "cy"))], "role")
    assert set(found.units("model")) == {"cy", "gpt-4.1-mini"}
    assert set(found.players["speaker_model"]) == {"cy", "gpt-4.1-mini"}
    assert any("names of one model" in note for note in found.notes)


def canary(rows: Rows) -> None:
    for game in rows["games"]:
        game["meta"] = json.dumps({**json.loads(game["meta"] or "{}"), "canary": "canary 7f3a"})


def test_what_carries_a_canary_is_tested_on_and_never_learned_from(
    planted: Planted, recording: type[RecordingDetector]
) -> None:
    def half(rows: Rows) -> None:
        canary({name: rows[name] for name in rows} | {"games": rows["games"][::2]})

    corpora = [planted("open"), planted("marked", ("bo",), change=canary), planted("half", ("cy",), change=half)]
    found = transfer(corpora, by="corpus", detector=recording.kind, context=0, smoothing=1.0)
    marked = set[str]()
    for corpus, count in zip(corpora[1:], (24, 12), strict=True):
        games = set(canaries(corpus)["game_id"])
        assert len(games) == count
        assert any(note.startswith(f"{corpus.name}: {count} games carry a canary") for note in found.notes)
        marked |= games
    learned = {statement.rpartition(":")[0] for fit in recording.fits() for statement in fit}
    assert learned
    assert not learned & marked
    cells = {(place.train, place.test): row for place, row in rows_of(found, PAIR, "auroc")}
    assert cells["open", "marked"].statements == 144
    assert cells["half", "open"].value is not None
    assert cells["marked", "open"].value is None
    assert cells["marked", "open"].why.startswith("marked: nothing is learned from it, for it carries a canary")


def test_where_everything_carries_a_canary_transfer_is_refused_as_training_is(planted: Planted, tmp_path: Path) -> None:
    corpora = [planted("one", change=canary), planted("two", change=canary)]
    with pytest.raises(UsageError, match="24 games carry a canary: their publishers ask that nothing is trained"):
        liescope.train("tfidf", corpora[0], out=tmp_path / "m")
    with pytest.raises(UsageError, match="48 games carry a canary: their publishers ask that nothing is trained"):
        transfer(corpora, by="corpus")


def test_the_label_of_the_source_is_learned_where_there_is_no_other(tmp_path: Path) -> None:
    for name in ("one", "two"):
        rows = [f"{name} was {('away', 'here')[i % 2]} {i},{('lie', 'truth')[i % 2]}" for i in range(20)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["text,label", *rows]), encoding="utf-8")
        assert cli.main(["import", "text", str(tmp_path / f"{name}.csv"), "--out", str(tmp_path / name)]) == 0
    found = transfer([tmp_path / "one", tmp_path / "two"], by="corpus", context=0, strength=1.0)
    assert found.targets == {"one": "gold", "two": "gold"}
    assert found.metrics["value"].count()
