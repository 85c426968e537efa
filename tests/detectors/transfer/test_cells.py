"""The figures: worst cell, slices, gain over the role, and what each form of a score may know."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from liescope.common.statistics import GROUPS
from liescope.common.text import Units
from liescope.data_cards.tables import TABLES
from liescope.detectors.study.metrics import WITHIN
from liescope.detectors.transfer import TransferResult, transfer
from liescope.detectors.transfer.cells import CELLS, CONTROL, FORMS, HEADLINE, ONLINE, _headline, forms
from liescope.detectors.transfer.matrix import PAIR, read_table
from liescope.detectors.transfer.transfer_findings import sentences
from tests.detectors.conftest import Rows
from tests.detectors.transfer.conftest import Planted, reverse


@pytest.fixture(scope="module")
def found(planted: Planted) -> TransferResult:
    """North and south share a signal; in east it is reversed."""
    corpora = [planted("north"), planted("south", ("bo",)), planted("east", ("cy",), change=reverse)]
    return transfer(corpora, by="corpus", context=0, strength=1.0, draws=50)


def test_the_worst_cell_is_the_reversed_signal_and_a_shared_signal_transfers(found: TransferResult) -> None:
    pairs = found.cells.filter((pl.col("protocol") == "pair") & (pl.col("score") == "statement"))
    auroc = {
        (train, test): value
        for train, test, value in pairs.filter(pl.col("metric") == "auroc_within")
        .select("train", "test", "value")
        .iter_rows()
    }
    assert len(auroc) == 9
    assert min(auroc["north", "south"], auroc["south", "north"], *(auroc[n, n] for n in ("north", "east"))) > 0.65
    assert max(auroc["north", "east"], auroc["east", "south"]) < 0.3
    headline = found.headline.filter((pl.col("protocol") == "pair") & (pl.col("metric") == "auroc_within")).to_dicts()[
        0
    ]
    off = {cell: value for cell, value in auroc.items() if cell[0] != cell[1]}
    assert (headline["train"], headline["test"]) == min(off, key=lambda cell: off[cell])
    assert headline["worst"] == min(off.values())
    assert headline["mean"] == pytest.approx(np.mean(list(off.values())))
    assert headline["mean_lo"] < headline["mean"] < headline["mean_hi"]
    assert repr(found).startswith("<TransferResult north, south, east: worst AUROC within games")


def test_a_cell_is_the_auroc_of_its_scores_and_lies_in_its_interval(found: TransferResult, planted: Planted) -> None:
    labels = read_table([planted("south", ("bo",))], "role").frame.select("statement_id", "y")
    mine = (pl.col("protocol") == "pair") & (pl.col("unit") == "north") & (pl.col("corpus") == "south")
    scores = found.scores.filter(mine).join(labels, on="statement_id")
    here = (pl.col("train") == "north") & (pl.col("test") == "south") & (pl.col("score") == "statement")
    (cell,) = found.cells.filter(here & (pl.col("metric") == "auroc")).to_dicts()
    assert scores.height == cell["statements"] == 144
    assert cell["value"] == pytest.approx(roc_auc_score(scores["y"], scores["score"]))
    assert cell["lo"] <= cell["value"] <= cell["hi"]
    assert cell["prevalence"] == scores["y"].mean()


def test_an_online_score_never_changes_with_what_is_said_later_and_each_figure_names_its_kind(
    planted: Planted, found: TransferResult
) -> None:
    table = read_table([planted("north")], "role")
    rng = np.random.default_rng(0)
    score = rng.uniform(size=table.frame.height)
    late = (table.frame.select(pl.int_range(pl.len()).over("game_id") >= 3).to_series()).to_numpy()
    other = np.where(late, rng.uniform(size=len(score)), score)
    before, after = (forms(table, one, rng.uniform(size=table.players.height)) for one in (score, other))
    for name, (kind, _) in FORMS.items():
        assert np.allclose(before[name][~late], after[name][~late]) == (kind in (ONLINE, CONTROL))
    kinds = dict(found.cells.select("score", "kind").unique().iter_rows())
    assert kinds == {name: kind for name, (kind, _) in FORMS.items()}


def test_an_offset_between_games_is_gone_once_scores_stand_against_their_table(planted: Planted) -> None:
    table = read_table([planted("north")], "role")
    _, game = np.unique(table.games, return_inverse=True)
    shift = np.where(game % 2, 4.0, -4.0)
    odds = np.where(table.y, 1.0, -1.0)
    made = forms(table, 1 / (1 + np.exp(-odds - shift)), np.full(table.players.height, np.nan))
    plain, centred = made["statement"], made["against the table"]
    assert roc_auc_score(table.y, plain) < 0.8
    assert roc_auc_score(table.y, centred) == 1.0


def test_slices_are_the_games_that_they_name(planted: Planted) -> None:
    def change(rows: Rows) -> None:
        for i, game in enumerate(rows["games"]):
            game["silences"] = int(i == 0)
            if i % 4 == 0:
                game["seats"][0]["model"] = "ada"
            if i % 4 == 1:
                game["seats"][0]["source"] = "human"
        for row in rows["statements"][: 6 * 10]:
            claim = dict.fromkeys(TABLES["claims"].columns) | {"kind": "investigation", "origin": "rules"}
            rows["claims"].append(claim | {name: row[name] for name in ("statement_id", "game_id", "split")})

    corpora = [planted("north", ("ada", "bo")), planted("south", ("cy",), change=change)]
    found = transfer(corpora, by="corpus", context=0, strength=1.0, draws=10)
    here = (pl.col("protocol") == "left out") & (pl.col("test") == "south")
    games = dict(found.slices.filter(here & (pl.col("metric") == "auroc")).select("slice", "games").iter_rows())
    assert games == {"unheard": 12, "self-play": 12, "disclosure": 10, "no disclosure": 14, "silence": 1}
    silence = (pl.col("slice") == "silence") & (pl.col("kind") == ONLINE) & (pl.col("metric") == "auroc")
    (alone,) = found.slices.filter(here & silence).to_dicts()
    assert alone["value"] is not None
    assert alone["lo"] is None  # resamples of one game say nothing
    home = (pl.col("protocol") == "pair") & (pl.col("train") == "north") & (pl.col("test") == "north")
    assert dict(found.slices.filter(home).select("slice", "games").iter_rows()) == {
        **dict.fromkeys(("unheard", "disclosure", "no disclosure", "silence"), 0),
        "self-play": 24,
    }


def test_a_resample_in_which_no_cell_is_defined_has_no_mean() -> None:
    cell = np.r_[0.8, np.full(40, 0.79), np.full(20, 0.81), np.full(40, np.nan), np.full(GROUPS, 0.8)]
    *_, mean, lo, hi, cells, empty = _headline([("a", "b", cell, 30), ("b", "a", None, 0)])
    assert (cells, empty) == (1, 1)
    assert 0.7 <= lo < mean == 0.8 < hi <= 0.9


def test_where_the_target_is_not_the_role_a_lie_is_also_told_within_role_and_beside_the_role_oracle(
    planted: Planted,
) -> None:
    def half(rows: Rows) -> None:
        """Half of what deceivers say is a lie, and only the lie gives itself away."""
        for i, row in enumerate(rows["statements"]):
            row["label_self"] = row["label_role"] and i % 2 == 0
            row["text"] = "I did that last night." if row["label_self"] else "I think we should talk."

    corpora = [planted("north", change=half), planted("south", ("bo",), change=half)]
    found = transfer(corpora, by="corpus", target="self", context=0, strength=4.0, draws=10).cells
    cell = found.filter((pl.col("protocol") == "pair") & (pl.col("train") == "north") & (pl.col("test") == "south"))
    values = {(score, metric): value for score, metric, value in cell.select("score", "metric", "value").iter_rows()}
    assert values["statement", "auroc"] == 1.0
    assert values["statement", "auroc_within_role"] == 1.0
    assert 0.05 < values["statement", "auroc_minus_role_oracle"] < 0.25
    within = cell.filter(pl.col("metric") == "auroc_within_role").to_dicts()[0]
    assert within["statements"] == 48
    assert 0.3 < within["prevalence"] < 0.7


def test_a_figure_within_roles_that_always_lie_is_empty_and_says_why(planted: Planted) -> None:
    def always(rows: Rows) -> None:
        for row in rows["statements"]:
            row["label_self"] = row["label_role"]

    corpora = [planted("north", change=always), planted("south", ("bo",), change=always)]
    found = transfer(corpora, by="corpus", target="self", context=0, strength=4.0, draws=10).cells
    within = found.filter(pl.col("metric") == "auroc_within_role")
    assert within["value"].null_count() == within.height > 0
    assert set(within["why"]) == {
        f"{name}, within deceptive roles: all 48 statements are deceptive" for name in ("north", "south")
    }
    rest = found.filter(pl.col("metric") != "auroc_within_role")
    assert set(rest["why"]) == {""}
    assert rest["value"].null_count() == 0


def test_who_only_knows_how_many_deceive_is_at_chance_within_games_whatever_it_reaches_over_them(
    planted: Planted,
) -> None:
    def fewer(rows: Rows) -> None:
        """In every third game nobody is honest but one, in the others one deceives."""
        for i, game in enumerate(rows["games"]):
            liars = {seat["name"] for seat in game["seats"][: 3 if i % 3 == 0 else 1]}
            for seat in game["seats"]:
                seat["deceives"] = seat["name"] in liars
            for row in rows["statements"]:
                if row["game_id"] == game["game_id"]:
                    row["label_role"] = row["speaker"] in liars

    corpora = [planted("north", change=fewer), planted("south", ("bo",), change=fewer)]
    found = transfer(corpora, by="corpus", context=0, strength=1.0, draws=40).cells
    control = found.filter(pl.col("score") == "k of n")
    assert set(control.filter(pl.col("metric") == "auroc_within")["value"]) == {0.5}
    assert control.filter(pl.col("metric") == "auroc")["lo"].to_numpy().min() > 0.55


_ON_AVERAGE = "does better than chance on average, but is not shown to in the worst case"


@pytest.mark.parametrize(
    ("worst", "mean", "cells", "said"),
    [
        ((0.7, 0.6, 0.8), (0.8, 0.7, 0.9), 2, "does better than chance, even in the worst case"),
        ((0.7, 0.6, 0.8), (0.7, 0.6, 0.8), 1, "does better than chance"),
        ((0.5, 0.4, 0.6), (0.6, 0.55, 0.65), 3, _ON_AVERAGE),
        ((0.5, 0.4, 0.6), (0.5, 0.4, 0.6), 2, "is not shown to do better than chance"),
        ((0.6, 0.6, 0.6), (0.6, 0.6, 0.6), 2, "cannot be judged from so few conversations"),
        ((0.3, 0.2, 0.4), (0.6, 0.55, 0.65), 2, "does worse than chance in the worst case"),
        ((1.0, None, None), (1.0, None, None), 1, "cannot be judged from so few conversations"),
    ],
)
def test_the_answer_claims_no_more_than_its_intervals_and_names_the_unit(
    worst: tuple[float | None, ...], mean: tuple[float | None, ...], cells: int, said: str
) -> None:
    names = ("worst", "worst_lo", "worst_hi", "mean", "mean_lo", "mean_hi")
    reached, nothing = dict(zip(names, (*worst, *mean), strict=True)), dict.fromkeys(names)
    row = {"by": "model", "protocol": PAIR, "detector": "d", "train": "a", "test": "b", "cells": cells, "empty": 0}
    headline = pl.DataFrame(
        [
            {**row, "kind": kind, "metric": metric, **(reached if (kind, metric) == (ONLINE, "auroc") else nothing)}
            for kind in (ONLINE, "retrospective")
            for metric in (WITHIN, "auroc")
        ],
        schema=HEADLINE,
    )
    answer, why = sentences("model", "d", headline, pl.DataFrame(schema=CELLS), Units.of(["chat"]))
    assert f"Trained on one model and tested on another, d {said}: it has an AUROC over all conversations of" in answer
    assert why.startswith("No conversation that could be tested has both deceptive and honest statements")
    assert "game" not in answer + why
