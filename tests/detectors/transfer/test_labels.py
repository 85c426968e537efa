"""A few labelled games of what is left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from liescope import cli
from liescope.detectors.study.corpora import TransferTable, read_table
from liescope.detectors.study.plans import LEFT_OUT, PAIR, plan, with_labels
from liescope.detectors.study.transfer import transfer
from tests.detectors.transfer.conftest import Planted, reverse, rows_of

WHEN = ("", ", while it is played")


@pytest.fixture(scope="module")
def corpora(planted: Planted) -> list[Path]:
    return [planted("north"), planted("south", ("bo",), change=reverse)]


@pytest.fixture(scope="module")
def table(corpora: list[Path]) -> TransferTable:
    return read_table(corpora, "role")


def test_the_same_games_are_scored_whatever_is_drawn_and_none_of_them_is_learned_from(table: TransferTable) -> None:
    planned = plan(table, "corpus", 3, (4, 12))
    fits = {one.protocol: one.parts[0] for one in planned if one.unit == "south" and one.protocol != PAIR}
    assert list(fits) == [LEFT_OUT, *map(with_labels, (0, 4, 12))]
    assert np.array_equal(fits[with_labels(0)].learn, fits[LEFT_OUT].learn)
    few, many = (set(table.games[fits[with_labels(n)].learn]) - set(table.games[fits[LEFT_OUT].learn]) for n in (4, 12))
    assert (len(few), len(many)) == (4, 12)
    assert few < many
    assert np.array_equal(fits[with_labels(4)].score, fits[with_labels(12)].score)
    assert set(table.games[fits[with_labels(4)].score]) == set(table.games[fits[LEFT_OUT].score]) - many
    again = {one.protocol: one.parts[0] for one in plan(table, "corpus", 4, (4,)) if one.unit == "south"}
    assert set(table.games[again[with_labels(4)].learn]) != set(table.games[fits[with_labels(4)].learn])


def test_labels_of_a_reversed_signal_bring_it_to_light_and_too_many_are_an_empty_cell_that_says_so(
    corpora: list[Path],
) -> None:
    found = transfer(corpora, by="corpus", context=0, strength=4.0, protocols="left out", labels=(12, 30))
    some, none, many = (rows_of(found, with_labels(games), "auroc", test="south")[0][1] for games in (12, 0, 30))
    assert some.value is not None
    assert none.value is not None
    assert some.value > none.value + 0.05
    assert some.games == none.games == 12
    mine = found.scores.filter(scorer="tfidf", corpus="south", unit="south")
    parts = {key[0]: part.drop("scheme") for key, part in mine.partition_by("scheme", as_dict=True).items()}
    few, zero, whole = (f"{name}:corpus" for name in (with_labels(12), with_labels(0), LEFT_OUT))
    games = parts[few]["game_id"].implode()
    assert parts[zero].equals(parts[whole].filter(pl.col("game_id").is_in(games)))
    assert many.why == "south: 24 games are too few to learn from 30 and score the others"


def test_the_command_shows_what_labelled_games_bring(corpora: list[Path], tmp_path: Path) -> None:
    settings = ["--by", "corpus", "--only", "left-out", "--strength", "1", "--context", "0"]
    asked = [*map(str, corpora), *settings, "--labels", "6", "--out", str(tmp_path / "report")]
    assert cli.main(["transfer", *asked]) == 0
    words = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    table = words.partition("Each corpus left out, one by one")[2]
    assert "| scorer | north | south |" in table
    assert [f"| tfidf, {games} labelled games{when} |" in table for games in (0, 6) for when in WHEN] == [True] * 4
