"""A few labelled games of what is left out; detectors without one of their fields."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from liescope import cli
from liescope.detectors.transfer import transfer
from liescope.detectors.transfer.matrix import LEFT_OUT, PAIR, TransferTable, plan, read_table, with_labels
from tests.detectors.transfer.conftest import Planted, reverse


@pytest.fixture(scope="module")
def corpora(planted: Planted) -> list[Path]:
    return [planted("north"), planted("south", ("bo",), change=reverse)]


@pytest.fixture(scope="module")
def table(corpora: list[Path]) -> TransferTable:
    return read_table(corpora, "role")


def test_the_same_games_are_scored_whatever_is_drawn_and_none_of_them_is_learned_from(table: TransferTable) -> None:
    planned = plan(table, "corpus", 3, (4, 12))
    fits = {fit.protocol: fit for fit in planned if fit.unit == "south" and fit.protocol != PAIR}
    assert list(fits) == [LEFT_OUT, *map(with_labels, (4, 12))]
    few, many = (set(table.games[fits[with_labels(n)].learn]) - set(table.games[fits[LEFT_OUT].learn]) for n in (4, 12))
    assert (len(few), len(many)) == (4, 12)
    assert few < many
    assert np.array_equal(fits[with_labels(4)].score, fits[with_labels(12)].score)
    assert set(table.games[fits[with_labels(4)].score]) == set(table.games[fits[LEFT_OUT].score]) - many
    again = {fit.protocol: fit for fit in plan(table, "corpus", 4, (4,)) if fit.unit == "south"}
    assert set(table.games[again[with_labels(4)].learn]) != set(table.games[fits[with_labels(4)].learn])


def test_labels_of_a_reversed_signal_bring_it_to_light_and_too_many_are_an_empty_cell_that_says_so(
    corpora: list[Path],
) -> None:
    found = transfer(corpora, by="corpus", context=0, strength=4.0, protocols="left out", labels=(12, 30), draws=10)
    main = (pl.col("metric") == "auroc") & (pl.col("score") == "statement") & (pl.col("test") == "south")
    cells = {row["protocol"]: row for row in found.cells.filter(main).to_dicts()}
    assert cells[with_labels(12)]["value"] > cells[with_labels(0)]["value"] + 0.05
    assert cells[with_labels(12)]["games"] == cells[with_labels(0)]["games"] == 12
    mine = found.scores.filter((pl.col("unit") == "south") & (pl.col("corpus") == "south")).drop("by", "unit")
    parts = {key[0]: part.drop("protocol") for key, part in mine.partition_by("protocol", as_dict=True).items()}
    scored = parts[with_labels(12)]["statement_id"].implode()
    assert parts[with_labels(0)].equals(parts[LEFT_OUT].filter(pl.col("statement_id").is_in(scored)))
    assert cells[with_labels(30)]["why"] == "south: 24 games are too few to learn from 30 and score the others"


def test_a_detector_with_fields_is_also_run_without_each_of_them(
    corpora: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = ["--by", "corpus", "--detector", "linear", "--only", "left-out", "--strength", "1", "--draws", "10"]
    reads = ["--fields", "own,about", "--claim-weight", "0.3", "--moments", "0", "--min-count", "1"]
    asked = [*map(str, corpora), *settings, *reads, "--ablate", "--labels", "6", "--out", str(tmp_path / "report")]
    assert cli.main(["transfer", *asked]) == 0
    assert "by corpus, linear\n" in capsys.readouterr().out
    words = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    for name in ("own", "about", "votes"):
        assert f"| linear without {name} |" in words
    assert "a few of its games labelled" in words
    assert words.count("## By ") == 1
