"""The figures: worst and mean, what each place says, and what the sentences claim of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from liescope import cli
from liescope.common.errors import UsageError
from liescope.common.statistics import GROUPS
from liescope.common.text import Units
from liescope.detectors.study.figures import MEAN, WORST, Figure
from liescope.detectors.study.metrics import POOLED, WITHIN
from liescope.detectors.study.transfer import TransferResult, transfer
from liescope.detectors.study.trials import LEFT_OUT, PAIR, Place, _Cell, _together
from liescope.detectors.study.units import read_table
from tests.detectors.conftest import Rows
from tests.detectors.transfer.conftest import Planted, reverse, rows_of
from tests.detectors.transfer.recording import RecordingDetector


@pytest.fixture(scope="module")
def found(planted: Planted) -> TransferResult:
    """North and south share a signal; in east it is reversed."""
    corpora = [planted("north"), planted("south", ("bo",)), planted("east", ("cy",), change=reverse)]
    return transfer(corpora, by="corpus", context=0, strength=1.0)


def test_the_worst_place_is_the_reversed_signal_and_a_shared_signal_transfers(found: TransferResult) -> None:
    auroc = {(at.train, at.test): row.value or 0.0 for at, row in rows_of(found, PAIR, WITHIN)}
    assert len(auroc) == 9
    assert min(auroc["north", "south"], auroc["south", "north"], *(auroc[n, n] for n in ("north", "east"))) > 0.65
    assert max(auroc["north", "east"], auroc["east", "south"]) < 0.3
    ((at, worst),), ((_, mean),) = (rows_of(found, PAIR, WITHIN, end=end) for end in (WORST, MEAN))
    off = {cell: value for cell, value in auroc.items() if cell[0] != cell[1]}
    assert (at.train, at.test) == min(off, key=lambda cell: off[cell])
    assert worst.where == f"pair:corpus={at.train} > {at.test}:worst of 6"
    assert worst.value == min(off.values())
    assert mean.value == pytest.approx(np.mean(list(off.values())))
    assert (mean.lo or 1) < mean.value < (mean.hi or 0)  # type: ignore[operator]
    assert repr(found).startswith("<TransferResult: Trained on one corpus and tested on another, tf")


def test_a_figure_is_the_auroc_of_its_scores_and_lies_in_its_interval(found: TransferResult, planted: Planted) -> None:
    labels = read_table([planted("south", ("bo",))], "role").frame.select("statement_id", "y")
    mine = found.scores.filter(scheme="pair:corpus", unit="north", corpus="south")
    scores = mine.join(labels, on="statement_id")
    (row,) = (row for row in found.rows if (row.where, row.metric) == ("pair:corpus=north > south", POOLED))
    assert scores.height == row.statements == 144
    assert row.value == pytest.approx(roc_auc_score(scores["y"], scores["score"]))
    assert (row.lo or 1) <= row.value <= (row.hi or 0)
    assert row.prevalence == scores["y"].mean()


def test_json_has_the_shape_of_every_study_and_each_finding_rests_on_rows_of_its_table(found: TransferResult) -> None:
    data = found.to_json()
    assert {"findings", "figures", "notes"} <= data.keys()
    assert [*data["figures"][0]] == found.metrics.columns
    rows = {(row.scorer, row.where, row.metric, row.against) for row in found.rows}
    rests = [row for one in found.findings for row in one.rests_on]
    assert rests
    assert {(row.scorer, row.where, row.metric, row.against) for row in rests} <= rows


def test_a_mean_has_an_interval_where_some_place_is_defined_whatever_games_are_left_out() -> None:
    moved = np.tile([0.79, 0.81], GROUPS // 2)
    whole, lacking = np.r_[0.8, moved], np.r_[0.6, moved[1:] - 0.2, np.nan]
    one, other, nothing = (
        _Cell(Place("corpus", PAIR, "b", "a"), Figure("d", "role", "w", WITHIN, at, None, None, 9, 30), values, games)
        for at, values, games in ((0.6, lacking, 30), (0.8, whole, 30), (None, np.full(len(whole), np.nan), 0))
    )
    several = Place("corpus", PAIR, "")
    *_, mean = _together(several, [one, nothing])
    assert (mean.place.cells, mean.figure.value, mean.figure.lo) == (1, 0.6, None)
    *_, mean = _together(several, [one, other])
    assert mean.place.cells == 2
    assert mean.figure.value == pytest.approx(0.7)
    assert 0 < (mean.figure.lo or 0) < 0.7 < (mean.figure.hi or 0) < 1


def test_where_the_target_is_not_the_role_the_true_role_stands_beside(planted: Planted) -> None:
    def half(rows: Rows) -> None:
        """Half of what deceivers say is a lie, and only the lie gives itself away."""
        for i, row in enumerate(rows["statements"]):
            row["label_self"] = row["label_role"] and i % 2 == 0
            row["text"] = "I did that last night." if row["label_self"] else "I think we should talk."

    corpora = [planted("north", change=half), planted("south", ("bo",), change=half)]
    found = transfer(corpora, by="corpus", target="self", context=0, strength=4.0)
    (own,), (oracle,) = (
        [row.value or 0 for _, row in rows_of(found, LEFT_OUT, POOLED, name, test="south")]
        for name in ("tfidf", "control:role_oracle")
    )
    assert own == 1.0
    assert 0.05 < own - oracle < 0.25
    assert not any("role_oracle" in (row.against or "") for row in found.rows)  # which is no rival


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
    found = transfer(corpora, by="corpus", context=0, strength=1.0)
    assert {row.value for _, row in rows_of(found, LEFT_OUT, WITHIN, "control:k_of_n")} == {0.5}
    assert min(row.lo or 0 for _, row in rows_of(found, LEFT_OUT, POOLED, "control:k_of_n")) > 0.55


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
    at = Place("model", PAIR, "b", "a", cells=cells)
    places = [
        at,
        Place("model", PAIR, "b", "a", end=WORST, cells=cells),
        Place("model", PAIR, "", end=MEAN, cells=cells),
    ]
    rows = [
        Figure("d", "gold", place.where, POOLED, *value, 99, 9)
        for place, value in zip(places, (worst, worst, mean), strict=True)
    ]
    result = TransferResult(
        rows=tuple(rows),
        places={place.where: place for place in places},
        scores=pl.DataFrame(),
        targets={},
        sources=(),
        called=Units.of(["chat"]),
        settings={"by": ["model"], "detectors": {"d": {}}, "protocols": [PAIR]},
    )
    (answer,) = (one.words for one in result.findings)
    over = "of statements over all conversations, since none has both classes, of"
    assert f"Trained on one model and tested on another, d {said}: it has an AUROC {over}" in answer
    assert "game" not in answer


def test_a_folder_with_something_else_is_refused_before_anything_is_fitted(planted: Planted, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="is not a report"):
        transfer([planted("north")], by="model", out=tmp_path)


def test_the_command_prints_in_80_columns_and_its_report_shows_what_is_known_online_and_afterwards(
    planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpora = [str(planted("north")), str(planted("south", ("bo",), change=reverse))]
    out = tmp_path / "report"
    settings = ["--by", "corpus", "--by", "model", "--context", "0", "--strength", "1"]
    assert cli.main(["transfer", *corpora, *settings, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert max(len(line) for line in said.splitlines() if str(tmp_path) not in line) <= 80
    assert "What else was found" in said
    assert "control: length" in said
    assert "has an AUROC of statements within games of 0." in " ".join(said.split())
    words = (out / "report.md").read_text(encoding="utf-8")
    assert "| scorer | figure | worst | mean |" in words
    assert "| tfidf | AUROC of players within games |" in words
    assert "| tfidf | AUROC within games | north |" in words.partition("another: each corpus")[2]


def test_a_report_without_any_figure_says_why(
    planted: Planted, tmp_path: Path, recording: type[RecordingDetector]
) -> None:
    def honest(rows: Rows) -> None:
        for row in rows["statements"]:
            row["label_role"] = False

    corpora = [planted(name, games=4, change=honest) for name in ("north", "south")]
    transfer(corpora, by="corpus", detector=recording.kind, out=tmp_path / "report")
    assert recording.seen == []
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "Trained on one corpus and tested on another, recording could not be measured" in page
    assert "north: all 24 statements are honest" in page
